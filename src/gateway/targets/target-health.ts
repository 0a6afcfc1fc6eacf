import { type Model, targetName } from '../../domain/catalog.ts';
import type { Log } from '../../log/log.ts';
import type { Availability } from './order.ts';

/** How long a target is out after its first failure, and at most after more. */
const FIRST_OUT_MS = 1_000;
const LONGEST_OUT_MS = 60_000;
/** Maximum honored Retry-After. */
const LONGEST_RETRY_AFTER_MS = 24 * 3_600_000;
/** How long a target is out if it refuses its credential or its certificate is refused. */
export const REFUSED_OUT_MS = 60_000;
/** Weight of a new latency in the average. */
const LATENCY_SHARE = 0.1;

/** A failure of a target. */
export interface TargetFailure {
  /** HTTP status; null if none came. */
  readonly status: number | null;
  /** The provider's message, without its credential. */
  readonly error: string;
  /** How long the target is out, if the provider or the kind of failure determines it; otherwise it doubles. */
  readonly outMs?: number | undefined;
}

/** Health of a target as gateways share it. */
export interface SharedState {
  /** By `Date.now()`; 0: up. */
  readonly outUntil: number;
  readonly failures: number;
  /** Time of the change, by `Date.now()`; older reports are ignored. */
  readonly changedAt: number;
}

/** Messages between gateways. Nothing waits for them, and they may fail. */
export interface HealthHints {
  /** Announces that a target went out or came back. */
  publish(name: string, state: SharedState): void;
  /** Claims the single trial of a target that was out; resolves to whether this gateway got it. Never rejects. */
  claimTrial(name: string): Promise<boolean>;
  /** This gateway's trial is over and its outcome published. */
  trialEnded(name: string): void;
}

/** Without other gateways, every trial is ours. */
const ALONE: HealthHints = { publish() {}, claimTrial: async () => true, trialEnded() {} };

/** A target as shown to the operator. */
export interface TargetReport {
  readonly target: string;
  readonly model: string;
  readonly state: 'up' | 'out';
  readonly outUntil: number | undefined;
  readonly lastError: string | undefined;
  readonly lastErrorAt: number | undefined;
  /** Moving average of the milliseconds until the head of an answer. */
  readonly latencyMs: number | undefined;
  readonly calls: number;
  /** Calls that failed. */
  readonly failed: number;
}

/** One attempt at a target. Exactly one method besides `noted` is called, once. */
export interface HealthOfTry {
  /** The provider answered, after `ms`. */
  answered(ms: number): void;
  failed(failure: TargetFailure): void;
  /** The attempt says nothing about the target, because its client left. */
  abandoned(): void;
  /** The answer broke off after it began: shown to the operator, but the target stays in. */
  noted(error: string): void;
}

class State implements Availability, SharedState {
  readonly name: string;
  readonly target: string;
  readonly model: string;
  outUntil = 0;
  failures = 0;
  changedAt = 0;
  /** Whether the single call that tests the target is allowed or in progress. */
  trial: 'none' | 'free' | 'taken' = 'none';
  /** Number of times it went out; an earlier attempt says nothing about it since. */
  generation = 0;
  timer: NodeJS.Timeout | undefined;
  lastError: string | undefined;
  lastErrorAt: number | undefined;
  latencyMs: number | undefined;
  calls = 0;
  failed = 0;

  constructor(name: string, target: string, model: string) {
    this.name = name;
    this.target = target;
    this.model = model;
  }

  get isAvailable(): boolean {
    return this.outUntil === 0 || this.trial === 'free';
  }
}

/**
 * Health of this process' targets, per credential and model (specification section 12). States: up → out (until a time)
 * → on trial (one call at a time) → up, or out again for twice as long. Reports of other gateways count like our own.
 */
export class TargetHealth {
  readonly #log: Log;
  readonly #hints: HealthHints;
  readonly #states = new Map<string, State>();
  /** States by the catalog's model, which a reload replaces. */
  readonly #byModel = new WeakMap<Model, State>();

  constructor({ log, hints = ALONE }: { readonly log: Log; readonly hints?: HealthHints }) {
    this.#log = log;
    this.#hints = hints;
  }

  availability(model: Model): Availability {
    return this.#stateOf(model);
  }

