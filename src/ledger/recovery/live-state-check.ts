import type { Cluster, Redis } from 'ioredis';
import type { Book } from '../../book/book.ts';
import { BookUnavailable } from '../../book/store.ts';
import type { Log } from '../../log/log.ts';
import type { Publisher } from '../publisher.ts';
import type { NodeCommands } from '../redis/bucket-owners.ts';
import type { RedisClock } from '../redis/clock.ts';
import { ALL_BUCKETS, accountRedisKey, bucketOf, knownRedisKey } from '../redis/redis-keys.ts';
import type { Rebuilder } from './rebuild.ts';

/**
 * Margins before the last checkpoint of a Redis. Accounts with entries since are compared, and keys and accounts
 * changed since are republished. Redis lacks seconds at most; the rest allows for differing gateway clocks.
 */
const RECENT_MS = 3_600_000;
const CHANGED_MS = 600_000;
/** Accounts whose state is read from Redis at a time, which bounds the commands in flight. */
const READ_AT_ONCE = 1_000;
/** Maximum comparisons; the last rebuild must be followed by one that finds no account behind. */
const COMPARISONS = 3;

/** This gateway's recent settles, replayed if Redis lost them. */
export interface Replays {
  /** Keeps a bucket's recent settles until `replay`: its node may have lost its last seconds. */
  pin(bucket: number): void;
  /** Whether the bucket has settles to replay if Redis lost them. */
  hasReplayable(bucket: number): boolean;
  /** Replays settles that are neither in Redis nor in the book. Rejects if either is unavailable. */
  replay(buckets: ReadonlySet<number>): Promise<void>;
}

interface LiveStateCheckParts {
  readonly book: Book;
  readonly log: Log;
  readonly rebuilder: Rebuilder;
  readonly replays: Replays;
  readonly publisher: Publisher;
  readonly clock: RedisClock;
}

export class LiveStateCheck {
  readonly #parts: LiveStateCheckParts;

  constructor(parts: LiveStateCheckParts) {
    this.#parts = parts;
  }

  /**
   * Resolves when these buckets, all on the node `reader`, are up to date with the book. Rejects with the Redis error
   * or BookUnavailable.
   */
  async verify(buckets: ReadonlySet<number>, reader: NodeCommands): Promise<void> {
    // Their node's clock must be known before it admits a call.
    const [bucket] = buckets;
    await this.#parts.clock.adjust(bucket);
    const until = await lastCheckpoint(buckets, reader);
    // First, so that an account that can't be rebuilt does not keep deletions from Redis.
    const concerns = (accountId: number) => buckets.has(bucketOf(accountId));
    await this.#parts.publisher.publishChangedSince(until - CHANGED_MS, concerns);
    await this.#parts.publisher.publishUnpublished(concerns);
    const all = await this.#parts.book.recentAccounts(until - RECENT_MS);
    const recent = all.filter(({ id }) => concerns(id));
    for (let comparison = 1; ; comparison++) {
      const behind = await behindOf(recent, reader);
      if (behind.length === 0) break;
      if (comparison === COMPARISONS) throw new Error('accounts are behind the book again and again');
      this.#parts.log.warn(
        { accounts: behind.length },
        'redis lost entries that the book has; rebuilding these accounts',
      );
      for (const { id, epoch } of behind) await this.#parts.rebuilder.rebuild(id, { epoch });
    }
    await this.#parts.replays.replay(buckets);
  }
}

type Recent = Awaited<ReturnType<Book['recentAccounts']>>;

async function behindOf(recent: Recent, reader: NodeCommands): Promise<Recent> {
  const live: (string | null)[][] = [];
  for (let at = 0; at < recent.length; at += READ_AT_ONCE) {
    const page = recent.slice(at, at + READ_AT_ONCE);
    live.push(...(await Promise.all(page.map(({ id }) => reader.hmget(accountRedisKey(id), 'ep', 'seq')))));
  }
  return recent.filter(({ seq, epoch }, index) => {
    const [liveEpoch, liveSeq] = live[index] ?? [];
    // An absent account is rebuilt at its next use; one of a later epoch was rebuilt meanwhile.
    if (!liveEpoch || Number(liveEpoch) > epoch) return false;
    return Number(liveEpoch) < epoch || Number(liveSeq) < seq;
  });
}

/**
 * Checkpoint: the time until which a node is known to have every write to a bucket, stored in the bucket itself while
 * the node serves it. A Redis that comes back without its last seconds shows when they were, however long it was down.
 */

/** Milliseconds since the epoch, by gateway clocks; now, without a checkpoint. Rejects with the Redis error. */
async function lastCheckpoint(buckets: Iterable<number>, reader: NodeCommands): Promise<number> {
  const noted = await Promise.all([...buckets].map((bucket) => reader.hmget(knownRedisKey(bucket), 'until')));
  return Math.min(Date.now(), ...noted.flatMap(([until]) => (until ? Number(until) : [])));
}

/** Records that the node has every write to these buckets until now. */
export async function recordCheckpoint(buckets: readonly number[], writer: NodeCommands): Promise<void> {
  const now = Date.now();
  await Promise.all(buckets.map((bucket) => writer.hset(knownRedisKey(bucket), 'until', now)));
}

/**
 * The book was restored from a backup: Redis has newer ids. With that Redis, the book would reassign the ids of lost
 * accounts and keys, and a new owner would get the balance and key of a lost account.
 */
export class BookOlderThanRedis extends Error {
  override readonly name = 'BookOlderThanRedis';

  constructor(evidence: string) {
    super(
      `The book is older than the data in Redis (${evidence}), as after restoring a backup. Restore with ` +
        '`tollgate restore`, or give the book a new identity, as docs/operating.md says under "Other backups".',
    );
  }
}

/**
 * Rejects with BookOlderThanRedis if the book lacks the newest drained entry or the newest key of a bucket. Changes
 * nothing, so that the next start finds the same. Safe while other gateways serve. Resolves if the book does not
 * answer.
 */
export async function refuseRestoredBook(client: Redis | Cluster, book: Book, log: Log): Promise<void> {
  // Read before the book: ids noted later may reach the book later.
  const known = await Promise.all(
    ALL_BUCKETS.map((bucket) => client.hmget(knownRedisKey(bucket), 'entry', 'key')),
  );
  const entries = known.flatMap(([entry]) => entry ?? []);
  const keys = known.flatMap(([, key]) => (key ? Number(key) : []));
  try {
    const [bookedEntries, bookedKeys] = await Promise.all([book.entriesAmong(entries), book.keysAmong(keys)]);
    const lostEntry = entries.find((id) => !bookedEntries.has(id));
    if (lostEntry !== undefined) throw new BookOlderThanRedis(`it lacks ledger entry ${lostEntry}`);
    const lostKey = keys.find((id) => !bookedKeys.has(id));
    if (lostKey !== undefined) throw new BookOlderThanRedis(`it lacks key ${lostKey}`);
  } catch (error) {
    if (!(error instanceof BookUnavailable)) throw error;
    log.warn({ err: error }, 'failed to compare the book with redis');
  }
}
