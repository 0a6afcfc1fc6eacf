import { type Model, targetName } from '../../domain/catalog.ts';
import { CAUSES, type Cause, type OutCause } from '../../domain/target-cause.ts';
import type { Log } from '../../log/log.ts';
import type { Availability } from './order.ts';

/** How long a target is out the first time, and at most after more. */
const FIRST_OUT_MS = 1_000;
const MAX_OUT_MS = 60_000;
/** Failures in a row that put a target out. */
const FAILURES_IN_A_ROW = 3;
/** Time within which failures of two accounts put it out. */
const TWO_ACCOUNTS_MS = 60_000;
/** Weight of a new latency in the average. */
const LATENCY_SHARE = 0.1;

/** Causes that only the operator can end: the target is out for the longest time. */
const LASTING: ReadonlySet<Cause> = new Set<Cause>(['tls', 'credential']);

/** A failure of a target. */
export interface TargetFailure {
  /** HTTP status; null if none came. */
  readonly status: number | null;
  readonly cause: Cause;
  /** The provider's message, without its credential. */
  readonly error: string;
  /** The delay that the provider asks for. */
  readonly retryAfterMs?: number | undefined;
}

/** A target as shown to the operator. */
export interface TargetReport {
  readonly target: string;
  readonly model: string;
  readonly state: 'up' | 'out';
  /** Why it is out. */
  readonly cause: OutCause | undefined;
  readonly outUntil: number | undefined;
  /** When it went out for the cause. */
  readonly outSince: number | undefined;
  readonly lastError: string | undefined;
  readonly lastErrorAt: number | undefined;
  /** Moving average of the milliseconds until the head of an answer. */
  readonly latencyMs: number | undefined;
  readonly calls: number;
  /** Calls that failed. */
  readonly failed: number;
}

/** One attempt at a target. Exactly one of `answered` and `failed` is called, once, or none if the client left. */
export interface AttemptReport {
  /** The provider answered, after `ms`. */
  answered(ms: number): void;
  failed(failure: TargetFailure): void;
  /** The answer broke off after it began: shown to the operator, but the target stays in. */
  noted(error: string): void;
}

class State implements Availability {
  readonly target: string;
  readonly model: string;
  outUntil = 0;
  outSince: number | undefined;
  cause: OutCause | undefined;
  /** Times it went out since it last answered. */
  outs = 0;
  /** Failures since it last answered. */
  inARow = 0;
  lastFailedFor: number | undefined;
  lastFailedAt = 0;
  /** Changes when it goes out or comes back; an earlier attempt says nothing about it since. */
  generation = 0;
  lastError: string | undefined;
  lastErrorAt: number | undefined;
  latencyMs: number | undefined;
  calls = 0;
  failed = 0;

  constructor(target: string, model: string) {
    this.target = target;
    this.model = model;
  }

  get isAvailable(): boolean {
    return this.outUntil <= Date.now();
  }
}

/**
 * A circuit breaker for each target of this process, per credential and model (specification section 12). States: up →
 * out until a time, after which one call tries it (half-open) → up with its first answer, or out again for twice as
 * long. What one account's requests can cause puts a target out only if it comes in a row, or also from another account.
 */
export class TargetHealth {
  readonly #log: Log;
  readonly #states = new Map<string, State>();
  /** States by the catalog's model, which a reload replaces. */
  readonly #byModel = new WeakMap<Model, State>();

  constructor({ log }: { readonly log: Log }) {
    this.#log = log;
  }

  availability(model: Model): Availability {
    return this.#stateOf(model);
  }

  /** A call of an account is about to be sent to a target. */
  begin(model: Model, accountId: number): AttemptReport {
    const state = this.#stateOf(model);
    const { generation } = state;
    state.calls++;
    // Others wait for what this one finds, as long as they would if it failed: its client may leave, and tell nothing.
    if (state.cause !== undefined && state.isAvailable) state.outUntil = Date.now() + nextOutMs(state);
    return {
      answered: (ms) => {
        state.latencyMs =
          state.latencyMs === undefined ? ms : state.latencyMs + (ms - state.latencyMs) * LATENCY_SHARE;
        if (state.generation === generation) this.#answered(state);
      },
      failed: (failure) => {
        state.failed++;
        note(state, failure.error);
        if (state.generation === generation) this.#failed(state, failure, accountId);
      },
      noted: (error) => note(state, error),
    };
  }

  report(model: Model): TargetReport {
    return reportOf(this.#stateOf(model));
  }

  /** Every target used in this process. */
  reports(): TargetReport[] {
    return [...this.#states.values()].map(reportOf);
  }

  #stateOf(model: Model): State {
    const known = this.#byModel.get(model);
    if (known) return known;
    const target = targetName(model.upstream);
    const name = `${target} ${model.slug}`;
    const state = this.#states.get(name) ?? new State(target, model.slug);
    this.#states.set(name, state);
    this.#byModel.set(model, state);
    return state;
  }

  #failed(state: State, failure: TargetFailure, accountId: number): void {
    const { cause } = failure;
    if (cause === 'forbidden') return;
    const now = Date.now();
    const isOfTwo =
      state.lastFailedFor !== undefined &&
      state.lastFailedFor !== accountId &&
      now - state.lastFailedAt < TWO_ACCOUNTS_MS;
    state.lastFailedFor = accountId;
    state.lastFailedAt = now;
    state.inARow++;
    const isOut = state.cause !== undefined;
    if (isOut || CAUSES[cause] === 'at once' || isOfTwo || state.inARow >= FAILURES_IN_A_ROW)
      this.#out(state, cause, failure);
  }

  #out(state: State, cause: OutCause, { status, error, retryAfterMs }: TargetFailure): void {
    const isNews = state.cause !== cause;
    const outMs = LASTING.has(cause) ? MAX_OUT_MS : Math.min(MAX_OUT_MS, retryAfterMs ?? nextOutMs(state));
    state.outs++;
    state.generation++;
    state.cause = cause;
    state.outUntil = Date.now() + outMs;
    if (!isNews) return;
    state.outSince = Date.now();
    const { target, model } = state;
    const line = cause === 'credential' ? 'target refused the credential of this gateway' : 'target failed';
    this.#log.warn({ target, model, cause, status, error, outMs }, `${line}; calls try other targets first`);
  }

  #answered(state: State): void {
    state.inARow = 0;
    if (state.cause === undefined) return;
    state.generation++;
    state.cause = undefined;
    state.outUntil = 0;
    state.outSince = undefined;
    state.outs = 0;
    state.lastFailedFor = undefined;
    const { target, model } = state;
    this.#log.info({ target, model }, 'target is back');
  }
}

function nextOutMs({ outs }: State): number {
  return Math.min(MAX_OUT_MS, FIRST_OUT_MS * 2 ** outs);
}

function note(state: State, error: string): void {
  state.lastError = error;
  state.lastErrorAt = Date.now();
}

function reportOf({ target, model, cause, outUntil, outSince, ...state }: State): TargetReport {
  const { lastError, lastErrorAt, latencyMs, calls, failed } = state;
  const isOut = cause !== undefined;
  return {
    target,
    model,
    state: isOut ? 'out' : 'up',
    cause,
    outUntil: isOut ? outUntil : undefined,
    outSince,
    lastError,
    lastErrorAt,
    latencyMs,
    calls,
    failed,
  };
}
