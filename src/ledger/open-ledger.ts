import type { Book } from '../book/book.ts';
import type { RedisAddress } from '../config/redis-url.ts';
import type { Log } from '../log/log.ts';
import { Admissions } from './calls/admissions.ts';
import { Settler } from './calls/settler.ts';
import { WaitingCalls } from './calls/waiting-calls.ts';
import { Refunds } from './grants/refunds.ts';
import { JournalDrain } from './journal/drain.ts';
import type { Ledger, Stale } from './ledger.ts';
import { Publisher } from './publisher.ts';
import { ConnectionGate } from './recovery/connection-gate.ts';
import { LiveStateCheck } from './recovery/live-state-check.ts';
import { Rebuilder } from './recovery/rebuild.ts';
import { refuseRestoredBook } from './recovery/restored-book.ts';
import { type Holds, Sweep } from './recovery/sweep.ts';
import { BucketOwners } from './redis/bucket-owners.ts';
import { RedisClock } from './redis/clock.ts';
import { connectRedis, createRedis, nodesOf } from './redis/connect.ts';
import { durabilityFaults } from './redis/durability.ts';
import { bucketOf, redisKeyPrefix } from './redis/redis-keys.ts';
import { ReplicaWait } from './redis/replica-wait.ts';
import { ScriptSender } from './redis/script-sender.ts';
import { TickWriter } from './redis/tick-writer.ts';
import { RedisLedger } from './redis-ledger.ts';

/** A hold outlives the longest request by this: settling itself takes time. */
const HOLD_MARGIN_MS = 60_000;

const SETTLED_WITHIN_MS = 30_000;
const CONNECT_WITHIN_MS = 10_000;
/** Comparing the accounts of a busy hour with the book takes longer than a call may wait. */
const OPEN_WITHIN_MS = 30_000;

export interface OpenLedger {
  readonly ledger: Ledger;
  readonly sweep: Sweep;
  readonly drain: JournalDrain;
  readonly refunds: Refunds;
  /** Rejects when Redis does not answer; else what is wrong with its persistence, empty: nothing. */
  check(): Promise<string[]>;
  /** Entries of all gateways that are not in the book yet, and the age of the oldest; 0: there is none. Rejects as `check`. */
  backlog(): Promise<{ readonly entries: number; readonly ageMs: number }>;
  /** Entries that the book does not take, as they were 2 s ago or less. */
  refusedEntries(): number;
  /** The holds of all gateways, as they were 15 s ago or less. */
  holds(): Holds;
  /** Settlements that Redis has not answered yet. */
  openSettlements(): number;
  /** Resolves when every settle is answered and every journal is in the book. Rejects where either cannot be. */
  settled(): Promise<void>;
  /** Answers every settle, drains the journal, closes. `deadlineMs` at most; what is left, the next start does. */
  close(deadlineMs: number): Promise<void>;
  /** Drops the connections at once, as a killed process would. For tests. */
  abandon(): void;
}

export interface LedgerBounds {
  /** Calls that wait for Redis at once. */
  readonly waitingCalls: number;
  /** Entries that wait for the book, of all gateways. */
  readonly journalEntries: number;
}

const UNBOUNDED: LedgerBounds = { waitingCalls: Infinity, journalEntries: Infinity };

