import type { Terms } from '../domain/bill.ts';
import type { Model } from '../domain/catalog.ts';
import type { Usage } from '../domain/units.ts';
import type { AudioLength } from './audio/audio-length.ts';
import type { ElidedStrings } from './json/elided-strings.ts';
import type { Shape } from './json/sieve.ts';
import { isObject } from './json/value.ts';
import type { CostPlan, ReportHints } from './plan.ts';
import type { CountTokens } from './tokens/token-counter.ts';

/**
 * Treatment of an event by the relay: pass it on, drop it, send another text instead, or hold it back because it ends
 * the answer.
 */
export type EventAction = 'pass' | 'drop' | 'end' | { readonly replacement: string };

/** Reads one streamed answer as it passes. Events come as Latin-1 text, a byte a character. */
export interface StreamMeter {
  event(event: string): EventAction;
  /**
   * Members to keep of an event that is too large to hold in memory: `event` gets the event with these only, at its
   * end.
   */
  readonly kept: Shape;
  /** Reads the part of an event that came before the answer broke off. `isLarge`: the event is one too large to hold. */
  unfinished?(event: string, isLarge: boolean): void;
  /** Pieces of visible content so far: text, sound, pictures. */
  readonly pieces: number;
  /** Tokens of hidden reasoning so far, by the provider's own figure or its encrypted text. Default: 0. */
  readonly hiddenTokens?: number;
  /** True once the last report has come, although the stream goes on. Default: false. */
  readonly isReported?: boolean;
  /** Usage as reported so far; undefined without a usable report. */
  readonly usage: Usage | undefined;
  /** The bill as reported so far, besides the usage. */
  readonly terms?: Terms | undefined;
  /** True if `usage` has tokens whose price is not known to be the model's: the ledger row is an estimate. */
  readonly isEstimated?: boolean;
  /** Corrects an estimate by a partial report of a stream. */
  mergeReported?(estimate: Usage): Usage;
  /**
   * False: the event that ends an answer of this format has not come, so a stream that ends now was cut off. Absent:
   * unknown.
   */
  readonly isWhole?: boolean;
  /** True once the stream said that the call failed. */
  readonly failed?: boolean;
  /** Ids of the objects that the provider stores of this answer; complete once it has ended. */
  readonly resourceIds?: readonly string[];
  /**
   * True once pictures or sound came, which are not in `outputText`: a call that fails after that is charged all the
   * same.
   */
  readonly hasOutput?: boolean;
  /** Text that the model wrote so far. */
  outputText(): string;
}

/** An answer in bytes, such as speech, whose length is charged. */
export interface HeardAnswer {
  push(chunk: Buffer): void;
  /** Corrects an estimate by the received answer. */
  correct(estimate: Usage, isWhole: boolean): Usage;
}

/** How calls of an endpoint are metered: its columns in the endpoint table. */
export interface Meter {
  /**
   * Plans the call from its body; bound and estimate follow from the plan (specification section
   * 5). Throws the GatewayError for requests that this endpoint cannot meter.
   */
  plan(body: MeteredBody): CostPlan;
  /**
   * Usage of a whole answer, as it is reported or as it is known without a report; undefined if it is absent,
   * negative or absurd. `answer` is undefined if it is no JSON. Of an answer that was too large to be held, it has
   * what ANSWER_SHAPE keeps.
   */
  usage(answer: unknown, body: MeteredBody): Usage | undefined;
  /** The bill of a whole answer, besides the usage. */
  terms?(answer: unknown, body: MeteredBody): Terms | undefined;
  /** Whether `usage` has tokens whose price is not known to be the model's: the ledger row is an estimate. */
  isEstimated?(answer: unknown): boolean;
  /** Corrects an estimate by whatever a whole answer without a usable report does say. */
  mergeReported?(estimate: Usage, answer: unknown, body: MeteredBody): Usage;
  /**
   * Counts an answer in bytes as it passes, if its length is charged; undefined if it is not. `correct` takes an estimate,
   * and whether the answer came whole.
   */
  heard?(body: MeteredBody): HeardAnswer | undefined;
  /** Text that the model wrote in a whole answer, for the estimate. */
  outputText(answer: unknown): string;
  /** Whether a whole answer of status 200 says that the call failed. */
  failed?(answer: unknown): boolean;
  /** `injectedUsage`: the gateway asked for usage, and the client must not see a trace of it. */
  stream(injectedUsage: boolean, body: MeteredBody): StreamMeter;
  /**
   * Usage if the upstream reported none: from the request and the received answer. `storedTokens`: those behind the
   * stored answers that the request names. `mediaTokens`: those that its pictures and files count as; absent: what they
   * typically have. A result without `output` means that the endpoint's answers have no text.
   */
  estimate(
    body: MeteredBody,
    outputText: string,
    count: CountTokens,
    storedTokens: number,
    mediaTokens?: number,
  ): Promise<Usage>;
  /** Whether a good answer is plain text, all of which the model wrote. */
  answersText?(body: MeteredBody): boolean;
  /** Ids of the objects that the provider stores of a whole answer. */
  resourceIds?(answer: unknown, body: MeteredBody): readonly string[];
}

