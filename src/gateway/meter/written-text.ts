const SPACE = /\s/;

/**
 * Gathers what a model writes from the events of a stream, as raw JSON text, and decodes it only where usage must be
 * estimated: most streams report theirs, and then looking for a few names is all that this costs.
 */
export class WrittenText {
  readonly #markers: readonly string[];
  /** Escaped JSON text, Latin-1. */
  readonly #raw: string[] = [];

  /** `members`: names of the string members that hold what was written. */
  constructor(members: readonly string[]) {
    this.#markers = members.map((name) => `"${name}"`);
  }

  /** Takes what an event (Latin-1) adds. */
  collect(event: string): void {
    for (const marker of this.#markers) {
      let from = event.indexOf(marker);
      while (from >= 0) {
        const start = valueStart(event, from + marker.length);
        const end = start < 0 ? from + marker.length : closingQuote(event, start);
        if (start >= 0 && end > start) this.#raw.push(event.slice(start, end));
        from = event.indexOf(marker, end);
      }
    }
  }

  get isEmpty(): boolean {
    return this.#raw.length === 0;
  }

  toString(): string {
    return this.#raw
      .map((raw) => {
        try {
          return JSON.parse(`"${Buffer.from(raw, 'latin1').toString('utf8')}"`) as string;
        } catch {
          return raw;
        }
      })
      .join('');
  }
}

/** Index of the first character of a string value, after `: "`; -1: the value is no string, or the name was a value. */
function valueStart(text: string, from: number): number {
  let at = from;
  while (SPACE.test(text[at] ?? '')) at++;
  if (text[at] !== ':') return -1;
  at++;
  while (SPACE.test(text[at] ?? '')) at++;
  return text[at] === '"' ? at + 1 : -1;
}

/** Index of the quote that closes the string whose text starts at `from`; the end of the text where it is cut off. */
function closingQuote(text: string, from: number): number {
  for (let at = text.indexOf('"', from); at >= 0; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (at - 1 - slashes >= from && text.charCodeAt(at - 1 - slashes) === 0x5c) slashes++;
    if (slashes % 2 === 0) return at;
  }
  return text.length;
}
