import type { Terms } from '../domain/bill.ts';
import type { Model } from '../domain/catalog.ts';
import type { Usage } from '../domain/units.ts';
import type { AudioLength } from './audio/measure-audio.ts';
import type { ElidedStrings } from './json/elided-strings.ts';
import type { Shape } from './json/sieve.ts';
import type { ReportHints, RequestPlan } from './plan.ts';
import { tokensIn } from './text-tokens.ts';

/** Tells the relay to forward an event, drop it, replace it, or hold it back because it ends the answer. */
export type EventAction = 'pass' | 'drop' | 'end' | { readonly replacement: string };

/** Measures one streamed answer. Events are Latin-1 text, one character a byte. */
export interface StreamMeter {
  event(event: string): EventAction;
  /** Members to keep of an event that is too large to hold: at its end, `event` gets the event reduced to these. */
  readonly kept: Shape;
  /** Reads an event that was cut off. `isLarge`: it was too large to hold. */
  unfinished?(event: string, isLarge: boolean): void;
  /** Pieces of visible content so far: text, sound, pictures. */
  readonly pieces: number;
  /** Tokens of hidden reasoning so far, as reported or estimated from encrypted text. Default: 0. */
  readonly hiddenTokens?: number;
  /** The last usage report has arrived, although the stream continues. Default: false. */
  readonly isReported?: boolean;
  /** `usage` is measured: a report may still come. Default: false. */
  readonly isMeasured?: boolean;
  /** Reported usage so far; undefined without a usable report. */
  readonly usage: Usage | undefined;
  /** Reported billing terms so far. */
  readonly terms?: Terms | undefined;
  /** `usage` has tokens that may have another model's price, so the ledger row is an estimate. */
  readonly isEstimated?: boolean;
  /** Corrects an estimate with a partial report. */
  mergeReported?(estimate: Usage): Usage;
  /** False: the final event has not arrived, so a stream that ends now was cut off. Absent: unknown. */
  readonly isWhole?: boolean;
  /** The stream reported that the call failed. */
  readonly failed?: boolean;
  /** Ids of objects of this answer that the provider stores; complete at the end. */
  readonly resourceIds?: readonly string[];
  /** Any part of an answer has come, also one without text such as a `finish_reason`. */
  readonly hasAnswer: boolean;
  /** Estimated tokens of the output text so far; 0 without text. */
  readonly outputTokens: number;
}

/** A binary answer, such as speech, whose length is charged. */
export interface HeardAnswer {
  push(chunk: Buffer): void;
  /** Corrects an estimate with the received answer. */
  correct(estimate: Usage, isWhole: boolean): Usage;
}

/** Estimated tokens of a request. */
export interface InputTokens {
  /** Text, with what the provider adds to each message. */
  readonly text: number;
  /** Pictures and files, at typical values. */
  readonly media: number;
}

/** Tokens of text read and written. */
export type TextUsage = Readonly<Required<Pick<Usage, 'input' | 'output'>>>;

/** Measures the calls of an endpoint: its columns in the endpoint table. */
export interface Meter {
  /** Plans the call from its body (specification section 5). Throws a GatewayError for a request that can't be metered. */
  plan(body: ParsedRequest): RequestPlan;
  /**
   * Usage of a whole answer, as reported or as known without a report; undefined if it is absent, negative or absurd.
   * `answer` is undefined if it is not JSON. An answer too large to hold is reduced to ANSWER_SHAPE.
   */
  usage(answer: unknown, facts: RequestFacts): Usage | undefined;
  /** Billing terms of a whole answer. */
  terms?(answer: unknown, facts: RequestFacts): Terms | undefined;
  /** Whether `usage` has tokens that may have another model's price, so the ledger row is an estimate. */
  isEstimated?(answer: unknown): boolean;
  /** Corrects an estimate with a whole answer that lacks a usable report. */
  mergeReported?(estimate: Usage, answer: unknown, facts: RequestFacts): Usage;
  /** Measures a binary answer if its length is charged. */
  heard?(facts: RequestFacts): HeardAnswer | undefined;
  /** Estimated tokens of the output text of a whole answer; 0 without text. */
  outputTokens(answer: unknown): number;
  /** Whether a whole answer has content. Default: `hasAnswer` of answer.ts. */
  hasAnswer?(answer: unknown): boolean;
  /** Whether a whole answer reports a failure in another way than answer.ts knows. */
  failed?(answer: unknown): boolean;
  /** `injectedUsage`: the gateway asked for usage, so the client must not see it. */
  stream(injectedUsage: boolean, facts: RequestFacts): StreamMeter;
  /** Estimated tokens of a request. Its long strings may be elided. */
  inputTokens(body: ParsedRequest): InputTokens;
  /**
   * Estimates unreported usage from the tokens of the request and of the output text. A result without `output` means
   * that the endpoint's answers have no text.
   */
  estimate(tokens: TextUsage, facts: RequestFacts): Usage;
  /** Whether a successful answer is plain output text. */
  answersText?(facts: RequestFacts): boolean;
  /** Ids of objects of a whole answer that the provider stores. */
  resourceIds?(answer: unknown, facts: RequestFacts): readonly string[];
}

