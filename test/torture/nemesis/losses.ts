import { readdirSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { parseHold, parseJournalEntry } from '../../../src/ledger/journal/entry-text.ts';
import { holdsRedisKey, journalRedisKey } from '../../../src/ledger/redis/redis-keys.ts';
import { until } from '../../helper/check/until.ts';
import type { Loss, LostEntry, LostHold } from '../model/model.ts';
import type { Shard } from '../world/shard.ts';

type Volatile = Pick<Loss, 'entries' | 'holds'>;

/** Empties Redis and resolves with the loss. One script reads and empties it atomically. */
export async function empty(shard: Shard): Promise<Loss> {
  const { master, buckets } = shard;
  const from = Date.now();
  const [replies, time] = (await master.raw.eval(EMPTY, 0, ...namesOf(master.raw, buckets))) as [
    Found[],
    [string, string],
  ];
  const had = read(replies);
  const now = Number(time[0]) * 1_000 + Number(time[1]) / 1_000;
  const ages = [...had.entries.values()].map(({ journalledAt }) => now - journalledAt);
  const at = Date.now();
  return { from, at, buckets: new Set(buckets), ...had, lagMs: Math.max(0, ...ages), revived: new Set() };
}

/**
 * Kills Redis and restarts it with its data from before `meanwhile`, like a machine that died between two syncs of the
 * append-only file. Resolves with the loss.
 */
export async function setBack(shard: Shard, meanwhile: Promise<unknown>): Promise<Loss> {
  const { master, buckets } = shard;
  const file = appendOnlyFile(master.process.folder);
  const from = Date.now();
  const size = statSync(file).size;
  await meanwhile;
  // Writes wait from here on, so this reads exactly the state in which Redis dies.
  await master.raw.client('PAUSE', 60_000, 'WRITE');
  const before = await look(master.raw, buckets);
  await master.process.kill();
  const at = Date.now();
  truncateSync(file, size);
  await master.process.start();
  // In a cluster, a node that comes back refuses all commands for 2 s.
  const after = await until('the node to be let in', () => look(master.raw, buckets).catch(() => undefined));
  await shard.whole();
  return lossBetween({ from, at, buckets }, before, after);
}

/** How a master fails before its replica takes over. */
export type Going = 'killed' | 'frozen';

/** Time for which a master blocks writes before it is frozen; meanwhile, this reads and stops the master. */
const STOPPED_WITHIN_MS = 1_000;
const TAKEN_OVER_WITHIN_MS = 20_000;

/**
 * Lets a replica take over from its master without the master's last writes: nothing reaches the replica until
 * `meanwhile` is over. The old master comes back after `awayMs`; one that was frozen then still acts as the master, and
 * runs the commands that wait in its connections. `lost` is called with the loss before the replica accepts any client.
 */
export async function failOver(
  shard: Shard,
  how: { readonly going: Going; readonly meanwhile: Promise<unknown>; readonly awayMs: number },
  lost: (loss: Loss) => void,
): Promise<void> {
  const { master, replica, buckets } = shard;
  if (!replica) throw new Error('this shard has no replica');
  const from = Date.now();
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
    // On a machine this busy, writes may have followed the read. Nothing has happened yet, so this gives up the fault.
    master.process.thaw();
    master.wire.cut('replica');
    return await shard.whole();
  }
  await replica.raw.readonly();
  lost(lossBetween({ from, at, buckets }, before, await look(replica.raw, buckets)));
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

/** The loss of a Redis that died at the time `at` with the content `before`, and came back with the content `after`. */
function lossBetween(of: Pick<Loss, 'from' | 'at' | 'buckets'>, before: Volatile, after: Volatile): Loss {
  // Later holds are not revived: gateways may have taken new ones already.
  const revived = [...without(after.holds, before.holds)].filter(([, hold]) => hold.createdAt < of.at);
  return {
    ...of,
    buckets: new Set(of.buckets),
    entries: without(before.entries, after.entries),
    holds: without(before.holds, after.holds),
    revived: new Set(revived.map(([id]) => id)),
  };
}

/** Content of one bucket: its journal's entries by stream id, and its holds, request id and value in turn. */
type Found = readonly [journal: readonly [string, [string, string]][], holds: readonly string[]];

/**
 * Script that reads journal and holds of several buckets atomically, which a transaction can't do across the slots of a
 * cluster. ARGV: the Redis keys of journal and holds of each bucket.
 */
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
      // Idempotency markers are stored among the holds.
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
