import type { Log } from '../log/log.ts';
import type { Settler } from './calls/settler.ts';
import type { JournalDrain } from './journal/drain.ts';
import type { Ledger } from './ledger.ts';
import type { ConnectionGate } from './recovery/connection-gate.ts';
import type { Refunds } from './recovery/grants.ts';
import type { Presence } from './recovery/presence.ts';
import type { Rebuilder } from './recovery/rebuild.ts';
import type { Sweep } from './recovery/sweep.ts';
import type { UnansweredAdmissions } from './recovery/unanswered-admissions.ts';
import type { RedisClock } from './redis/clock.ts';
import { nodesOf, type RedisClient } from './redis/connect.ts';
import type { RedisHealth, RedisReport } from './redis/redis-health.ts';

const SETTLED_WITHIN_MS = 30_000;
/** Difference of clocks that gets a warning. */
const MAX_SKEW_MS = 30_000;

interface OpenLedgerParts {
  /** Every connection; closed with the ledger. */
  readonly clients: readonly RedisClient[];
  readonly background: RedisClient;
  readonly ledger: Ledger;
  readonly settler: Settler;
  readonly gate: ConnectionGate;
  readonly rebuilder: Rebuilder;
  readonly unanswered: UnansweredAdmissions;
  readonly sweep: Sweep;
  readonly drain: JournalDrain;
  readonly refunds: Refunds;
  readonly health: RedisHealth;
  readonly presence: Presence;
  readonly clock: RedisClock;
  readonly log: Log;
}

export class OpenLedger {
  readonly #parts: OpenLedgerParts;
  readonly ledger: Ledger;
  readonly refunds: Refunds;
  readonly drain: JournalDrain;
  readonly sweep: Sweep;
  readonly unanswered: UnansweredAdmissions;
  readonly #heartbeat: Heartbeat;
  #isAway = false;

  constructor(parts: OpenLedgerParts) {
    this.#parts = parts;
    this.ledger = parts.ledger;
    this.refunds = parts.refunds;
    this.drain = parts.drain;
    this.sweep = parts.sweep;
    this.unanswered = parts.unanswered;
    this.#heartbeat = new Heartbeat(parts.clients, () => {
      void parts.health.report();
      this.#noteSkew();
    });
  }

  /** Starts the background loops; the connections must be open. */
  start(): void {
    this.#heartbeat.start();
    this.#parts.presence.start();
    this.drain.start();
    this.sweep.start();
  }

  /** Tries whether Redis takes the writes of calls, at most once a second. Never rejects. */
  check(): Promise<RedisReport> {
    return this.#parts.health.report();
  }

  /** Milliseconds by which this machine's clock is ahead of Redis' (negative: behind); 0 until that is known. */
  clockSkewMs(): number {
    const known = this.#parts.clock.known(0);
    return known === undefined ? 0 : Date.now() - known;
  }

  /**
   * Counts journal entries not yet in the book, across gateways, and the age of the oldest (0 if none). Rejects if a
   * Redis node does not answer.
   */
  async backlog(): Promise<{ readonly entries: number; readonly ageMs: number }> {
    const { entries, oldestAt } = await this.drain.backlog();
    return { entries, ageMs: oldestAt === undefined ? 0 : Math.max(0, this.#parts.clock.now() - oldestAt) };
  }

  /** Logs once that this machine's clock is wrong, by which ledger entries are dated and sessions end. */
  #noteSkew(): void {
    const skewMs = this.clockSkewMs();
    const isAway = Math.abs(skewMs) > MAX_SKEW_MS;
    if (isAway === this.#isAway) return;
    this.#isAway = isAway;
    const line = { aheadSeconds: Math.round(skewMs / 1_000) };
    if (isAway) this.#parts.log.warn(line, "this machine's clock differs from Redis': set it by NTP");
    else this.#parts.log.info(line, "this machine's clock agrees with Redis' again");
  }

  /** Settlements that Redis has not answered yet. */
  openSettlements(): number {
    return this.#parts.settler.open;
  }

  /**
   * Resolves when every settle is answered, the book has every journal entry, and diverged accounts are rebuilt.
   * Rejects if it fails.
   */
  async settled(): Promise<void> {
    if (!(await this.#parts.settler.idle(SETTLED_WITHIN_MS)))
      throw new Error('redis has not answered every settle');
    await this.drain.drainAll();
    await this.#parts.rebuilder.rebuildDiverged();
  }

  /**
   * Finishes settles, reconciles Redis with the book if it may have lost some, releases the holds of unanswered
   * admissions, drains the journal and closes, within `deadlineMs`. Any other gateway can drain the journal; the rest
   * only this process knows. Resolves with whether the journal is empty.
   */
  async close(deadlineMs: number): Promise<boolean> {
    const until = Date.now() + deadlineMs;
    if (!(await this.#parts.settler.idle(deadlineMs))) {
      this.#parts.log.error(
        { settlements: this.#parts.settler.open },
        'stopped before redis confirmed every settle; these holds will expire',
      );
    }
    // Settles that Redis lost exist only in this process, so it must replay them before it exits.
    await this.#parts.gate.awaitReconciled(until - Date.now()).catch((error: unknown) => {
      this.#parts.log.error(
        { err: error },
        'stopped before comparing redis with the book; redis may lack the latest charges',
      );
    });
    this.#parts.settler.stop();
    const unanswered = await this.sweep.stop(until - Date.now());
    if (unanswered > 0) {
      this.#parts.log.error(
        { admissions: unanswered },
        'stopped before redis released the holds of unanswered admissions; they will expire',
      );
    }
    const isEmpty = await this.drain.stop(Math.max(0, until - Date.now()));
    await this.#parts.presence.leave();
    this.#disconnect();
    return isEmpty;
  }

  /** Drops the connections at once, like a killed process. For tests. */
  abandon(): void {
    this.#parts.settler.stop();
    this.drain.abandon();
    void this.sweep.stop(0);
    this.#disconnect();
  }

  #disconnect(): void {
    this.#heartbeat.stop();
    this.#parts.presence.stop();
    for (const client of this.#parts.clients) client.disconnect();
  }
}

const EVERY_MS = 1_000;

/**
 * Pings every connection each second, so that a connection that loses replies is replaced even while idle (SILENCE in
 * connect.ts counts from a command). Otherwise the first call after a quiet time would wait a second in vain and get
 * 503.
 */
export class Heartbeat {
  readonly #clients: readonly RedisClient[];
  readonly #onBeat: () => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(clients: readonly RedisClient[], onBeat: () => void = () => {}) {
    this.#clients = clients;
    this.#onBeat = onBeat;
  }

  start(): void {
    this.#timer = setInterval(() => this.#beat(), EVERY_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #beat(): void {
    this.#onBeat();
    for (const node of this.#clients.flatMap(nodesOf)) {
      // A connection in progress reports its own failure.
      if (node.status === 'ready') node.ping().catch(() => {});
    }
  }
}