/**
 * Members to keep of a whole answer that is too large to hold in memory: all that the meters read but the output text.
 */
export const ANSWER_SHAPE: Shape = {
  id: 'all',
  type: 'all',
  status: 'all',
  error: 'all',
  usage: 'all',
  tool_usage: 'all',
  service_tier: 'all',
  // Transcripts and videos.
  duration: 'all',
  seconds: 'all',
  // Responses and messages.
  store: 'all',
  output: [{ type: 'all', id: 'all', container_id: 'all', action: { type: 'all' } }],
  container: { id: 'all' },
  // Sound in a chat answer.
  choices: [{ message: { audio: { id: 'all' } } }],
  // Pictures: only their number and kind matter.
  size: 'all',
  quality: 'all',
  data: [{}],
};

/**
 * Whether a whole answer of status 200 has an `error`, as both formats call it: some providers fail after they have
 * sent 200.
 */
export function saysError(answer: unknown): boolean {
  return isObject(answer) && Boolean(answer.error);
}

/** Characters without a meaning in a path, so that an id in a path cannot lead to another path of the upstream. */
const RESOURCE_ID = /^[A-Za-z0-9_][A-Za-z0-9_.~:-]{0,254}$/;

/** Whether an id can be put into a path of the upstream as it stands. */
export function isResourceId(id: string): boolean {
  return RESOURCE_ID.test(id);
}

/** The audio that a call uploads. */
export interface Audio extends AudioLength {
  readonly bytes: number;
}

/** The body of a call as meters see it, whether it came as JSON or as a form. */
export interface MeteredBody {
  readonly kind: 'json' | 'form';
  readonly model: Model;
  /** Members of the JSON, or fields of the form, by name. Fields are text, except that counts are numbers. */
  readonly value: Readonly<Record<string, unknown>>;
  readonly isStream: boolean;
  /** UTF-8 bytes of all text in the body, which are never fewer than its tokens. For JSON: all bytes of the body. */
  readonly textBytes: number;
  /** Number of uploaded files; 0 for JSON. */
  readonly files: number;
  readonly audio: Audio | undefined;
  /** Long strings of a large body, which `value` has placeholders for. */
  readonly elidedStrings: ElidedStrings | undefined;
  /** Undefined until the meter was asked, and for calls without such. */
  readonly hints: ReportHints | undefined;
}

/** Members and fields whose value is a count. */
export const COUNTS = [
  'n',
  'best_of',
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
  'max_tool_calls',
] as const;

/** A count that the request names; undefined if it does not. */
export function countOf(body: Pick<MeteredBody, 'value'>, name: (typeof COUNTS)[number]): number | undefined {
  const value = body.value[name];
  return typeof value === 'number' ? value : undefined;
}

/** A maximum that the request names; undefined if it does not. 0 names none: providers take it for theirs. */
export function maximumOf(
  body: Pick<MeteredBody, 'value'>,
  name: (typeof COUNTS)[number],
): number | undefined {
  return countOf(body, name) || undefined;
}
