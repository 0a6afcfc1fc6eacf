import { readdirSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { parseHold, parseJournalEntry } from '../../src/ledger/journal/entry-text.ts';
import { holdsRedisKey, journalRedisKey } from '../../src/ledger/redis/redis-keys.ts';
import { until } from '../helper/until.ts';
import type { Loss, LostEntry, LostHold } from './model.ts';
import type { Shard } from './shard.ts';

type Volatile = Pick<Loss, 'entries' | 'holds'>;

/** FLUSHALL, and what it takes along, in one step: nothing comes between the look and the loss. */
export async function empty(shard: Shard): Promise<Loss> {
  const { master, buckets } = shard;
  const [replies, time] = (await master.raw.eval(EMPTY, 0, ...namesOf(master.raw, buckets))) as [
    Found[],
    [string, string],
  ];
  const had = read(replies);
  const now = Number(time[0]) * 1_000 + Number(time[1]) / 1_000;
  const ages = [...had.entries.values()].map(({ journalledAt }) => now - journalledAt);
  return { at: Date.now(), ...had, lagMs: Math.max(0, ...ages), revived: new Set() };
}

/**
 * Redis dies and comes back as it was a moment ago, as on a machine that died between two syncs of its append-only file.
 * `meanwhile` is the moment.
 */
export async function setBack(shard: Shard, meanwhile: Promise<unknown>): Promise<Loss> {
  const { master, buckets } = shard;
  const file = appendOnlyFile(master.process.folder);
  const size = statSync(file).size;
  await meanwhile;
  // Writes wait from here on, so what is seen is what there is when it dies.
  await master.raw.client('PAUSE', 60_000, 'WRITE');
  const before = await look(master.raw, buckets);
  await master.process.kill();
  const at = Date.now();
  truncateSync(file, size);
  await master.process.start();
  // Of a cluster, a node that comes back refuses everything for 2 s.
  const after = await until('the node to be let in', () => look(master.raw, buckets).catch(() => undefined));
  await shard.whole();
  return lossBetween(at, before, after);
}

/** How a master goes, when its replica is to take its place. */
export type Going = 'killed' | 'frozen';

/** A master that is to be frozen lets no write through for so long: in this it is looked at and stopped. */
const STOPPED_WITHIN_MS = 1_000;
const TAKEN_OVER_WITHIN_MS = 20_000;

/**
 * The replica takes the place of a master that goes, without what came last: from the beginning until `meanwhile` is over
 * nothing reaches it. The old master comes back after `awayMs`; one that was frozen then still takes itself for the
 * master, and does what waited in its connections. `lost` is told as soon as it is known, before anything is let in.
 */
export async function failOver(
  shard: Shard,
  how: { readonly going: Going; readonly meanwhile: Promise<unknown>; readonly awayMs: number },
  lost: (loss: Loss) => void,
): Promise<void> {
  const { master, replica, buckets } = shard;
  if (!replica) throw new Error('this shard has no replica');
  master.wire.loseReplies('replica');
  await how.meanwhile;
  const isKilled = how.going === 'killed';
  await master.raw.client('PAUSE', isKilled ? 60_000 : STOPPED_WITHIN_MS, 'WRITE');
  const pausedAt = Date.now();
  const before = await look(master.raw, buckets);
  if (isKilled) await master.process.kill();
  else master.process.freeze();
  const at = Date.now();
  if (!isKilled && at - pausedAt > STOPPED_WITHIN_MS / 2) {
    // The machine was too busy: writes may have come after the look. Nothing has happened yet.
    master.process.thaw();
    master.wire.cut('replica');
    return await shard.whole();
  }
  await replica.raw.readonly();
  lost(lossBetween(at, before, await look(replica.raw, buckets)));
  await replica.raw.config('SET', 'cluster-replica-no-failover', 'no');
  await until(
    'the replica to take over',
    async () => (await replica.raw.info('replication')).includes('role:master'),
    TAKEN_OVER_WITHIN_MS,
  );
  await replica.raw.config('SET', 'cluster-replica-no-failover', 'yes');
  shard.changedPlaces();
  await sleep(how.awayMs);
  if (isKilled) await master.process.start();
  else master.process.thaw();
  await shard.whole();
}

/** Of a Redis that was one thing when it died at that time, and then another. */
function lossBetween(at: number, before: Volatile, after: Volatile): Loss {
  // A gateway may have taken new ones already.
  const revived = [...without(after.holds, before.holds)].filter(([, hold]) => hold.createdAt < at);
  return {
    at,
    entries: without(before.entries, after.entries),
    holds: without(before.holds, after.holds),
    revived: new Set(revived.map(([id]) => id)),
  };
}

/** Of one bucket: its journal's entries by stream id, and its holds by request id, name and value in turn. */
type Found = readonly [journal: readonly [string, [string, string]][], holds: readonly string[]];

/** Scripts, as a transaction may not touch several slots of a cluster. ARGV: the names of journal and holds of each bucket. */
const LOOK = `#!lua flags=no-writes,allow-cross-slot-keys
local found = {}
for at = 1, #ARGV, 2 do
  found[#found + 1] = { redis.call('XRANGE', ARGV[at], '-', '+'), redis.call('HGETALL', ARGV[at + 1]) }
end
return found`;
const EMPTY = LOOK.replace('no-writes,', '').replace(
  'return found',
  `local time = redis.call('TIME')
redis.call('FLUSHALL')
return { found, time }`,
);

function namesOf({ options }: Redis, buckets: ReadonlySet<number>): string[] {
  const names = [...buckets].flatMap((bucket) => [journalRedisKey(bucket), holdsRedisKey(bucket)]);
  return names.map((name) => `${options.keyPrefix}${name}`);
}

async function look(raw: Redis, buckets: ReadonlySet<number>): Promise<Volatile> {
  return read((await raw.call('EVAL_RO', LOOK, 0, ...namesOf(raw, buckets))) as Found[]);
}

function read(found: readonly Found[]): Volatile {
  const entries = new Map<string, LostEntry>();
  const holds = new Map<string, LostHold>();
  for (const [journal, held] of found) {
    for (const [streamId, [, text]] of journal) {
      const { id, accountId, keyId, credits, createdAt } = parseJournalEntry(text);
      const journalledAt = Number.parseInt(streamId, 10);
      entries.set(id, { accountId, keyId, credits, createdAt, journalledAt });
    }
    for (let at = 0; at < held.length; at += 2) {
      const [id, text] = [held[at], held[at + 1]] as [string, string];
      const { accountId, keyId } = parseHold(text);
      // An idempotency marker is no hold.
      if (accountId === undefined || keyId === undefined) continue;
      const [amount = 0, , , , createdAt = 0] = text.split(' ').map(Number);
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
