import { namedEvent } from '../../../../src/demo/answer.ts';
import type { Behavior } from '../scripted-provider.ts';
import type { Format } from './turn.ts';

/** An answer in place of the model's. */
export type Fault = Pick<Behavior, 'status' | 'headers' | 'body'>;

/** How a provider behaves. */
export interface How {
  readonly fault?: Fault | undefined;
  readonly intervalMs?: number | undefined;
  /**
   * Numbers of answers after which the next place dies, each in a different way (`DEATHS`). Reasoning is plain text,
   * readable at every place.
   */
  readonly deathsAfter?: readonly number[] | undefined;
  /** Number of items of encrypted reasoning at which the place becomes overloaded, and for how long. */
  readonly away?: { readonly after: number; readonly ms: number } | undefined;
}

/** How places die, one after another: with 503, without an address, and with an error before the first content. */
const DEATHS = ['overloaded', 'gone', 'broken'] as const;
type Death = (typeof DEATHS)[number];

const error = (message: string, code: string) => ({ error: { message, type: 'server_error', code } });

/** Longer than any run. */
const GONE_S = 3_600;

export const OVERLOADED: Fault = {
  status: 503,
  headers: { 'retry-after': '1' },
  body: error('The engine is overloaded.', 'overloaded'),
};

/** As OpenAI answers encrypted reasoning of another organization. */
export const UNREADABLE: Fault = {
  status: 400,
  body: error('The encrypted content could not be verified.', 'invalid_encrypted_content'),
};

/** Which places of a provider are dead, and how. */
export class Mortality {
  readonly #deathsAfter: readonly number[];
  readonly #away: How['away'];
  readonly #dead = new Map<number, Death>();
  #awayPlace: number | undefined;
  #awayUntilMs = 0;

  constructor({ deathsAfter = [], away }: How) {
    this.#deathsAfter = deathsAfter;
    this.#away = away;
  }

  /** How the place is dead after that many answers; undefined if it is alive. */
  deathOf(place: number, answered: number): Death | undefined {
    const next = this.#next(answered);
    if (next && next !== 'gone' && !this.#dead.has(place)) this.#dead.set(place, next);
    return this.#dead.get(place);
  }

  /** Whether the place is gone after that many answers. */
  goesAfter(place: number, answered: number): boolean {
    if (this.#next(answered) !== 'gone') return false;
    this.#dead.set(place, 'gone');
    return true;
  }

  /** Whether the place is overloaded by that many items of encrypted reasoning. */
  isAway(place: number, items: number): boolean {
    if (!this.#away || items < this.#away.after) return false;
    if (this.#awayPlace === undefined) {
      this.#awayPlace = place;
      this.#awayUntilMs = performance.now() + this.#away.ms;
    }
    return place === this.#awayPlace && performance.now() < this.#awayUntilMs;
  }

  #next(answered: number): Death | undefined {
    const at = this.#dead.size;
    const after = this.#deathsAfter[at];
    return after !== undefined && answered >= after ? DEATHS[at] : undefined;
  }
}

/** The answer of a dead place. A place that is gone may still get a request sent just before. */
export function failureOf(format: Format, death: Death, isStream: boolean): Fault {
  const failure = error('The engine has stopped.', 'server_error');
  if (death !== 'broken') return { status: 503, headers: { 'retry-after': String(GONE_S) }, body: failure };
  if (!isStream) return { status: 500, body: failure };
  return { headers: { 'content-type': 'text/event-stream' }, body: errorPieces(format, failure) };
}

function errorPieces(format: Format, failure: ReturnType<typeof error>): string[] {
  switch (format) {
    case 'chat':
      return [`data: ${JSON.stringify(failure)}\n\n`];
    case 'messages':
      return [
        namedEvent({ type: 'error', error: { type: 'overloaded_error', message: failure.error.message } }),
      ];
    case 'responses': {
      const response = {
        id: 'resp_none',
        object: 'response',
        status: 'in_progress',
        output: [],
        error: null,
      };
      return [
        namedEvent({ type: 'response.created', response }),
        namedEvent({
          type: 'response.failed',
          response: { ...response, status: 'failed', error: failure.error },
        }),
      ];
    }
  }
}
