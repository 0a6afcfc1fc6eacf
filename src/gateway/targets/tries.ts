import { type Model, targetName } from '../../domain/catalog.ts';
import type { Usage } from '../../domain/units.ts';
import type { HeldCall } from '../call.ts';
import { billOfCall, type TriedAttempt } from '../settle.ts';
import type { StreamUsage } from '../upstream/stream-usage.ts';
import { causeOf } from './failures.ts';
import { type Conversation, type LastPlaces, placeOf } from './order.ts';
import type { HealthOfTry, TargetFailure, TargetHealth } from './target-health.ts';

/** How an attempt failed, which decides whether the call continues (specification section 12). */
export type FailureKind =
  /** Nothing was sent: the provider can't have begun to bill. */
  | 'unsent'
  /** The provider reported it before the client saw anything of an answer. */
  | 'answered'
  /** It was sent but not answered: the provider may have begun to bill. */
  | 'unsure';

/** Default of `limits.attempts`. */
export const DEFAULT_ATTEMPTS = 3;

export interface TargetSettings {
  readonly health: TargetHealth;
  /** Maximum targets per call. */
  readonly attempts: number;
  /** Whether a call continues after an `unsure` failure. */
  readonly retryUnsure: boolean;
  readonly lastPlaces: LastPlaces;
  readonly streamUsage: StreamUsage;
  /** Decides with a conversation's name which target it has (`Book.secret`). */
  readonly secret: string;
}

/** The possible targets of one call. */
export interface Route {
  /** The call's model at each of them, in order. */
  readonly order: readonly Model[];
  /** Targets that are out, by the time they come back: one of them is asked once all others are out too. */
  readonly out?: readonly Model[];
  /** The call's conversation, if its model has several targets. */
  readonly conversation?: Conversation | undefined;
}

/** The attempts of one call, in sequence. States of each: begun → answered or failed. */
export class Tries {
  /** Most tries that this call can have. */
  readonly most: number;
  readonly #settings: TargetSettings;
  /** The model at each target that may still be asked, in that order. */
  #left: readonly Model[];
  readonly #conversation: Conversation | undefined;
  readonly #accountId: number;
  readonly #failed: TriedAttempt[] = [];
  #repeats = 0;
  #model: Model;
  /** Whether all targets that were left were out when the current one was asked. */
  #isLastResort = false;
  #status: number | null = null;
  #sentAt = performance.now();
  #headAt = 0;
  #health: HealthOfTry;
  #isOver = false;
  /** Whether the target's health has this attempt's outcome. */
  #isReported = false;

  constructor({ order, out = [], conversation }: Route, settings: TargetSettings, accountId: number) {
    this.#model = order[0] as Model;
    this.#left = [...order.slice(1), ...out];
    this.most = Math.min(1 + this.#left.length, settings.attempts);
    this.#conversation = conversation;
    this.#settings = settings;
    this.#accountId = accountId;
    this.#health = settings.health.begin(this.#model, accountId);
  }

  /** The model at the current target. */
  get model(): Model {
    return this.#model;
  }

  /** Whether the model has several targets that this call may use. */
  get isOfSeveral(): boolean {
    return this.#conversation !== undefined;
  }

  get isFirst(): boolean {
    return this.#failed.length === 0;
  }

  /** Status of the current attempt; null: none yet. */
  get status(): number | null {
    return this.#status;
  }

  get retriesUnsure(): boolean {
    return this.#settings.retryUnsure;
  }

  /** All attempts, including the current one. */
  get all(): readonly TriedAttempt[] {
    return this.#isOver ? this.#failed : [...this.#failed, this.#attempt()];
  }

  /** The head of an answer arrived. */
  head(status: number): void {
    this.#status = status;
    this.#headAt = performance.now();
  }

  /** The client gets the target's answer. With a status that a provider's failure has, it counts as one. */
  answered(): void {
    const status = this.#status;
    const cause = status === null ? undefined : causeOf(status);
    this.#isReported = true;
    if (cause) {
      this.#health.failed({ status, cause, error: `HTTP ${status}` });
      return;
    }
    this.#health.answered(this.#headAt - this.#sentAt);
    if (this.#conversation !== undefined)
      this.#settings.lastPlaces.note(this.#conversation, placeOf(this.model));
  }

  /** The current attempt failed. `usage`: reported before the failure. */
  failed(failure: TargetFailure, call: HeldCall, usage?: Usage): void {
    if (!this.#isReported) this.#health.failed(failure);
    this.#isReported = true;
    const spent = usage && { usage, cost: billOfCall(call, usage).cost };
    this.#failed.push({ ...this.#attempt(), ...spent });
    this.#isOver = true;
  }

  /** The answer of the current attempt broke off. */
  broke(error: string): void {
    if (!this.#isReported) this.answered();
    this.#health.noted(error);
  }

  /** The current attempt is made once more at its target, which did not fail. */
  again(): void {
    this.#failed.push(this.#attempt());
    this.#repeats++;
    this.#status = null;
    this.#sentAt = performance.now();
  }

  /** Begins the next attempt after a failure of this kind and returns the model at its target; undefined: none left. */
  next(kind: FailureKind, isJob: boolean): Model | undefined {
    if (isJob ? kind !== 'unsent' : kind === 'unsure' && !this.#settings.retryUnsure) return undefined;
    if (this.#failed.length - this.#repeats >= this.#settings.attempts) return undefined;
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
    this.#health = health.begin(next, this.#accountId);
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
