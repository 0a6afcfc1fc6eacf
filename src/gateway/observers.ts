import type { IncomingHttpHeaders } from 'node:http';
import type { LimitName, LimitOwner } from '../domain/call-limits.ts';
import type { Micro } from '../domain/credits.ts';
import type { ErrorCode, GatewayError } from '../domain/errors.ts';
import type { Outcome } from '../domain/ledger-entry.ts';
import type { UndecidedReason } from '../ledger/ledger.ts';
import type { EnteredCall, ReadCall } from './call.ts';
import type { Ending } from './settle.ts';

/** How a call ended: `ok`, the code of the error that was answered, or the outcome of an answer that had begun. */
export type EndCode = 'ok' | ErrorCode | Exclude<Outcome, 'complete'>;

/**
 * Metrics of the request path. The methods run on every call: each takes a microsecond at most, and none throws. Times
 * are in milliseconds.
 */
export interface CallMetrics {
  /** A model call was refused before it reached an upstream, or its client left before. */
  refused(endpoint: string, code: ErrorCode | 'client_left'): void;
  /** A model call was refused because this limit had no room; of several, the one that has to be waited for longest. */
  limited(owner: LimitOwner, limit: LimitName): void;
  /** A model call was refused with 503 because the ledger could not decide about it in time. */
  undecided(reason: UndecidedReason): void;
  /** A call waits for room in limits of calls; `dequeued` is called later, once, whether it got in or not. */
  queued(): void;
  dequeued(waitedMs: number): void;
  /** An admitted call is about to be sent upstream; `settled` is called later, once. */
  began(): void;
  /** The answer to a call that began is a stream. */
  streamBegan(): void;
  /** The first event of a stream came, `afterMs` after the request. */
  firstToken(afterMs: number): void;
  settled(wasStream: boolean): void;
  /** The head of the answer is about to be written, `afterMs` after the request came. */
  firstByte(afterMs: number): void;
  /**
   * Counts an admitted call that has ended. `upstreamMs`: from sending it to the end of the upstream's answer.
   * `addedMs`: the time that the gateway itself took to authorize, read, admit and settle it, without its wait for room
   * in limits.
   */
  ended(endpoint: string, code: EndCode, upstreamMs: number, addedMs: number, charge: Micro): void;
}

/**
 * Tracer of the request path. Without tracing, each of these calls costs one check for undefined. No method throws.
 * Times are in milliseconds.
 */
export interface Tracing {
  /** A model call was refused before it reached an upstream. `call` is null if its key was not accepted. */
  refused(headers: IncomingHttpHeaders, path: string, refusal: GatewayError, call: EnteredCall | null): void;
  /**
   * An admitted call is sent upstream, at `sentAt` by `performance.now()`. `ended` of the result is called later, once.
   */
  began(headers: IncomingHttpHeaders, call: ReadCall, sentAt: number): CallTrace;
}

/** The trace of one admitted call. */
export interface CallTrace {
  /**
   * Puts the W3C trace context of this call into the upstream's headers (name and value in turn), in place of any that
   * is there.
   */
  passOn(headers: string[]): void;
  /** The head of the upstream's answer came. */
  head(statusCode: number): void;
  /** The first event of a stream came. */
  firstToken(): void;
  /** `upstreamMs`: from sending the call to the end of the upstream's answer. */
  ended(ending: Ending, code: EndCode, charge: Micro, upstreamMs: number): void;
}
