import { type Model, targetName } from '../../domain/catalog.ts';
import type { Usage } from '../../domain/units.ts';
import type { HeldCall } from '../call.ts';
import { billOfCall, type TriedAttempt } from '../settle.ts';
import { type LastPlaces, placeOf } from './order.ts';
import type { HealthOfTry, TargetFailure, TargetHealth } from './target-health.ts';

/** How a try failed, which decides whether the call goes on (specification section 12). */
export type FailureKind =
  /** Nothing was sent: the provider cannot have begun to bill. */
  | 'unsent'
  /** The provider said so, before anything of an answer was shown. */
  | 'answered'
  /** It was sent, and no answer came: the provider may have begun to bill. */
  | 'unsure';

/** `limits.attempts` if it is not set. */
export const DEFAULT_ATTEMPTS = 3;

export interface TargetSettings {
  readonly health: TargetHealth;
  /** Most targets that are asked for one call. */
  readonly attempts: number;
  /** Whether a call goes on after an `unsure` failure. */
  readonly retryUnsure: boolean;
  readonly lastPlaces: LastPlaces;
}

/** The targets that may be asked for one call. */
export interface Route {
  /** The call's model at each of them, in order. */
  readonly order: readonly Model[];
  /** The same at targets that are out: the first of them is asked once all the others are out, too. */
  readonly out?: readonly Model[];
  /** The conversation that the call belongs to, if its model has several targets. */
  readonly conversation?: string | undefined;
}

/** The tries of one call, one after the other. States of each: begun → answered or failed. */
export class Tries {
  /** Most tries that this call can have. */
  readonly most: number;
  readonly #settings: TargetSettings;
  /** The model at each target that may still be asked, in that order. */
  #left: readonly Model[];
  readonly #conversation: string | undefined;
  readonly #failed: TriedAttempt[] = [];
  #model: Model;
  /** Whether all targets that were left were out when the current one was asked. */
  #isLastResort = false;
  #status: number | null = null;
  #sentAt = performance.now();
  #health: HealthOfTry;
  #isOver = false;
  /** Whether the health of the current target has heard of this try. */
  #isReported = false;

  constructor({ order, out = [], conversation }: Route, settings: TargetSettings) {
    this.#model = order[0] as Model;
    this.#left = [...order.slice(1), ...out];
    this.most = Math.min(1 + this.#left.length, settings.attempts);
    this.#conversation = conversation;
    this.#settings = settings;
    this.#health = settings.health.begin(this.#model);
  }

  /** The model at the target that is asked now. */
  get model(): Model {
    return this.#model;
  }

  /** Whether the model has several targets, of which this call may ask one or more. */
  get isOfSeveral(): boolean {
    return this.#conversation !== undefined;
  }

  get isFirst(): boolean {
    return this.#failed.length === 0;
  }

  /** Status of the current try; null: none came yet. */
  get status(): number | null {
    return this.#status;
  }

  get retriesUnsure(): boolean {
    return this.#settings.retryUnsure;
  }

  /** Each try so far, the current one too. */
  get all(): readonly TriedAttempt[] {
    return this.#isOver ? this.#failed : [...this.#failed, this.#attempt()];
  }

  /** The head of an answer came. */
  head(status: number): void {
    this.#status = status;
  }

  /** The target has answered as it should. */
  answered(): void {
    this.#isReported = true;
    this.#health.answered(performance.now() - this.#sentAt);
    if (this.#conversation !== undefined)
      this.#settings.lastPlaces.note(this.#conversation, placeOf(this.model));
  }

  /** The call is over; a try without an answer says nothing about its target then. */
  abandoned(): void {
    if (!this.#isReported) this.#health.abandoned();
    this.#isReported = true;
  }

  /** The current try has failed. `usage`: what it reported before. */
  failed(failure: TargetFailure, call: HeldCall, usage?: Usage): void {
    if (!this.#isReported) this.#health.failed(failure);
    this.#isReported = true;
    const spent = usage && { usage, cost: billOfCall(call, usage).cost };
    this.#failed.push({ ...this.#attempt(), ...spent });
    this.#isOver = true;
  }

  /** The answer of the current try broke off after its beginning. */
  broke(error: string): void {
    if (this.#isReported) this.#health.noted(error);
  }

  /** Begins the next try after a failure of this kind, and returns the model at its target; undefined: there is none. */
  next(kind: FailureKind, isJob: boolean): Model | undefined {
    if (isJob ? kind !== 'unsent' : kind === 'unsure' && !this.#settings.retryUnsure) return undefined;
    if (this.#failed.length >= this.#settings.attempts) return undefined;
    const { health } = this.#settings;
    // Each may have gone out since the call came, or come back.
    const up = this.#left.find((model) => health.availability(model).isAvailable);
    const next = up ?? this.#soonestBack();
    if (!next) return undefined;
    this.#isLastResort = !up;
    this.#left = this.#left.filter((model) => model !== next);
    this.#model = next;
    this.#isOver = false;
    this.#isReported = false;
    this.#status = null;
    this.#sentAt = performance.now();
    this.#health = health.begin(next);
    return next;
  }

  /** With all targets out, the one that comes back first is asked, and no other after it. */
  #soonestBack(): Model | undefined {
    if (this.#isLastResort) return undefined;
    const { health } = this.#settings;
    const backAt = (model: Model) => health.availability(model).outUntil;
    return [...this.#left].sort((a, b) => backAt(a) - backAt(b))[0];
  }

  #attempt(): TriedAttempt {
    return {
      target: targetName(this.model.upstream),
      status: this.#status,
      ms: Math.round(performance.now() - this.#sentAt),
    };
  }
}
