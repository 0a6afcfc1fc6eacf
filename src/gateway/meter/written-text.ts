const SPACE = /\s/;

/**
 * Gathers what a model writes from the events of a stream, as raw JSON text, and decodes it only where usage must be
 * estimated: most streams report theirs, and then looking for a few names is all that this costs.
 */
export class WrittenText {
  readonly #markers: readonly (readonly string[])[];
  /** Any of them. */
  readonly #any: RegExp;
  /** Escaped JSON text, Latin-1, by the answer that it belongs to. */
  readonly #lanes = new Map<number, string[]>();
  #pieces = 0;

  /**
   * `members`: names of the string members that hold what was written. A list of names: providers call it by one of
   * them, or say the same twice, and then the first counts.
   */
  constructor(members: readonly (string | readonly string[])[]) {
    this.#markers = members.map((names) => [names].flat().map((name) => `"${name}"`));
    this.#any = new RegExp(this.#markers.flat().join('|'), 'g');
  }

  /**
   * Takes what an event (Latin-1) adds. `lane`: which of several answers it belongs to, where they come interleaved; read
   * across, their halves of words would make other tokens.
   */
  collect(event: string, lane = 0): void {
    // What was written stands in the delta, where there is one; what is before it need not be searched.
    const from = Math.max(0, event.indexOf('"delta"'));
    this.#any.lastIndex = from;
    const only = this.#any.exec(event);
    if (!only) return;
    // Most events have one, and to look for each of nine was a fifteenth of a stream's CPU.
    if (!this.#any.test(event)) {
      this.#take(event, only[0], only.index, lane);
      return;
    }
    for (const names of this.#markers) {
      for (const marker of names) if (this.#take(event, marker, from, lane)) break;
    }
  }

  /** How many pieces that are not empty have come. */
  get pieces(): number {
    return this.#pieces;
  }

  toString(): string {
    return [...this.#lanes.values()].flat().map(decoded).join('');
  }

  #take(event: string, marker: string, first: number, lane: number): boolean {
    let isFound = false;
    let from = event.indexOf(marker, first);
    while (from >= 0) {
      const start = valueStart(event, from + marker.length);
      const end = start < 0 ? from + marker.length : closingQuote(event, start);
      if (start >= 0 && end > start) {
        this.#add(event.slice(start, end), lane);
        isFound = true;
      }
      from = event.indexOf(marker, end);
    }
    return isFound;
  }

  #add(raw: string, lane: number): void {
    this.#pieces++;
    const pieces = this.#lanes.get(lane);
    if (pieces) pieces.push(raw);
    else this.#lanes.set(lane, [raw]);
  }
}

function decoded(raw: string): string {
  try {
    return JSON.parse(`"${Buffer.from(raw, 'latin1').toString('utf8')}"`) as string;
  } catch {
    return raw;
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
