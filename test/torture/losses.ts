import { readdirSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import type { ChainableCommander, Redis } from 'ioredis';
import { parseHold, parseJournalEntry } from '../../src/ledger/entry-text.ts';
import { BUCKETS, holdsName, journalName } from '../../src/ledger/names.ts';
import type { RedisProcess } from '../helper/redis-process.ts';
import type { Loss, LostEntry, LostHold } from './model.ts';

type Volatile = Pick<Loss, 'entries' | 'holds'>;

/** FLUSHALL, and what it takes along, in one transaction: nothing comes between the look and the loss. */
export async function empty(raw: Redis): Promise<Loss> {
  let time: unknown;
  const had = await look(
    raw,
    (transaction) => transaction.time().flushall(),
    (replies) => {
      time = replies[0]?.[1];
    },
  );
  const [seconds, microseconds] = time as [string, string];
  const now = Number(seconds) * 1_000 + Number(microseconds) / 1_000;
  const ages = [...had.entries.values()].map(({ journalledAt }) => now - journalledAt);
  return { at: Date.now(), ...had, lagMs: Math.max(0, ...ages), revived: new Set() };
}

/**
 * Redis dies and comes back as it was a moment ago, as after a failover or on a machine that died between two syncs of
 * its append-only file. `meanwhile` is the moment.
 */
export async function setBack(redis: RedisProcess, raw: Redis, meanwhile: Promise<unknown>): Promise<Loss> {
  const file = appendOnlyFile(redis.folder);
  const size = statSync(file).size;
  await meanwhile;
  // Writes wait from here on, so what is seen is what there is when it dies.
  await raw.client('PAUSE', 60_000, 'WRITE');
  const before = await look(raw);
  await redis.kill();
  const at = Date.now();
  truncateSync(file, size);
  await redis.start();
  const after = await look(raw);
  // A gateway may have taken new ones already.
  const revived = [...without(after.holds, before.holds)].filter(([, hold]) => hold.createdAt < at);
  return {
    at,
    entries: without(before.entries, after.entries),
    holds: without(before.holds, after.holds),
    revived: new Set(revived.map(([id]) => id)),
  };
}

type Replies = readonly [error: Error | null, reply: unknown][];

async function look(
  raw: Redis,
  more = (transaction: ChainableCommander) => transaction,
  onMore: (replies: Replies) => void = () => {},
): Promise<Volatile> {
  const transaction = raw.multi();
  for (let bucket = 0; bucket < BUCKETS; bucket++) {
    transaction.xrange(journalName(bucket), '-', '+').hgetall(holdsName(bucket));
  }
  const replies = (await more(transaction).exec()) ?? [];
  onMore(replies.slice(2 * BUCKETS));
  const entries = new Map<string, LostEntry>();
  const holds = new Map<string, LostHold>();
  for (const [index, [error, reply]] of replies.slice(0, 2 * BUCKETS).entries()) {
    if (error) throw error;
    if (index % 2 === 0) {
      for (const [streamId, [, text]] of reply as [string, [string, string]][]) {
        const { id, accountId, keyId, credits, createdAt } = parseJournalEntry(text);
        entries.set(id, {
          accountId,
          keyId,
          credits,
          createdAt,
          journalledAt: Number.parseInt(streamId, 10),
        });
      }
      continue;
    }
    for (const [id, text] of Object.entries(reply as Record<string, string>)) {
      const { accountId, keyId } = parseHold(text);
      // A mark against a repeat is no hold.
      if (accountId === undefined || keyId === undefined) continue;
      const [amount, , , , createdAt] = text.split(' ').map(Number) as [
        number,
        number,
        number,
        number,
        number,
      ];
      holds.set(id, { accountId, keyId, amount, createdAt });
    }
  }
  return { entries, holds };
}

function without<T>(these: ReadonlyMap<string, T>, those: ReadonlyMap<string, T>): Map<string, T> {
  return new Map([...these].filter(([id]) => !those.has(id)));
}

function appendOnlyFile(folder: string): string {
  const parts = join(folder, 'appendonlydir');
  const last = readdirSync(parts)
    .filter((name) => name.endsWith('.incr.aof'))
    .sort()
    .at(-1);
  if (!last) throw new Error('this Redis has no append-only file');
  return join(parts, last);
}
