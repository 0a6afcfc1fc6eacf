import type { IncomingHttpHeaders } from 'node:http';
import type { Micro } from '../domain/credits.ts';
import type { GatewayError } from '../domain/errors.ts';
import type { Call, ReadCall } from './call.ts';
import type { EndCode } from './call-metrics.ts';
import type { Ending } from './settle.ts';

/**
 * What the request path tells a tracer, where there is one; without, each of these is one check for undefined. None
 * throws. Times are in milliseconds.
 */
export interface Tracing {
  /** A model call was refused before it reached an upstream. `call` is null where its key was not accepted. */
  refused(headers: IncomingHttpHeaders, path: string, refusal: GatewayError, call: Call | null): void;
  /** An admitted call is sent upstream, at `sentAt` by `performance.now()`; `ended` of what this gives follows, once. */
  began(headers: IncomingHttpHeaders, call: ReadCall, sentAt: number): CallTrace;
}

/** The trace of one admitted call. */
export interface CallTrace {
  /** Puts the W3C trace context of this call among the upstream's headers (name and value in turn), and no other. */
  passOn(headers: string[]): void;
  /** The head of the upstream's answer came. */
  head(statusCode: number): void;
  /** The first event of a stream came. */
  firstToken(): void;
  /** `upstreamMs`: from sending the call to the end of the upstream's answer. */
  ended(ending: Ending, code: EndCode, charge: Micro, upstreamMs: number): void;
}
