import { type Model, targetName } from '../../domain/catalog.ts';
import type { Log } from '../../log/log.ts';
import type { Availability } from './order.ts';

/** Time for which a target is left out after its first failure, and the most after more of them. */
const FIRST_OUT_MS = 1_000;
const LONGEST_OUT_MS = 60_000;
/** Most that a provider's Retry-After counts. */
const LONGEST_RETRY_AFTER_MS = 24 * 3_600_000;
/** Time for which a target is left out that refuses its credential, or whose certificate is refused. */
export const REFUSED_OUT_MS = 60_000;
/** Part of a new latency in the average. */
const LATENCY_SHARE = 0.1;

/** What went wrong at a target. */
export interface TargetFailure {
  /** HTTP status; null if none came. */
  readonly status: number | null;
  /** In the provider's words, without its credential. */
  readonly error: string;
  /** Time to leave it out, if the provider or the kind of the failure says so; else it doubles. */
  readonly outMs?: number | undefined;
}

/** State of a target as gateways share it. */
export interface SharedState {
  /** By `Date.now()`; 0: it is up. */
  readonly outUntil: number;
  readonly failures: number;
  /** Time of the change, by `Date.now()`: older news change nothing. */
  readonly changedAt: number;
}

/** What gateways tell each other. Nothing waits for it, and it may fail. */
export interface HealthHints {
  /** Tells the others about a target that went out, or came back. */
  publish(name: string, state: SharedState): void;
  /** Asks for the one trial of a target that was out; resolves with whether this gateway makes it. Never rejects. */
  claimTrial(name: string): Promise<boolean>;
  /** The trial that this gateway made is over, and its outcome published. */
  trialEnded(name: string): void;
}

/** No other gateways: each trial is ours. */
const ALONE: HealthHints = { publish() {}, claimTrial: async () => true, trialEnded() {} };

/** A target as the operator sees it. */
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

/** One try at a target. Exactly one of the methods but `noted` is called, once. */
export interface HealthOfTry {
  /** The provider answered, `ms` after it was asked. */
  answered(ms: number): void;
  failed(failure: TargetFailure): void;
  /** The try ended in a way that says nothing about the target: its client left. */
  abandoned(): void;
  /** The answer broke off after its beginning: reported to the operator, but the target stays in. */
  noted(error: string): void;
}

class State implements Availability, SharedState {
  readonly name: string;
  readonly target: string;
  readonly model: string;
  outUntil = 0;
  failures = 0;
  changedAt = 0;
  /** Whether the one call that may find out if the target is back is allowed, and under way. */
  trial: 'none' | 'free' | 'taken' = 'none';
  /** Counts how often it went out: a try that began before says nothing about it since. */
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
 * Health of the targets of this process, for each credential and model (specification section 12). States of a target: up → out
 * (until a time) → on trial (one call at a time) → up, or out again for twice as long. Other gateways' news of it count as our
 * own.
 */
export class TargetHealth {
  readonly #log: Log;
  readonly #hints: HealthHints;
  readonly #states = new Map<string, State>();
  /** States by the model of the catalog, which a reload replaces. */
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
        // Calls that were sent together fail together: that is one failure.
        if (isCurrent()) this.#goesOut(state, failure, wasFree);
        else if (failure.outMs !== undefined) this.#staysOut(state, failure.outMs);
      },
      abandoned: () => {
        if (wasFree && isCurrent()) state.trial = 'free';
      },
      noted: (error) => note(state, error),
    };
  }

  /** Takes up what another gateway says of a target. True where that is new. */
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

  /** Every target that was asked in this process, or is in the catalog's reports. */
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
    this.#log.warn({ target, model, status, error, outMs: ms }, 'a target failed and is left out');
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

  /** Lets one call try the target, of all gateways; if it is another's, its news are waited for. */
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
    this.#log.info({ target, model }, 'a target is back');
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
