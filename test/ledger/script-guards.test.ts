import { type Test, test } from 'tap';
import { createRedis, type RedisClient } from '../../src/ledger/redis/connect.ts';
import {
  accountRedisKey,
  bucketOf,
  holdsRedisKey,
  journalRedisKey,
  keyRedisKey,
  redisKeyPrefix,
} from '../../src/ledger/redis/redis-keys.ts';
import { admissionOf, log, startLedger } from '../helper/ledger.ts';

interface Names {
  readonly account: string;
  readonly key: string;
  readonly holds: string;
  readonly journal: string;
}

/** An account with a call in flight, whose key stands in an epoch of before; everything that Redis has of it. */
async function startLedgerWithHold(t: Test) {
  const { open, account, raw, book, redis } = await startLedger(t);
  const { key } = await account({ credits: 10 });
  await open.settled();
  const admission = admissionOf(key, 2);
  t.match(await open.ledger.admit(admission), { verdict: 'held' });
  const bucket = bucketOf(key.accountId);
  const names: Names = {
    account: accountRedisKey(key.accountId),
    key: keyRedisKey(key.accountId, key.id),
    holds: holdsRedisKey(bucket),
    journal: journalRedisKey(bucket),
  };
  await raw.hset(names.key, 'ep', '0');
  open.drain.abandon();
  const options = { name: 'test', keyPrefix: redisKeyPrefix(book.id), log };
  const client = createRedis({ kind: 'socket', path: redis.socketPath }, options);
  await client.connect();
  t.teardown(() => client.disconnect());
  const streamId = (await raw.xadd(names.journal, '*', 'e', 'an entry of before')) as string;
  const all = () =>
    Promise.all([
      raw.hgetall(names.account),
      raw.hgetall(names.key),
      raw.hgetall(names.holds),
      raw.xrange(names.journal, '-', '+'),
    ]);
  t.teardown(() => raw.del(names.journal).catch(() => {}));
  return { client, raw, names, id: admission.requestId, streamId, all };
}

const FAR = Date.now() + 3_600_000;

const SCRIPTS: Record<
  string,
  (client: RedisClient, names: Names, id: string, streamId: string) => Promise<unknown>
> = {
  settle: (client, { account, key, holds, journal }, id) =>
    client.settle(account, key, holds, journal, id, '1 -1000000 1 1 1', '{}'),
  apply: (client, { account, key, holds, journal }) =>
    client.apply(account, key, holds, journal, 'lost', 1, FAR, -1_000_000, 1, 1, 1, '{}'),
  refund: (client, { account, key, holds, journal }) =>
    client.refund(account, key, holds, journal, 'refund', 1, FAR, 1_000_000, 1, 1, 1, '{}'),
  repost: (client, { account, key, journal }, _id, streamId) =>
    client.repost(account, key, journal, streamId, 1, -1_000_000, 1, 1, 1, '{}', 0),
  cancel: (client, { account, key, holds }, id) => client.cancel(account, key, holds, id, FAR),
  expire: (client, { account, key, holds, journal }, id) =>
    client.expire(account, key, holds, journal, id, 2 * FAR, 1, 1, 1, '{}'),
};

for (const [name, run] of Object.entries(SCRIPTS)) {
  test(`${name} changes nothing where the key stands in another epoch than its account`, async (t) => {
    const { client, names, id, streamId, all } = await startLedgerWithHold(t);
    const before = await all();
    t.same([await run(client, names, id, streamId)].flat(), ['MISSING']);
    t.same(await all(), before);
  });
}

/** The last two steps of a rebuild, of nothing but the account, whose balance is 7 then. */
function restore(
  client: RedisClient,
  { account, key, holds, journal }: Names,
  name: string,
  entries: string[] = [],
) {
  const ofEntries = entries.flatMap((streamId) => [streamId, 0, -1_000_000, 1, 1, 1, '{}']);
  const noKeys = entries.map(() => account);
  return {
    keys: () => client.restoreKeys(3, account, holds, key, name, 9, 1, 1, 1, 1, 1, '{}', 0, 0, 0),
    account: () =>
      client.restoreAccount(
        3 + entries.length,
        ...[account, holds, journal, ...noKeys, name, 1, 9, 1, 1, 0, 0, 7_000_000, 5],
        ...ofEntries,
      ),
  };
}

