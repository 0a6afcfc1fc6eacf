import type { Log } from '../../log/log.ts';
import { Failures, Loop } from '../../log/loop.ts';
import type { Publisher } from '../publisher.ts';
import type { RedisClock } from '../redis/clock.ts';
import type { ConnectionGate } from './connection-gate.ts';
import type { ExpiredHolds, Holds } from './expired-holds.ts';
import type { PendingGrants } from './grants.ts';
import type { Rebuilder } from './rebuild.ts';
import type { UnansweredAdmissions } from './unanswered-admissions.ts';

/** Holds of unanswered admissions are released within 10 s (specification section 5). */
const CANCEL_MS = 500;
/** Maximum retry delay, so that the 10 s also hold after a long outage of Redis. */
const CANCEL_BACKOFF_MS = 2_000;
/** Retry delay while the gateway stops. */
const STOPPING_MS = 100;
const EXPIRE_MS = 15_000;
const REPAIR_MS = 5_000;
/** Much shorter than RECENT_MS and CHANGED_MS (live-state-check.ts). */
const KNOWN_MS = 60_000;

interface SweepParts {
  readonly log: Log;
  readonly clock: RedisClock;
  readonly publisher: Publisher;
  readonly rebuilder: Rebuilder;
  readonly unanswered: UnansweredAdmissions;
  readonly expiredHolds: ExpiredHolds;
  readonly pendingGrants: PendingGrants;
  readonly gate: ConnectionGate;
}

export class Sweep {
  readonly #parts: SweepParts;
  readonly #loops: readonly Loop[];

  constructor(parts: SweepParts) {
    this.#parts = parts;
    const { log } = parts;
    const cancel = () => this.cancelUnanswered();
    this.#loops = [
      new Loop('cancelling unanswered admissions', CANCEL_MS, cancel, log, { longestMs: CANCEL_BACKOFF_MS }),
      new Loop('releasing expired holds', EXPIRE_MS, () => this.#expireDue(), log),
      new Loop('repairing publications and grants', REPAIR_MS, () => this.repair(), log),
      new Loop('noting until when redis has everything', KNOWN_MS, () => parts.gate.recordCheckpoint(), log),
    ];
  }

  start(): void {
    for (const loop of this.#loops) loop.start();
  }

  /**
   * Stops the loops, then cancels unanswered admissions, which only this process knows, for up to `withinMs`. Returns
   * how many remain; their holds may stay until their deadline. Never rejects.
   */
  async stop(withinMs: number): Promise<number> {
    const until = Date.now() + withinMs;
    await Promise.all(this.#loops.map((loop) => loop.stop()));
    for (;;) {
      await this.cancelUnanswered().catch(() => {});
      const left = this.#parts.unanswered.count;
      if (left === 0 || Date.now() >= until) return left;
      await new Promise((resolve) => setTimeout(resolve, STOPPING_MS));
    }
  }

  /** Cancels unanswered admissions due at `now` (ms since the epoch). Rejects if Redis did not answer. */
  async cancelUnanswered(now = Date.now()): Promise<void> {
    await this.#parts.unanswered.cancel(now);
  }

  /** Releases holds with a deadline before `now` (ms since the epoch). Rejects if some fail. */
  async expireHolds(now: number): Promise<void> {
    await this.#parts.expiredHolds.release(() => now);
  }

  /** Holds of all gateways, at most EXPIRE_MS old. */
  get holds(): Holds {
    return this.#parts.expiredHolds.live;
  }

  /**
   * Publishes records that Redis may lack, applies pending grants, and retries failed rebuilds of diverged accounts.
   */
  async repair(): Promise<void> {
    const failures = new Failures();
    await failures.collect(this.#parts.publisher.publishUnpublished());
    await failures.collect(this.#parts.pendingGrants.apply());
    await failures.collect(this.#parts.rebuilder.rebuildDiverged());
    failures.throwAny();
  }

  async #expireDue(): Promise<void> {
    await this.#parts.clock.adjust();
    await this.#parts.expiredHolds.release((bucket) => this.#parts.clock.known(bucket));
  }
}
