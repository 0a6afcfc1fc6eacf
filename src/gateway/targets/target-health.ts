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

/** What this process knows of a target. */
class State {
  readonly target: string;
  readonly model: string;
  /** At its address, and at that of its second wire format, which few have. */
  readonly places: readonly [Place, Place] = [new Place(this), new Place(this)];
  lastError: string | undefined;
  lastErrorAt: number | undefined;
  latencyMs: number | undefined;
  calls = 0;
  failed = 0;
  #apiKey: string;

  constructor(target: string, model: string, apiKey: string) {
    this.target = target;
    this.model = model;
    this.#apiKey = apiKey;
  }

  /** A reload may bring a new credential, of which a refusal of the old one says nothing. */
  use(apiKey: string): void {
    if (apiKey === this.#apiKey) return;
    this.#apiKey = apiKey;
    for (const place of this.places) if (place.cause === 'credential') bringBack(place);
  }
}

/** A target at one address. */
class Place implements Availability {
  readonly state: State;
  outUntil = 0;
  outSince: number | undefined;
  cause: OutCause | undefined;
  /** It is out because the other address refused the credential. */
  isInferred = false;
  /** Times it went out since it last answered. */
  outs = 0;
  /** Failures since it last answered. */
  inARow = 0;
  lastFailedFor: number | undefined;
  lastFailedAt = 0;
  /** Changes when it goes out or comes back; an earlier attempt says nothing about it since. */
  generation = 0;

  constructor(state: State) {
    this.state = state;
  }

  get isAvailable(): boolean {
    return this.outUntil <= Date.now();
  }
}

/**
 * A circuit breaker for each target of this process, by address, credential and model (specification section 12).
 * States: up → out until a time, after which one call tries it (half-open) → up with its first answer, or out again for
 * twice as long. What one account's requests can cause puts a target out only if it comes in a row, or also from another
 * account. A refused credential is refused at both addresses.
 */
export class TargetHealth {
  readonly #log: Log;
  readonly #states = new Map<string, State>();
  /** Places by the catalog's model, which a reload replaces. */
  readonly #byModel = new WeakMap<Model, Place>();

  constructor({ log }: { readonly log: Log }) {
    this.#log = log;
  }

  availability(model: Model): Availability {
    return this.#placeOf(model);
  }

  /** A call of an account is about to be sent to a target. */
  begin(model: Model, accountId: number): AttemptReport {
    const place = this.#placeOf(model);
    const { generation, state } = place;
    state.calls++;
    // Others wait for what this one finds, as long as they would if it failed: its client may leave, and tell nothing.
    if (place.cause !== undefined && place.isAvailable) place.outUntil = Date.now() + nextOutMs(place);
    return {
      answered: (ms) => {
        state.latencyMs =
          state.latencyMs === undefined ? ms : state.latencyMs + (ms - state.latencyMs) * LATENCY_SHARE;
        if (place.generation === generation) this.#answered(place);
      },
      failed: (failure) => {
        state.failed++;
        note(state, failure.error);
        if (place.generation === generation) this.#failed(place, failure, accountId);
      },
      noted: (error) => note(state, error),
    };
  }

  /** A target at the address of the model. */
  report(model: Model): TargetReport {
    return reportOf(this.#placeOf(model));
  }

  /** Every target used in this process; one of two addresses is out if either is. */
  reports(): TargetReport[] {
    return [...this.#states.values()].map(({ places }) =>
      reportOf(places.find(({ cause }) => cause !== undefined) ?? places[0]),
    );
  }

  #placeOf(model: Model): Place {
    const known = this.#byModel.get(model);
    if (known) return known;
    const { slug, upstream } = model;
    const target = targetName(upstream);
    const name = `${target} ${slug}`;
    const state = this.#states.get(name) ?? new State(target, slug, upstream.apiKey);
    state.use(upstream.apiKey);
    this.#states.set(name, state);
    const place = state.places[upstream.isApart ? 1 : 0];
    this.#byModel.set(model, place);
    return place;
  }

  #failed(place: Place, failure: TargetFailure, accountId: number): void {
    const { cause } = failure;
    if (cause === 'forbidden') return;
    const now = Date.now();
    const isOfTwo =
      place.lastFailedFor !== undefined &&
      place.lastFailedFor !== accountId &&
      now - place.lastFailedAt < TWO_ACCOUNTS_MS;
    place.lastFailedFor = accountId;
    place.lastFailedAt = now;
    place.inARow++;
    const isOut = place.cause !== undefined;
    if (isOut || CAUSES[cause] === 'at once' || isOfTwo || place.inARow >= FAILURES_IN_A_ROW)
      this.#out(place, cause, failure);
  }

  #out(place: Place, cause: OutCause, failure: TargetFailure): void {
    const { status, error, retryAfterMs } = failure;
    const isNews = place.cause !== cause;
    const outMs = LASTING.has(cause) ? MAX_OUT_MS : Math.min(MAX_OUT_MS, retryAfterMs ?? nextOutMs(place));
    putOut(place, cause, outMs);
    place.isInferred = false;
    if (cause === 'credential') {
      const other = otherOf(place);
      other.isInferred ||= other.cause !== 'credential';
      putOut(other, cause, outMs);
    }
    if (!isNews) return;
    const { target, model } = place.state;
    const line = cause === 'credential' ? 'target refused the credential of this gateway' : 'target failed';
    this.#log.warn({ target, model, cause, status, error, outMs }, `${line}; calls try other targets first`);
  }

  #answered(place: Place): void {
    place.inARow = 0;
    if (place.cause === undefined) return;
    const { target, model } = place.state;
    bringBack(place);
    if (otherOf(place).isInferred) bringBack(otherOf(place));
    this.#log.info({ target, model }, 'target is back');
  }
}

function otherOf(place: Place): Place {
  const [first, second] = place.state.places;
  return place === first ? second : first;
}

function putOut(place: Place, cause: OutCause, outMs: number): void {
  const now = Date.now();
  if (place.cause !== cause) place.outSince = now;
  place.outs++;
  place.generation++;
  place.cause = cause;
  place.outUntil = now + outMs;
}

function bringBack(place: Place): void {
  place.generation++;
  place.cause = undefined;
  place.isInferred = false;
  place.outUntil = 0;
  place.outSince = undefined;
  place.outs = 0;
  place.inARow = 0;
  place.lastFailedFor = undefined;
}

function nextOutMs({ outs }: Place): number {
  return Math.min(MAX_OUT_MS, FIRST_OUT_MS * 2 ** outs);
}

function note(state: State, error: string): void {
  state.lastError = error;
  state.lastErrorAt = Date.now();
}

function reportOf({ state, cause, outUntil, outSince }: Place): TargetReport {
  const { target, model, lastError, lastErrorAt, latencyMs, calls, failed } = state;
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