/** Places of usage reports in an event, and of errors. */
export const EVENT_SHAPE = {
  type: 'all',
  usage: 'all',
  choices: [{ usage: 'all', finish_reason: 'all' }],
  x_groq: { usage: 'all' },
  response: { usage: 'all' },
  'amazon-bedrock-invocationMetrics': 'all',
  error: 'all',
  error_type: 'all',
  error_message: 'all',
  base_resp: 'all',
  success: 'all',
  code: 'all',
  msg: 'all',
  detail: 'all',
  object: 'all',
} as const satisfies Shape;

/** Members to keep of a whole answer that is too large to hold: all that meters read except output text. */
export const ANSWER_SHAPE: Shape = {
  id: 'all',
  type: 'all',
  status: 'all',
  error: 'all',
  usage: 'all',
  x_groq: { usage: 'all' },
  'amazon-bedrock-invocationMetrics': 'all',
  tool_usage: 'all',
  service_tier: 'all',
  // Transcripts and videos.
  duration: 'all',
  seconds: 'all',
  // Responses and messages.
  store: 'all',
  output: [{ type: 'all', id: 'all', container_id: 'all', action: { type: 'all' } }],
  container: { id: 'all' },
  // Sound in a chat answer, and Moonshot's reports.
  choices: [{ message: { audio: { id: 'all' } }, usage: 'all' }],
  // Images: their number and kind.
  size: 'all',
  quality: 'all',
  data: [{ error: 'all' }],
  images: [{ error: 'all' }],
};

const RESOURCE_ID = /^[A-Za-z0-9_][A-Za-z0-9_.~:-]{0,254}$/;

/** Whether an id is safe in an upstream path, so it cannot lead to another path. */
export function isResourceId(id: string): boolean {
  return RESOURCE_ID.test(id);
}

/** Uploaded audio. */
export interface Audio extends AudioLength {
  readonly bytes: number;
}

/** Facts of a request that reading its answer needs. */
export interface RequestFacts {
  readonly kind: 'json' | 'form';
  readonly model: Model;
  /** Its scalars by name, and its lists and objects without their content. */
  readonly scalars: Readonly<Record<string, unknown>>;
  readonly isStream: boolean;
  /** UTF-8 bytes of all text, an upper bound of its tokens. For JSON: all bytes of the body. */
  readonly textBytes: number;
  /** Number of uploaded files; 0 for JSON. */
  readonly files: number;
  readonly audio: Audio | undefined;
  /** Long strings of a large body; `value` and `scalars` have placeholders for them. */
  readonly elidedStrings: ElidedStrings | undefined;
  /** Request facts for reading the usage report. Undefined before planning, and for calls whose report needs none. */
  readonly hints: ReportHints | undefined;
}

/** A parsed JSON or form body. */
export interface ParsedRequest extends RequestFacts {
  /** JSON members or form fields by name. Form fields are strings, except for counts. */
  readonly value: Readonly<Record<string, unknown>>;
}

/** Estimated tokens of a text from a body. */
export function textTokens({ elidedStrings }: Pick<ParsedRequest, 'elidedStrings'>, text: string): number {
  return elidedStrings ? elidedStrings.tokensIn(text) : tokensIn(text);
}

/** For endpoints whose requests have no text that is charged. */
export const NO_TOKENS: InputTokens = { text: 0, media: 0 };

/** Members and form fields that hold a count. */
export const COUNTS = [
  'n',
  'best_of',
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
  'max_tool_calls',
] as const;

export function countOf(
  body: Pick<RequestFacts, 'scalars'>,
  name: (typeof COUNTS)[number],
): number | undefined {
  const value = body.scalars[name];
  return typeof value === 'number' ? value : undefined;
}

/** A maximum in the request; undefined if absent or 0, which providers treat as their default. */
export function maximumOf(
  body: Pick<RequestFacts, 'scalars'>,
  name: (typeof COUNTS)[number],
): number | undefined {
  return countOf(body, name) || undefined;
}
