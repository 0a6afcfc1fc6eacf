import type { Cluster, Redis } from 'ioredis';
import { type Book, BookUnavailable } from '../../book/book.ts';
import type { Log } from '../../log/log.ts';
import { readJournalEntry } from '../journal/entry-text.ts';
import { accountRedisKey, bucketOf, journalRedisKey } from '../redis/redis-keys.ts';

/** Most accounts that Redis is asked for at once, and most entries of a journal that one reply holds. */
const AT_ONCE = 1_000;
/** Account ids beyond the newest of the book that Redis is asked for: accounts that were made after the backup. */
const PROBED_IDS = 20;

/**
 * The book was restored from a backup: Redis shows that it once had more. Beside that Redis it would give the ids of lost
 * accounts and keys out again, and a new owner would find the balance and the key of a lost account.
 */
export class BookOlderThanRedis extends Error {
  override readonly name = 'BookOlderThanRedis';

  constructor(evidence: string) {
    super(
      `The book is older than what Redis holds of it (${evidence}), as after restoring a backup. With all gateways stopped, ` +
        'run "update identity set id = \'<a new one>\'" on the book, as docs/operating.md says under "Restore".',
    );
  }
}

/**
 * Rejects with BookOlderThanRedis where the book was restored from a backup and Redis was not emptied. Changes nothing, so
 * that the next start finds the same. May run beside gateways that serve. Resolves where the book does not answer.
 */
export async function refuseRestoredBook(client: Redis | Cluster, book: Book, log: Log): Promise<void> {
  try {
    const accounts = await book.recentAccounts(0);
    for (let at = 0; at < accounts.length; at += AT_ONCE) {
      await refuseLostEntries(client, book, accounts.slice(at, at + AT_ONCE));
    }
    const newest = accounts.reduce((max, { id }) => Math.max(max, id), 0);
    await refuseLostAccounts(client, book, newest);
  } catch (error) {
    if (!(error instanceof BookUnavailable)) throw error;
    log.warn({ err: error }, 'the book could not be compared with redis');
  }
}

/**
 * Compares the seq of each account. An entry that Redis has counted is in the journal until it is in the book. So where the
 * next entry of an account is not in its journal, it was in the book by then; if the book does not have it when asked after
 * that, the book lost it.
 */
async function refuseLostEntries(
  client: Redis | Cluster,
  book: Book,
  accounts: readonly { id: number; seq: number }[],
): Promise<void> {
  const counted = await Promise.all(accounts.map(({ id }) => client.hget(accountRedisKey(id), 'seq')));
  const ahead = accounts.filter(({ seq }, index) => Number(counted[index] ?? 0) > seq);
  if (ahead.length === 0) return;
  const missing: typeof ahead = [];
  for (const account of ahead) if (!(await isNextInJournal(client, account))) missing.push(account);
  const now = new Map((await book.recentAccounts(0)).map(({ id, seq }) => [id, seq]));
  const lost = missing.find(({ id, seq }) => now.get(id) === seq);
  if (lost) throw new BookOlderThanRedis(`account ${lost.id} lacks ledger entries after number ${lost.seq}`);
}

async function isNextInJournal(
  client: Redis | Cluster,
  { id, seq }: { id: number; seq: number },
): Promise<boolean> {
  let from = '-';
  for (;;) {
    const entries = await client.xrange(journalRedisKey(bucketOf(id)), from, '+', 'COUNT', AT_ONCE);
    for (const [, fields] of entries) {
      const entry = readJournalEntry(fields[1]);
      if (entry?.accountId === id && entry.seq === seq + 1) return true;
    }
    const last = entries.at(-1)?.[0];
    if (entries.length < AT_ONCE || !last) return false;
    from = `(${last}`;
  }
}

async function refuseLostAccounts(client: Redis | Cluster, book: Book, newest: number): Promise<void> {
  const ids = Array.from({ length: PROBED_IDS }, (_, index) => newest + 1 + index);
  const live = await Promise.all(ids.map((id) => client.exists(accountRedisKey(id))));
  for (const id of ids.filter((_, index) => live[index] === 1)) {
    if (!(await book.account(id))) throw new BookOlderThanRedis(`account ${id} is unknown to it`);
  }
}
