import { randomUUID } from 'node:crypto';
import type { Catalog } from '../../domain/catalog.ts';
import { placesOf } from '../../domain/catalog.ts';
import type { SharedHints } from '../../ledger/redis/shared-hints.ts';
import type { HealthHints, SharedState, TargetHealth, TargetReport } from './target-health.ts';

/** Interval for reading other gateways' reports. */
const EVERY_MS = 1_000;
/** Ticks after which an unchanged report is renewed, and the age from which another gateway's is ignored. */
const RENEW_TICKS = 20;
const REPORT_AGE_MS = 60_000;
/** How long a gateway's claim of a trial lasts; then another gateway may take it. */
const TRIAL_MS = 5_000;

const STATES = 'targets';
const REPORTS = 'target-reports';

interface Report {
  /** By `Date.now()`. */
  readonly at: number;
  readonly targets: readonly TargetReport[];
}

/** Shares target health between gateways: who is out, who has the trial, and what each gateway saw. */
export class TargetNews implements HealthHints {
  readonly #hints: SharedHints;
  readonly #catalog: () => Catalog;
  readonly #process = randomUUID();
  #health: TargetHealth | undefined;
  #timer: NodeJS.Timeout | undefined;
  #ticks = 0;
  #lastCalls = 0;
  #isReading = false;

  constructor({ hints, catalog }: { readonly hints: SharedHints; readonly catalog: () => Catalog }) {
    this.#hints = hints;
    this.#catalog = catalog;
  }

  /** Starts reading other gateways' reports for `health`. */
  start(health: TargetHealth): void {
    this.#health = health;
    this.#timer = setInterval(() => void this.#tick(health), EVERY_MS);
    this.#timer.unref();
  }

  /** Stops reading and removes this gateway's report. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#health?.close();
    await this.#hints.forget(REPORTS, this.#process).catch(() => {});
  }

  publish(name: string, { outUntil, failures, changedAt }: SharedState): void {
    const text = JSON.stringify({ outUntil, failures, changedAt } satisfies SharedState);
    // A lost hint costs another gateway one failed attempt.
    this.#hints.leave(STATES, name, text).catch(() => {});
  }

  /** Reads the reports first, because another gateway's trial may have ended since. */
  async claimTrial(name: string): Promise<boolean> {
    try {
      const text = await this.#hints.one(STATES, name);
      const isNews = text !== undefined && this.#health?.heard(name, JSON.parse(text) as SharedState);
      return !isNews && (await this.#hints.claim(name, TRIAL_MS));
    } catch {
      return true;
    }
  }

  trialEnded(name: string): void {
    // If this is lost, the next trial waits until the claim expires.
    this.#hints.release(name).catch(() => {});
  }

  /** What all gateways know about the catalog's targets, in its order. */
  async reports(): Promise<TargetReport[]> {
    const others = await this.#othersReports();
    return this.#ownReports().map((own) => {
      const all = [
        own,
        ...others.filter(({ target, model }) => target === own.target && model === own.model),
      ];
      return all.reduce(joined);
    });
  }

  #ownReports(): TargetReport[] {
    const health = this.#health;
    return health ? [...placesOf(this.#catalog())].map((model) => health.report(model)) : [];
  }

  async #othersReports(): Promise<TargetReport[]> {
    const texts = await this.#hints.all(REPORTS).catch(() => ({}));
    const since = Date.now() - REPORT_AGE_MS;
    return Object.entries(texts).flatMap(([process, text]) => {
      if (process === this.#process) return [];
      const { at, targets } = JSON.parse(text) as Report;
      return at >= since ? targets : [];
    });
  }

  async #tick(health: TargetHealth): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      for (const [name, text] of Object.entries(await this.#hints.all(STATES))) {
        health.heard(name, JSON.parse(text) as SharedState);
      }
      await this.#report();
    } catch {
      // Redis is down: this gateway uses only its own observations.
    } finally {
      this.#isReading = false;
    }
  }

  async #report(): Promise<void> {
    const targets = this.#ownReports();
    const calls = targets.reduce((sum, target) => sum + target.calls, 0);
    if (calls === 0 || (calls === this.#lastCalls && ++this.#ticks < RENEW_TICKS)) return;
    this.#ticks = 0;
    this.#lastCalls = calls;
    const report: Report = { at: Date.now(), targets: targets.filter((target) => target.calls > 0) };
    await this.#hints.leave(REPORTS, this.#process, JSON.stringify(report));
  }
}

/**
 * Merges two gateways' reports of a target. The first one, which receives the others' reports, decides whether it is
 * out.
 */
function joined(own: TargetReport, other: TargetReport): TargetReport {
  const newest = (other.lastErrorAt ?? 0) > (own.lastErrorAt ?? 0) ? other : own;
  const calls = own.calls + other.calls;
  const latencies = [own, other].filter(({ latencyMs, calls: of }) => latencyMs !== undefined && of > 0);
  const weight = latencies.reduce((sum, { calls: of }) => sum + of, 0);
  const total = latencies.reduce((sum, { latencyMs = 0, calls: of }) => sum + latencyMs * of, 0);
  return {
    ...own,
    lastError: newest.lastError,
    lastErrorAt: newest.lastErrorAt,
    latencyMs: weight > 0 ? total / weight : own.latencyMs,
    calls,
    failed: own.failed + other.failed,
  };
}
