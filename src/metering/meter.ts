import type { Micro } from '../domain/credits.ts';
import type { Usage } from '../domain/ledger-entry.ts';
import type { Shape } from './json-sieve.ts';
import { isObject } from './json-value.ts';
import type { MeteredBody } from './metered-body.ts';
import type { CountTokens } from './tokens/token-counter.ts';

/** Configured bounds of what cannot be known before the call. */
export interface Bounds {
  /** Tokens of one image, audio or file part. */
  readonly imageTokens: number;
  /** Tokens that a model can read in one pass. */
  readonly contextTokens: number;
  /** Tokens behind the stored answers that the request names, beyond what it says itself. Default 0. */
  readonly storedTokens?: number;
}

/** What is to become of an event of a stream: passed on, taken out, changed, or held back because it ends the answer. */
export type Verdict = 'pass' | 'drop' | 'end' | { readonly replacement: string };

/** Reads one streamed answer as it passes. Events come as Latin-1 text, a byte a character. */
export interface StreamMeter {
  event(event: string): Verdict;
  /** What is kept of the data of an event that is too large to be held; `event` gets it so once its end has come. */
  readonly kept: Shape;
  /** An event of which only that much came before the answer broke off. `isLarge`: it is one of those. */
  unfinished?(event: string, isLarge: boolean): void;
  /** How many pieces of content have come: words, sound, pictures. */
  readonly pieces: number;
  /** The last content has come, as it seems, or its usage is coming: what ends the answer follows within a moment. */
  readonly isClosing: boolean;
  /** As reported until now; undefined: nothing usable was. */
  readonly usage: Usage | undefined;
  /** The estimate, with all that is known better: what was reported until now where it is not the whole yet. */
  mergeReported?(estimate: Usage): Usage;
  /** False: what ends an answer of this format has not come, so an end of the stream now is a break. Absent: unknown. */
  readonly isWhole?: boolean;
  /** The stream said that the call failed. */
  readonly failed?: boolean;
  /** Ids under which the provider stores this answer and its parts, complete once it has ended. */
  readonly resourceIds?: readonly string[];
  /** Pictures or sound came, which `outputText` does not tell: a call that fails after that is charged all the same. */
  readonly hasOutput?: boolean;
  /** What the model wrote until now. */
  outputText(): string;
}

/** How calls of an endpoint are metered: its columns in the endpoint table. */
export interface Meter {
  /** An upper bound of the charge (specification section 5, Admit). */
  hold(body: MeteredBody, bounds: Bounds): Micro;
  /**
   * Usage as a whole answer reports it, or as it is known without a report; undefined where it is absent, negative or
   * absurd. `answer` is undefined where it is no JSON. Of an answer too large to be held, it is what ANSWER_SHAPE keeps.
   */
  usage(answer: unknown, body: MeteredBody): Usage | undefined;
  /** What a whole answer says, for the estimate. */
  outputText(answer: unknown): string;
  /** Whether a whole answer, its status 200 notwithstanding, says that the call failed. */
  failed?(answer: unknown): boolean;
  /** `injectedUsage`: the gateway asked for usage, and the client must not see a trace of it. */
  stream(injectedUsage: boolean, body: MeteredBody): StreamMeter;
  /**
   * Usage where the upstream reported none: from what was sent and what was received. `storedTokens`: those behind the
   * stored answers that the request names. No `output` in it: answers of this endpoint have none.
   */
  estimate(body: MeteredBody, outputText: string, count: CountTokens, storedTokens: number): Promise<Usage>;
  /** Refuses what this endpoint cannot meter, with a GatewayError. */
  check?(body: MeteredBody): void;
  /** Ids under which the provider stores a whole answer and its parts. */
  resourceIds?(answer: unknown): readonly string[];
}

/** What is kept of a whole answer that is too large to be held: what any of the meters looks for but the words. */
export const ANSWER_SHAPE: Shape = {
  id: 'all',
  type: 'all',
  status: 'all',
  error: 'all',
  usage: 'all',
  // Of transcripts and videos.
  duration: 'all',
  seconds: 'all',
  // Of responses, and of messages.
  store: 'all',
  output: [{ type: 'all', id: 'all', container_id: 'all' }],
  container: { id: 'all' },
  // Of what was spoken in a chat.
  choices: [{ message: { audio: { id: 'all' } } }],
  // Of pictures, which are counted.
  data: [{}],
};

/** Whether a whole answer of status 200 is an error, which both formats name so: some providers fail after they have answered 200. */
export function saysError(answer: unknown): boolean {
  return isObject(answer) && Boolean(answer.error);
}

/** Letters, digits and signs that mean nothing in a path: such an id reaches no other path of an upstream. */
const RESOURCE_ID = /^[A-Za-z0-9_][A-Za-z0-9_.~:-]{0,254}$/;

/** Whether what a provider stores can be asked for by this id. */
export function isResourceId(id: string): boolean {
  return RESOURCE_ID.test(id);
}
