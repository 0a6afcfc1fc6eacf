import type { Target } from '../domain/catalog.ts';
import type { CompiledKey } from '../domain/rules.ts';
import type { CallCost } from '../metering/token-cost.ts';
import type { Endpoint } from './endpoints.ts';
import type { CallBody } from './request/call-body.ts';
import type { CallMemory } from './request/call-memory.ts';
import type { UpstreamBody } from './upstream/body.ts';

/**
 * A model call on its way through the gateway: entered → read → held. Each step of the pipeline takes one stage and
 * returns the next, so that the type of its argument names the needs of a step.
 */
export interface EnteredCall {
  readonly requestId: string;
  readonly endpoint: Endpoint;
  /** Time at which the call came, by `performance.now()`. */
  readonly startedAt: number;
  /** The key, which has passed checks 1 to 8. */
  readonly compiled: CompiledKey;
  /** The key's record was read from Redis within this request: a refusal that it leads to needs no confirmation. */
  readonly recordIsCurrent: boolean;
  readonly memory: CallMemory;
  /** Set once the body has been read. */
  asked?: Asked;
  /** Set if it was settled although it was not sent: the ledger has it. */
  isInLedger?: true;
}

/** The call as its request names it, whether or not there is such a model. */
export interface Asked {
  readonly model: string | null;
  readonly isStream: boolean;
}

/** A call whose body has passed check 9, with the bound of its cost. Nothing is held yet. */
export interface ReadCall extends EnteredCall, CallCost {
  readonly body: CallBody;
  /** The body that goes upstream. It is made before the hold is taken, so that nothing can fail between the two. */
  readonly upstreamBody: UpstreamBody;
  /** The targets that may be asked for it, if its model has several. */
  readonly targets?: readonly Target[] | undefined;
  /** It has reasoning that only its provider can read, and no target of its model is known to have made it. */
  readonly isPinned?: boolean;
  /** Tokens behind the stored answers that the request names. */
  readonly storedTokens: number;
  /** Service tiers that the request asks for, by the names that multipliers have. */
  readonly serviceTiers: readonly string[];
}

/** An admitted call: the ledger has its hold until `settleCall`. */
export interface HeldCall extends ReadCall {
  /** Milliseconds for which the call waited for room in limits of calls. */
  readonly waitedMs: number;
  /** Set by `settleCall`: a hold is settled once. */
  isSettled: boolean;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The call as it entered, on model calls whose key has passed checks 1 to 8; null on all other requests. */
    call: EnteredCall | null;
  }
}
