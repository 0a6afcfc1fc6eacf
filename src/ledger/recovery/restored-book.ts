import type { Cluster, Redis } from 'ioredis';
import type { Book } from '../../book/book.ts';
import { BookUnavailable } from '../../book/store.ts';
import type { Log } from '../../log/log.ts';
import { ALL_BUCKETS, knownRedisKey } from '../redis/redis-keys.ts';

/**
 * The book was restored from a backup: Redis shows that it once had more. Beside that Redis it would give the ids of lost
 * accounts and keys out again, and a new owner would find the balance and the key of a lost account.
 */
export class BookOlderThanRedis extends Error {
  override readonly name = 'BookOlderThanRedis';

  constructor(evidence: string) {
    super(
      `The book is older than the data in Redis (${evidence}), as after restoring a backup. With all gateways stopped, ` +
        'run "update identity set id = \'<a new one>\'" on the book, as docs/operating.md says under "Restore".',
    );
  }
}

/**
 * Rejects with BookOlderThanRedis if the book lacks ids that Redis knows it had: the entries that were drained last
 * and the keys that were made last, by bucket. Changes nothing, so that the next start finds the same. May run beside
 * gateways that serve. Resolves if the book does not answer.
 */
export async function refuseRestoredBook(client: Redis | Cluster, book: Book, log: Log): Promise<void> {
  // Before the book is asked: ids noted later may be in the book later.
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
    log.warn({ err: error }, 'the book could not be compared with redis');
  }
}
