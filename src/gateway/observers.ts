import type { IncomingHttpHeaders } from 'node:http';
import type { LimitName, LimitOwner } from '../domain/call-limits.ts';
import type { Micro } from '../domain/credits.ts';
import type { ErrorCode, GatewayError } from '../domain/errors.ts';
import type { Outcome } from '../domain/ledger-entry.ts';
import type { SpendingLimitName, SpendingOwner } from '../domain/spending-limits.ts';
import type { UndecidedReason } from '../ledger/ledger.ts';
import type { Call, PlannedCall } from './call.ts';
import type { Ending } from './settle.ts';

/** How a call ended: `ok`, the error code of the answer, or the outcome of an answer that had begun. */
export type EndCode = 'ok' | ErrorCode | Exclude<Outcome, 'complete'>;

/**
 * Metrics of the request path. The methods run on every call, take a microsecond at most and never throw. Times are in
 * milliseconds.
 */
export interface CallMetrics {
  /** A model call was refused before it reached an upstream. */
  refused(endpoint: string, code: ErrorCode): void;
  /** A full limit refused a model call; of several, the one with the longest wait, or the one that a 402 names. */
  limited(owner: LimitOwner | SpendingOwner, limit: LimitName | SpendingLimitName): void;
  /** A model call got 503 because the ledger could not decide in time. */
  undecided(reason: UndecidedReason): void;
  /** A field that the price tables lack went to a provider, for the first time today. */
  unknownMember(name: string): void;
  /** An admitted call is about to be sent upstream; `settled` follows once. */
  began(): void;
  /** The answer to a call that began is a stream. */
  streamBegan(): void;
  /** The first event of a stream came, `afterMs` after the request. */
  firstToken(afterMs: number): void;
  settled(wasStream: boolean): void;
  /** The head of the answer is about to be written, `afterMs` after the request. */
  firstByte(afterMs: number): void;
  /**
   * Counts an admitted call that has ended. `upstreamMs`: from sending it to the end of the upstream's answer.
   * `addedMs`: time the gateway took to authorize, read, admit and settle it.
   */
  ended(endpoint: string, code: EndCode, upstreamMs: number, addedMs: number, charge: Micro): void;
}

/**
 * Tracer of the request path. Without tracing, each call site costs one check for undefined. No method throws. Times
 * are in milliseconds.
 */
export interface Tracing {
  /** A model call was refused before it reached an upstream. `call` is null if its key was not accepted. */
  refused(headers: IncomingHttpHeaders, path: string, refusal: GatewayError, call: Call | null): void;
  /** An admitted call is sent upstream, at `sentAt` by `performance.now()`. `ended` of the result follows once. */
  began(headers: IncomingHttpHeaders, call: PlannedCall, sentAt: number): CallTrace;
}

export interface CallTrace {
  /** Sets the W3C trace context of this call in the upstream's headers (name and value in turn), replacing any. */
  passOn(headers: string[]): void;
  /** The head of the upstream's answer arrived. */
  head(statusCode: number): void;
  /** The first event of a stream arrived. */
  firstToken(): void;
  /** `upstreamMs`: from sending the call to the end of the upstream's answer. */
  ended(ending: Ending, code: EndCode, charge: Micro, upstreamMs: number): void;
}
