import { type Model, targetName } from '../../domain/catalog.ts';
import type { Micro } from '../../domain/credits.ts';
import type { Usage } from '../../domain/units.ts';
import type { AttemptRecord } from '../call.ts';
import type { Exchange } from '../upstream/exchange.ts';
import { causeOf } from './failures.ts';
import type { AttemptReport, TargetFailure } from './target-health.ts';

/** How an attempt failed, which decides whether the call continues (specification section 12). */
export type FailureKind =
  /** Nothing was sent: the provider can't have begun to bill. */
  | 'unsent'
  /** The provider reported it before the client saw anything of an answer. */
  | 'answered'
  /** It was sent but not answered: the provider may have begun to bill. */
  | 'uncertain'
  /** No other target would do better. */
  | 'final';

/** The failure of an attempt of which the client has seen nothing. */
export interface AttemptFailure {
  readonly kind: FailureKind;
  readonly failure: TargetFailure;
  /** Usage reported before the failure. */
  readonly usage?: Usage | undefined;
  /** Cost of that to the operator. */
  readonly cost?: Micro | undefined;
  /** Answers the client with this failure. Called once, if no other target answers. */
  show(): void;
}

/** How an attempt ended: the client gets its answer, it is to be repeated without `stream_options`, or it failed. */
export type AttemptOutcome = 'answered' | 'repeat' | AttemptFailure;

/** One attempt of a call at one target. States: begun → answered, repeated or failed. */
export class OpenAttempt implements AttemptRecord {
  readonly model: Model;
  readonly target: string;
  readonly exchange: Exchange;
  /** Resolves before the client has seen anything of an answer. */
  readonly outcome: Promise<AttemptOutcome>;
  /** HTTP status of the answer; null: none yet. */
  status: number | null = null;
  /** When the head arrived, by `performance.now()`. */
  headAt: number | undefined = undefined;
  usage?: Usage;
  cost: Micro | undefined = undefined;
  readonly #report: AttemptReport;
  readonly #onAnswered: () => void;
  readonly #startedAt = performance.now();
  #endedAt: number | undefined;
  #resolve: (outcome: AttemptOutcome) => void = () => {};
  #isDecided = false;

  /** `onAnswered` is called once the target answers well. */
  constructor(model: Model, exchange: Exchange, report: AttemptReport, onAnswered: () => void) {
    this.model = model;
    this.target = targetName(model.upstream);
    this.exchange = exchange;
    this.#report = report;
    this.#onAnswered = onAnswered;
    this.outcome = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  /** Milliseconds from sending it until it failed, or until now. */
  get ms(): number {
    return Math.round((this.#endedAt ?? performance.now()) - this.#startedAt);
  }

  /** Whether the provider refused the call, which then costs nothing. */
  get isRefused(): boolean {
    return this.status !== null && this.status >= 300;
  }

  /** The head of an answer arrived. */
  head(status: number): void {
    this.status = status;
    this.headAt = performance.now();
  }

  /**
   * The client gets this answer: no other target is tried from here on. With a status that a provider's failure has, it
   * counts as one.
   */
  answered(): void {
    if (this.#isDecided) return;
    this.#decide('answered');
    const { status } = this;
    const cause = status === null ? undefined : causeOf(status);
    if (cause) {
      this.#report.failed({ status, cause, error: `HTTP ${status}` });
      return;
    }
    this.#report.answered((this.headAt ?? this.#startedAt) - this.#startedAt);
    this.#onAnswered();
  }

  /** The call is to be sent to this target once more, without `stream_options`. */
  repeat(): void {
    this.#endedAt = performance.now();
    this.#decide('repeat');
  }

  /** The attempt failed before the client saw anything of it. */
  failed(failure: AttemptFailure): void {
    if (this.#isDecided) return;
    this.#endedAt = performance.now();
    if (failure.usage) {
      this.usage = failure.usage;
      this.cost = failure.cost;
    }
    this.#report.failed(failure.failure);
    this.#decide(failure);
  }

  /** The answer broke off after the client had got some of it. */
  broke(error: string): void {
    this.answered();
    this.#report.noted(error);
  }

  #decide(outcome: AttemptOutcome): void {
    this.#isDecided = true;
    this.#resolve(outcome);
  }
}
