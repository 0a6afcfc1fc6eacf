import type { Model, Target } from '../domain/catalog.ts';
import type { Micro } from '../domain/credits.ts';
import type { Attempt } from '../domain/ledger-entry.ts';
import type { CompiledKey } from '../domain/rules.ts';
import type { InputTokens, RequestFacts } from '../metering/meter.ts';
import type { CallCost } from '../metering/token-cost.ts';
import type { Endpoint } from './endpoints.ts';
import type { CallMemory } from './request/call-memory.ts';
import type { SentBody, UpstreamBody } from './upstream/body.ts';

/**
 * A model call on its way through the gateway: one object from its first header to its settle. Stages: entered → read →
 * planned → admitted → settled. Each stage fills in its members; the types below are the stages, so the argument of a
 * step shows what must have come before it.
 */
export class Call {
  readonly requestId: string;
  readonly endpoint: Endpoint;
  /** The model that the address names, whatever the body does: Azure's deployment. */
  readonly deployment: string | undefined;
  /** Arrival time, by `performance.now()`. */
  readonly startedAt: number;
  readonly memory: CallMemory;
  /** The key, after checks 1 to 8. */
  compiled: CompiledKey;
  /** The key's record was read from Redis within this request, so a refusal needs no confirmation. */
  recordIsCurrent: boolean;
  /** The call as requested, even if there is no such model. Set once the body has been read. */
  requested: RequestedModel | undefined = undefined;
  /** What later stages know of the request, with the model at the target that the call is sent to. */
  facts?: RequestFacts = undefined;
  /** Every body that can be sent. It exists before the hold is taken, so that nothing can fail between the two. */
  body?: UpstreamBody = undefined;
  /** The body for the target that the call is sent to. */
  sent?: SentBody = undefined;
  inputTokens?: () => InputTokens = undefined;
  quote?: Quote = undefined;
  /** The hold in the ledger, from admission to the settle. */
  hold?: Micro = undefined;
  /** Milliseconds since the epoch, by Redis' clock. */
  admittedAt?: number = undefined;
  /** Attempts so far, in sequence; the last one may be under way. */
  readonly attempts: AttemptRecord[] = [];
  /** The client's answer, once the call has been sent. */
  answering: { clientLeft(): void } | undefined = undefined;
  /** The ledger has it. Set by `settleCall`. */
  isSettled = false;

  constructor(entered: EnteredFacts) {
    this.requestId = entered.requestId;
    this.endpoint = entered.endpoint;
    this.deployment = entered.deployment;
    this.startedAt = entered.startedAt;
    this.memory = entered.memory;
    this.compiled = entered.compiled;
    this.recordIsCurrent = entered.recordIsCurrent;
  }
}

type EnteredFacts = Pick<
  Call,
  'requestId' | 'endpoint' | 'deployment' | 'startedAt' | 'memory' | 'compiled' | 'recordIsCurrent'
>;

export interface RequestedModel {
  readonly model: string | null;
  readonly isStream: boolean;
}

/** Highest cost of a call, and what decides where it may go. */
export interface Quote extends CallCost {
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

/** An attempt, with its cost to the operator if it failed after reporting usage. */
export interface AttemptRecord extends Attempt {
  readonly cost?: Micro | undefined;
}

/** A call that passed check 9. Nothing of its request is in memory but `facts` and the bytes to send. */
export interface ReadCall extends Call {
  facts: RequestFacts;
  readonly body: UpstreamBody;
  sent: SentBody;
  /** Estimated tokens of the request. */
  readonly inputTokens: () => InputTokens;
}

/** A call with an upper bound of its cost. */
export interface PlannedCall extends ReadCall {
  readonly quote: Quote;
}

/** A call whose hold the ledger has, until `settleCall`. */
export interface AdmittedCall extends PlannedCall {
  readonly hold: Micro;
  readonly admittedAt: number;
}

/** Turns a call to a target of its model, which is asked for usage or not. */
export function turnTo(call: ReadCall, model: Model, asks: boolean): void {
  const { body, facts } = call;
  if (facts.model !== model) call.facts = { ...facts, model };
  call.sent = body.formOf?.(model.upstreamModel, asks) ?? body;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The model call whose key passed checks 1 to 8; null on all other requests. */
    call: Call | null;
  }
}