/** Connects, checks and starts the background work. Rejects where Redis cannot be reached, or with BookOlderThanRedis. */
export async function openLedger(options: {
  address: RedisAddress;
  book: Book;
  log: Log;
  requestTimeoutMs: number;
  onAlerts: () => void;
  /** Replicas that must have a hold before its call goes on. */
  waitReplicas?: number;
  bounds?: LedgerBounds;
}): Promise<OpenLedger> {
  const { address, book, log, bounds = UNBOUNDED } = options;
  const keyPrefix = redisKeyPrefix(book.id);
  const client = createRedis(address, { name: 'calls', keyPrefix, log });
  // The journal is read over a connection of its own: a large reply must not stand in front of an admission.
  const background = createRedis(address, { name: 'background', keyPrefix, log });
  const writer = new TickWriter(client);
  const scripts = new ScriptSender(client, writer);
  const clock = new RedisClock(() => {
    const node = nodesOf(background).find(({ status }) => status === 'ready');
    return node?.time() ?? Promise.reject(new Error('no node of redis is connected'));
  });
  const owners = new BucketOwners(client);
  const rebuild = (accountId: number, stale?: Stale) => rebuilder.rebuild(accountId, stale);
  const drain = new JournalDrain({
    client: background,
    book,
    log,
    rebuild,
    onAlerts: options.onAlerts,
    maxEntries: bounds.journalEntries,
  });
  // Not over the calls' connection: that one may wait for the very check that publishes.
  const publisher = new Publisher(background, book, log);
  const drainBucket = (bucket: number) => drain.drain(bucket);
  const touch = (bucket: number) => drain.touch(bucket);
  const rebuilder = new Rebuilder({ client: background, book, log, drain: drainBucket, touch });
  const entriesAmong = (bucket: number, ids: readonly string[]) => drain.entriesAmong(bucket, ids);
  const sweep = new Sweep({
    client: background,
    book,
    log,
    clock,
    rebuild,
    drain: drainBucket,
    touch,
    entriesAmong,
    undrained: (bucket) => drain.undrained(bucket),
    grant: (grant) => ledger.grant(grant),
    publishKey: (key) => publisher.publishKey(key),
    publishAccount: (account) => publisher.publishAccount(account),
  });
  const settler = new Settler({
    background,
    writer,
    scripts,
    log,
    settled: touch,
    rebuild,
    entriesAmong,
    release: (call) => sweep.cancel(call),
  });
  const check = new LiveStateCheck({
    book,
    log,
    rebuild,
    replay: (buckets) => settler.replay(buckets),
    republish: async (changedSince, buckets) => {
      const concerns = (accountId: number) => buckets.has(bucketOf(accountId));
      await sweep.republishSince(changedSince, concerns);
      await sweep.republish(concerns);
    },
    adjustClock: () => clock.adjust(),
  });
  const gate = new ConnectionGate({
    client,
    owners,
    check,
    log,
    opened: touch,
    closed: (bucket) => settler.pin(bucket),
  });
  const holdTtlMs = options.requestTimeoutMs + HOLD_MARGIN_MS;
  const replicas = new ReplicaWait(owners, options.waitReplicas ?? 0);
  const waiting = new WaitingCalls(bounds.waitingCalls, () => scripts.late);
  const ledger = new RedisLedger({
    client,
    writer,
    admissions: new Admissions({ scripts, gate, rebuilder, sweep, clock, replicas, waiting, holdTtlMs }),
    gate,
    settler,
    drain,
    rebuilder,
    book,
    publisher: new Publisher(client, book, log),
    waiting,
  });

  try {
    await connectRedis(background, CONNECT_WITHIN_MS);
    // Before the gate opens, which rebuilds accounts and so takes the evidence away.
    await refuseRestoredBook(background, book, log);
    await connectRedis(client, CONNECT_WITHIN_MS);
    await gate.allOpened(OPEN_WITHIN_MS);
  } catch (error) {
    client.disconnect();
    background.disconnect();
    throw error;
  }
  drain.start();
  sweep.start();

  return {
    ledger,
    sweep,
    drain,
    refunds: new Refunds({ client, gate, book, drain, rebuild }),
    check: () => durabilityFaults(background),
    async backlog() {
      const { entries, oldestAt } = await drain.backlog();
      return { entries, ageMs: oldestAt === undefined ? 0 : Math.max(0, clock.now() - oldestAt) };
    },
    refusedEntries: () => drain.refused,
    holds: () => sweep.holds,
    openSettlements: () => settler.open,
    async settled() {
      if (!(await settler.idle(SETTLED_WITHIN_MS))) throw new Error('redis has not answered every settle');
      await drain.drainAll();
    },
    async close(deadlineMs) {
      const until = Date.now() + deadlineMs;
      if (!(await settler.idle(deadlineMs))) {
        log.error(
          { settlements: settler.open },
          'stopped before redis had every settle; these holds will expire',
        );
      }
      settler.stop();
      await sweep.stop();
      await drain.stop(Math.max(0, until - Date.now()));
      client.disconnect();
      background.disconnect();
    },
    abandon() {
      settler.stop();
      drain.abandon();
      void sweep.stop();
      client.disconnect();
      background.disconnect();
    },
  };
}