  /** A call is about to be sent to a target. */
  begin(model: Model): HealthOfTry {
    const state = this.#stateOf(model);
    const { generation } = state;
    state.calls++;
    const isTrial = state.outUntil > 0;
    const wasFree = state.trial === 'free';
    if (isTrial) state.trial = 'taken';
    const isCurrent = () => state.generation === generation;
    return {
      answered: (ms) => {
        state.latencyMs =
          state.latencyMs === undefined ? ms : state.latencyMs + (ms - state.latencyMs) * LATENCY_SHARE;
        if (isTrial && isCurrent()) this.#isBack(state, wasFree);
      },
      failed: (failure) => {
        state.failed++;
        note(state, failure.error);
        // Calls sent together fail together, which counts as one failure.
        if (isCurrent()) this.#goesOut(state, failure, wasFree);
        else if (failure.outMs !== undefined) this.#staysOut(state, failure.outMs);
      },
      abandoned: () => {
        if (wasFree && isCurrent()) state.trial = 'free';
      },
      noted: (error) => note(state, error),
    };
  }

  /** Applies another gateway's report of a target. Returns true if it is new. */
  heard(name: string, { outUntil, failures, changedAt }: SharedState): boolean {
    const state = this.#states.get(name);
    if (!state || changedAt <= state.changedAt) return false;
    const isNew = outUntil === 0 ? state.outUntil > 0 : outUntil > Math.max(state.outUntil, Date.now());
    if (!isNew) return false;
    if (outUntil === 0) this.#isUp(state);
    else {
      state.failures = Math.max(state.failures, failures);
      this.#out(state, outUntil);
    }
    return true;
  }

  report(model: Model): TargetReport {
    return reportOf(this.#stateOf(model));
  }

  /** Every target used in this process or known from the catalog. */
  reports(): TargetReport[] {
    return [...this.#states.values()].map(reportOf);
  }

  /** Ends all timers. */
  close(): void {
    for (const { timer } of this.#states.values()) clearTimeout(timer);
  }

  #stateOf(model: Model): State {
    const known = this.#byModel.get(model);
    if (known) return known;
    const target = targetName(model.upstream);
    const name = `${target} ${model.slug}`;
    const state = this.#states.get(name) ?? new State(name, target, model.slug);
    this.#states.set(name, state);
    this.#byModel.set(model, state);
    return state;
  }

  #goesOut(state: State, { status, error, outMs }: TargetFailure, wasTrial: boolean): void {
    const wasUp = state.outUntil === 0;
    const doubled = Math.min(LONGEST_OUT_MS, FIRST_OUT_MS * 2 ** state.failures);
    const ms = outMs === undefined ? doubled : Math.min(LONGEST_RETRY_AFTER_MS, outMs);
    state.failures++;
    this.#out(state, Date.now() + ms);
    this.#hints.publish(state.name, state);
    if (wasTrial) this.#hints.trialEnded(state.name);
    if (!wasUp) return;
    const { target, model } = state;
    this.#log.warn({ target, model, status, error, outMs: ms }, 'target failed; sending it no calls for now');
  }

  #staysOut(state: State, outMs: number): void {
    const until = Date.now() + Math.min(LONGEST_RETRY_AFTER_MS, outMs);
    if (state.outUntil === 0 || until <= state.outUntil) return;
    this.#out(state, until);
    this.#hints.publish(state.name, state);
  }

  #out(state: State, until: number): void {
    state.generation++;
    state.changedAt = Date.now();
    state.outUntil = until;
    state.trial = 'none';
    clearTimeout(state.timer);
    state.timer = setTimeout(() => void this.#tryAgain(state), Math.max(0, until - Date.now()));
    state.timer.unref();
  }

  /** Lets one call of all gateways try the target; if another gateway has the trial, waits for its report. */
  async #tryAgain(state: State): Promise<void> {
    const { generation } = state;
    const isOurs = await this.#hints.claimTrial(state.name);
    if (state.generation !== generation || state.outUntil === 0) return;
    if (isOurs) {
      state.trial = 'free';
      return;
    }
    state.timer = setTimeout(() => void this.#tryAgain(state), FIRST_OUT_MS);
    state.timer.unref();
  }

  #isBack(state: State, wasTrial: boolean): void {
    this.#isUp(state);
    this.#hints.publish(state.name, state);
    if (wasTrial) this.#hints.trialEnded(state.name);
    const { target, model } = state;
    this.#log.info({ target, model }, 'target is back');
  }

  #isUp(state: State): void {
    clearTimeout(state.timer);
    state.generation++;
    state.changedAt = Date.now();
    state.outUntil = 0;
    state.failures = 0;
    state.trial = 'none';
  }
}

function note(state: State, error: string): void {
  state.lastError = error;
  state.lastErrorAt = Date.now();
}

function reportOf({ target, model, outUntil, ...state }: State): TargetReport {
  const { lastError, lastErrorAt, latencyMs, calls, failed } = state;
  const isOut = outUntil > 0;
  return {
    target,
    model,
    state: isOut ? 'out' : 'up',
    outUntil: isOut ? outUntil : undefined,
    lastError,
    lastErrorAt,
    latencyMs,
    calls,
    failed,
  };
}
