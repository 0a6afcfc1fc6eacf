import type { IncomingHttpHeaders } from 'node:http';
import type { Micro } from '../domain/credits.ts';
import type { GatewayError } from '../domain/errors.ts';
import type { EnteredCall, ReadCall } from './call.ts';
import type { EndCode } from './call-metrics.ts';
import type { Ending } from './settle.ts';

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
