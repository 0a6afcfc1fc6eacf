import type { Usage } from '../domain/units.ts';
import type { ValueSink } from './json-sieve.ts';
import { TextScanner } from './text-scanner.ts';

const SPACE = /\s/;
/** Text up to this length, some 16,000 tokens, is kept for each stream and counted; of the rest only the length is. */
const KEPT_MAX_CHARS = 64 * 1024;
/** Pieces are copied together, because a piece of a chunk keeps the whole chunk in memory. */
const MAX_PIECES = 64;

interface Lane {
  readonly joined: string[];
  readonly recent: string[];
}

/**
 * Collects the output text of a model from the events of a stream. It keeps raw JSON text and decodes it only where
 * usage must be estimated: most streams report theirs, and then nothing is decoded. As a `ValueSink` it collects from
 * parts of an event that is too large to hold.
 */
export class OutputTextCollector implements ValueSink {
  readonly #scanner = new TextScanner((raw, continues) => this.#add(raw, continues));
  /** Escaped JSON text, Latin-1, of each of the interleaved answers. */
  readonly #lanes = new Map<number, Lane>();
  #lane = 0;
  #pieces = 0;
  #keptChars = 0;
  #otherChars = 0;

  /**
   * Collects the output text in each value of a member (`"delta"`, with its quotes) of an event (Latin-1). Returns
   * whether the event has such a member. `lane`: the number of the answer, where several come interleaved; joined
   * across answers, halves of words would make other tokens.
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

  /** Collects the output text of JSON: a whole answer or a part of one. */
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

  /** Number of pieces that are not empty. */
  get pieces(): number {
    return this.#pieces;
  }

  /** Scales the output of an estimate, made from `toString()`, to the length of all output text. */
  scaled(estimate: Usage): Usage {
    if (this.#otherChars === 0 || estimate.output === undefined) return estimate;
    const times = (this.#keptChars + this.#otherChars) / this.#keptChars;
    return { ...estimate, output: Math.ceil(estimate.output * times) };
  }

  /** The output text, or its beginning. */
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

/** The output text of JSON: of a whole answer or a part of one. */
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

/** Index after the colon that follows a member's name; -1 where no colon follows, so that it was no name. */
function valueStart(text: string, from: number): number {
  let at = from;
  while (SPACE.test(text[at] ?? '')) at++;
  return text[at] === ':' ? at + 1 : -1;
}
