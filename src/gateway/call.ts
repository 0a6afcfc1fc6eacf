import type { Micro } from '../domain/credits.ts';
import type { CompiledKey } from '../domain/rules.ts';
import type { Endpoint } from './endpoints.ts';
import type { CallBody } from './request/call-body.ts';
import type { Spool } from './request/spool/spool.ts';
import type { UpstreamBody } from './upstream/body.ts';

/** A model call on its way through the gateway; made when its key has been judged, filled in step by step. */
export interface Call {
  readonly requestId: string;
  endpoint: Endpoint;
  /** By `performance.now()`. */
  readonly startedAt: number;
  compiled: CompiledKey;
  /** The record was read from Redis within this request: a refusal that it leads to needs no confirmation. */
  recordIsCurrent: boolean;
  body: CallBody | undefined;
  /** The file of a large body, from when it has come until the call is settled. */
  spool: Spool | undefined;
  /** What goes upstream; made before the hold is taken, so that nothing can fail between the two. */
  upstreamBody: UpstreamBody | undefined;
  hold: Micro;
  /** Tokens behind the stored answers that the request names. */
  storedTokens: number;
  /** Epoch of the admission; undefined: nothing is held. */
  epoch: number | undefined;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set on model calls by the pipeline. */
    call: Call | null;
  }
}

/** A call whose body has been read. */
export type ReadCall = Call & { body: CallBody; upstreamBody: UpstreamBody };

/** The call of a request behind which the pipeline stands. */
export function callOf(request: { call: Call | null }): ReadCall {
  const { call } = request;
  if (!call?.body || !call.upstreamBody) throw new Error('the pipeline has not read this call');
  return call as ReadCall;
}
