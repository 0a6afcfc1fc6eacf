import type { Usage } from '../domain/ledger-entry.ts';
import type { ValueSink } from './json-sieve.ts';
import { TextScanner } from './text-scanner.ts';

const SPACE = /\s/;
/** As much as is counted exactly (token-counter.ts); of what comes after, only the length is kept. */
const KEPT_MAX_CHARS = 1024 * 1024;
/** Pieces are copied together, because a piece of a chunk keeps the whole chunk in memory. */
const MAX_PIECES = 64;

interface Lane {
  readonly joined: string[];
  readonly recent: string[];
}

/**
 * Gathers what a model writes from the events of a stream, as raw JSON text, and decodes it only where usage must be
 * estimated: most streams report theirs, and then finding the words is all that this costs. As a sink it takes the same
 * from an event that is too large to be held.
 */
export class OutputTextCollector implements ValueSink {
  readonly #scanner = new TextScanner((raw, continues) => this.#add(raw, continues));
  /** Escaped JSON text, Latin-1, by the answer that it belongs to. */
  readonly #lanes = new Map<number, Lane>();
  #lane = 0;
  #pieces = 0;
  #keptChars = 0;
  #otherChars = 0;

  /**
   * Takes the words in each value of that member (`"delta"`, its quotes included) in an event (Latin-1); false: it has
   * no such member. `lane`: which of several answers it belongs to, where they come interleaved; read across, their
   * halves of words would make other tokens.
   */
  collect(event: string, member: string, lane = 0): boolean {
    this.#lane = lane;
    let isFound = false;
    for (let at = event.indexOf(member); at >= 0; at = event.indexOf(member, at)) {
      const start = valueStart(event, at + member.length);
      at += member.length;
      if (start < 0) continue;
      isFound = true;
      this.#scanner.begin();
      at = this.#scanner.push(event, start);
    }
    return isFound;
  }

  /** Takes the words of a whole answer, or a part of one, as JSON.parse gave it. */
  collectValue(json: string): void {
    this.#lane = 0;
    this.#scanner.begin();
    this.#scanner.push(Buffer.from(json).toString('latin1'), 0);
  }

  begin(): void {
    this.#lane = 0;
    this.#scanner.begin();
  }

  part(raw: string): void {
    this.#scanner.push(raw, 0);
  }

  /** How many pieces that are not empty have come. */
  get pieces(): number {
    return this.#pieces;
  }

  /** The estimate, which was made from `toString()`, with the rest of what was written added to its output. */
  scaled(estimate: Usage): Usage {
    if (this.#otherChars === 0 || estimate.output === undefined) return estimate;
    const times = (this.#keptChars + this.#otherChars) / this.#keptChars;
    return { ...estimate, output: Math.ceil(estimate.output * times) };
  }

  /** What was written, or its first MiB. */
  toString(): string {
    return [...this.#lanes.values()]
      .flatMap(({ joined, recent }) => [...joined, recent.join('')])
      .map(decoded)
      .join('');
  }

  #add(raw: string, continues: boolean): void {
    if (!continues) this.#pieces++;
    if (this.#keptChars >= KEPT_MAX_CHARS) {
      this.#otherChars += raw.length;
      return;
    }
    this.#keptChars += raw.length;
    let lane = this.#lanes.get(this.#lane);
    if (!lane) {
      lane = { joined: [], recent: [] };
      this.#lanes.set(this.#lane, lane);
    }
    const { joined, recent } = lane;
    if (continues) {
      recent.push(`${recent.pop() ?? ''}${raw}`);
      return;
    }
    if (recent.length === MAX_PIECES) joined.push(recent.splice(0).join(''));
    recent.push(raw);
  }
}

/** The words of an answer, or of a part of it, as JSON.parse gave it. */
export function outputTextIn(json: string): string {
  const collector = new OutputTextCollector();
  collector.collectValue(json);
  return collector.toString();
}

function decoded(raw: string): string {
  const text = Buffer.from(raw, 'latin1').toString('utf8');
  try {
    return JSON.parse(`"${text}"`) as string;
  } catch {
    return text;
  }
}

/** Index of a value, after the colon; -1: what stands before it is no name. */
function valueStart(text: string, from: number): number {
  let at = from;
  while (SPACE.test(text[at] ?? '')) at++;
  return text[at] === ':' ? at + 1 : -1;
}
