import type { Cluster, Redis } from 'ioredis';
import type { Log } from '../log/log.ts';
import type { Settler } from './calls/settler.ts';
import type { JournalDrain } from './journal/drain.ts';
import type { Ledger } from './ledger.ts';
import type { ConnectionGate } from './recovery/connection-gate.ts';
import type { Refunds } from './recovery/grants.ts';
import type { Rebuilder } from './recovery/rebuild.ts';
import type { Sweep } from './recovery/sweep.ts';
import type { UnansweredAdmissions } from './recovery/unanswered-admissions.ts';
import type { RedisClock } from './redis/clock.ts';
import { nodesOf, type RedisClient } from './redis/connect.ts';

const SETTLED_WITHIN_MS = 30_000;

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

  constructor(parts: OpenLedgerParts) {
    this.#parts = parts;
    this.ledger = parts.ledger;
    this.refunds = parts.refunds;
    this.drain = parts.drain;
    this.sweep = parts.sweep;
    this.unanswered = parts.unanswered;
    this.#heartbeat = new Heartbeat(parts.clients);
  }

  /** Starts the background loops; the connections must be open. */
  start(): void {
    this.#heartbeat.start();
    this.drain.start();
    this.sweep.start();
  }

  /** Returns faults of Redis' persistence. Rejects if Redis does not answer. */
  check(): Promise<string[]> {
    return durabilityFaults(this.#parts.background);
  }

  /**
   * Counts journal entries not yet in the book, across gateways, and the age of the oldest (0 if none). Rejects if a
   * Redis node does not answer.
   */
  async backlog(): Promise<{ readonly entries: number; readonly ageMs: number }> {
    const { entries, oldestAt } = await this.drain.backlog();
    return { entries, ageMs: oldestAt === undefined ? 0 : Math.max(0, this.#parts.clock.now() - oldestAt) };
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
   * only this process knows.
   */
  async close(deadlineMs: number): Promise<void> {
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
    await this.drain.stop(Math.max(0, until - Date.now()));
    this.#disconnect();
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
    for (const client of this.#parts.clients) client.disconnect();
  }
}

/**
 * Finds settings that let Redis lose data (specification section 1). Rejects if no node answers. A missing node of a
 * cluster is only a fault, because the other nodes still serve their accounts.
 */
async function durabilityFaults(client: Redis | Cluster): Promise<string[]> {
  const faults = new Set<string>();
  // INFO instead of CONFIG GET, which hosted servers often refuse.
  const infos = await Promise.allSettled(
    nodesOf(client).map(async (node) => `${await node.info('persistence')}${await node.info('memory')}`),
  );
  const answers = infos.filter((info) => info.status === 'fulfilled');
  if (answers.length === 0) throw new Error('no node of redis answers');
  if (answers.length < infos.length) faults.add('a node of the cluster does not answer');
  for (const { value: info } of answers) {
    if (!/^aof_enabled:1\s*$/m.test(info)) {
      faults.add(
        'append-only persistence is off (appendonly no): a restart of Redis loses credits and holds',
      );
    }
    const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1];
    if (policy && policy !== 'noeviction') {
      faults.add(`maxmemory-policy is ${policy}: Redis may drop balances (use noeviction)`);
    }
  }
  return [...faults];
}

const EVERY_MS = 1_000;

/**
 * Pings every connection each second, so that a connection that loses replies is replaced even while idle (SILENCE in
 * connect.ts counts from a command). Otherwise the first call after a quiet time would wait a second in vain and get
 * 503.
 */
export class Heartbeat {
  readonly #clients: readonly RedisClient[];
  #timer: NodeJS.Timeout | undefined;

  constructor(clients: readonly RedisClient[]) {
    this.#clients = clients;
  }

  start(): void {
    this.#timer = setInterval(() => this.#beat(), EVERY_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #beat(): void {
    for (const node of this.#clients.flatMap(nodesOf)) {
      // A connection in progress reports its own failure.
      if (node.status === 'ready') node.ping().catch(() => {});
    }
  }
}