test('a rebuild that was overtaken changes nothing, at either step', async (t) => {
  const { client, names, all } = await startLedgerWithHold(t);
  const { account } = names;
  const begin = (name: string, leaseMs: number) => client.beginRebuild(account, account, name, leaseMs, 1);
  t.equal(await begin('slow:1', 0), 'CLOSED');
  t.equal(await begin('next:1', 60_000), 'CLOSED', 'once its time is up');
  const before = await all();
  t.equal(await begin('third:1', 60_000), 'BUSY');
  const slow = restore(client, names, 'slow:1');
  t.equal(await slow.keys(), 'OLD');
  t.equal(await slow.account(), 'OLD');
  t.same(await all(), before);
  t.equal(await begin('next:2', 60_000), 'CLOSED', 'the same gateway may try again');
  const again = restore(client, names, 'next:2');
  t.equal(await again.keys(), 'RESTORED');
  t.equal(await again.account(), 'RESTORED');
  t.match((await all())[0], { ep: '9', bal: '7000000', seq: '5', rb: undefined });
});

test('of entries that waited for a rebuild, only those count that are still in the journal', async (t) => {
  const { client, names, streamId, all } = await startLedgerWithHold(t);
  const { account } = names;
  t.equal(await client.beginRebuild(account, account, 'one:1', 60_000, 1), 'CLOSED');
  t.equal(await restore(client, names, 'one:1', ['1-1', streamId, streamId]).account(), 'RESTORED');
  const [restored, , , journal] = await all();
  t.match(restored, { bal: '6000000', seq: '6' });
  t.match(
    journal.map(([, fields]) => fields[1]),
    ['6 6000000 1 9 0 {}'],
  );
});

test('a rebuild finds the holds of its own account and keys, and those of no other in the bucket', async (t) => {
  const { client, raw, names, all } = await startLedgerWithHold(t);
  const { account, holds } = names;
  await raw.hset(holds, {
    neighbour: `3000000 ${FAR} 77 65 1 text /v1/chat/completions flat`,
    second: `500000 ${FAR} 78 1 1 text /v1/chat/completions flat`,
  });
  t.equal(await client.beginRebuild(account, account, 'one:1', 60_000, 1), 'CLOSED');
  const steps = restore(client, names, 'one:1');
  t.equal(await steps.keys(), 'RESTORED');
  t.equal(await steps.account(), 'RESTORED');
  const [ofAccount, ofKey] = await all();
  t.equal(ofAccount.held, '2500000');
  t.equal(ofKey.held, '2000000');
});

test('an entry that is off the journal, because somebody applied it again, is not applied once more', async (t) => {
  const { client, names, streamId, all } = await startLedgerWithHold(t);
  const { account, journal } = names;
  const repost = () => client.repost(account, account, journal, streamId, 0, -1_000_000, 1, 1, 1, '{}', 0);
  t.equal(await repost(), 'APPLIED');
  const after = await all();
  t.match(after[0], { bal: '9000000' });
  t.equal(await repost(), 'DONE');
  t.same(await all(), after);
});

test('a refund that was asked of the book before the account was rebuilt is not applied', async (t) => {
  const { client, raw, names, all } = await startLedgerWithHold(t);
  const { account, key, holds, journal } = names;
  const epoch = Number(await raw.hget(account, 'ep'));
  await raw.hset(key, 'ep', epoch);
  const before = await all();
  const refund = (askedIn: number) =>
    client.refund(account, key, holds, journal, 'refund', askedIn, FAR, 1_000_000, 1, 1, 1, '{}');
  t.equal(await refund(epoch - 1), 'MOVED');
  t.same(await all(), before);
  t.equal(await refund(epoch), 'APPLIED');
});
