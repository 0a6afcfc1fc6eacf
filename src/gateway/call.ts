import type { Micro } from '../domain/credits.ts';
import type { CompiledKey } from '../domain/rules.ts';
import type { JsonBody } from './body.ts';
import type { Endpoint } from './endpoints.ts';

/** A model call on its way through the gateway; made when its key has been judged, filled in step by step. */
export interface Call {
  readonly requestId: string;
  readonly endpoint: Endpoint;
  readonly startedAt: number;
  compiled: CompiledKey;
  /** The record was read from Redis within this request: a refusal that it leads to needs no confirmation. */
  recordIsCurrent: boolean;
  body: JsonBody | undefined;
  hold: Micro;
  /** Epoch of the admission; undefined: nothing is held. */
  epoch: number | undefined;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set on model calls by the pipeline. */
    call: Call | null;
  }
}

/** The call of a request behind which the pipeline stands. */
export function callOf(request: { call: Call | null }): Call & { body: JsonBody } {
  const { call } = request;
  if (!call?.body) throw new Error('the pipeline has not read this call');
  return call as Call & { body: JsonBody };
}
