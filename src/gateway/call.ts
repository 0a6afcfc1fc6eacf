import type { Target } from '../domain/catalog.ts';
import type { CompiledKey } from '../domain/rules.ts';
import type { CallCost } from '../metering/token-cost.ts';
import type { Endpoint } from './endpoints.ts';
import type { CallBody } from './request/call-body.ts';
import type { CallMemory } from './request/call-memory.ts';
import type { UpstreamBody } from './upstream/body.ts';

/**
 * A model call on its way through the gateway: entered → read → held. Each pipeline step takes one stage and returns
 * the next, so its argument type shows its requirements.
 */
export interface EnteredCall {
  readonly requestId: string;
  readonly endpoint: Endpoint;
  /** Arrival time, by `performance.now()`. */
  readonly startedAt: number;
  /** The key, after checks 1 to 8. */
  readonly compiled: CompiledKey;
  /** The key's record was read from Redis within this request, so a refusal needs no confirmation. */
  readonly recordIsCurrent: boolean;
  readonly memory: CallMemory;
  /** Set once the body has been read. */
  asked?: Asked;
  /** Set if it was settled without being sent: the ledger has it. */
  isInLedger?: true;
}

/** The call as requested, even if there is no such model. */
export interface Asked {
  readonly model: string | null;
  readonly isStream: boolean;
}

/** A call that passed check 9, with an upper bound of its cost. Nothing is held yet. */
export interface ReadCall extends EnteredCall, CallCost {
  readonly body: CallBody;
  /** The body to send upstream. It exists before the hold is taken, so that nothing can fail between the two. */
  readonly upstreamBody: UpstreamBody;
  /** Targets for the call, if its model has several. */
  readonly targets?: readonly Target[] | undefined;
  /** It contains reasoning that only its provider can read, and no target of its model is known to have produced it. */
  readonly isPinned?: boolean;
  /** Members of the request that the gateway does not know. */
  readonly unknown: readonly string[];
  /** Tokens of the stored answers that the request refers to. */
  readonly storedTokens: number;
  /** Service tiers that the request asks for, named as multipliers are. */
  readonly serviceTiers: readonly string[];
}

/** An admitted call: the ledger has its hold until `settleCall`. */
export interface HeldCall extends ReadCall {
  /** Shared by the call's forms for each target, so that the hold is settled once. Set by `settleCall`. */
  readonly settlement: { isDone: boolean };
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The entered call on model calls whose key passed checks 1 to 8; null on all other requests. */
    call: EnteredCall | null;
  }
}
