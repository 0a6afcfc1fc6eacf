import { type Test, test } from 'tap';
import { createRedis, type RedisClient } from '../../src/ledger/redis/connect.ts';
import {
  accountRedisKey,
  bucketOf,
  holdsRedisKey,
  journalRedisKey,
  keyRedisKey,
  memberRedisKey,
  redisKeyPrefix,
} from '../../src/ledger/redis/redis-keys.ts';
import { scriptText } from '../../src/ledger/redis/scripts.ts';
import { admissionOf, log, startLedger } from '../helper/start/ledger.ts';

interface Names {
  readonly account: string;
  readonly key: string;
  readonly holds: string;
  readonly journal: string;
  readonly member: string;
}

/** An account with a call in flight, whose key is in an earlier epoch; and everything that Redis has of it. */
async function startLedgerWithHold(t: Test) {
  const { open, account, raw, book, redis } = await startLedger(t);
  const { key } = await account({
    credits: 10,
    key: { canManage: false, personId: 3, memberSpendingLimits: [] },
  });
  await open.settled();
  const admission = admissionOf(key, 2);
  t.match(await open.ledger.admit(admission), { verdict: 'held' });
  const bucket = bucketOf(key.accountId);
  const names: Names = {
    account: accountRedisKey(key.accountId),
    key: keyRedisKey(key.accountId, key.id),
    holds: holdsRedisKey(bucket),
    journal: journalRedisKey(bucket),
    member: memberRedisKey(key.accountId, 3),
  };
  await raw.hset(names.key, 'ep', '0');
  open.drain.abandon();
  const options = { name: 'test', keyPrefix: redisKeyPrefix(book.id), log };
  const client = createRedis({ kind: 'socket', path: redis.socketPath }, options);
  await client.connect();
  t.teardown(() => client.disconnect());
  await raw.xadd(names.journal, '*', 'e', 'an entry of before');
  const all = () =>
    Promise.all([
      raw.hgetall(names.account),
      raw.hgetall(names.key),
      raw.hgetall(names.holds),
      raw.xrange(names.journal, '-', '+'),
      raw.hgetall(names.member),
    ]);
  t.teardown(() => raw.del(names.journal).catch(() => {}));
  return { client, raw, names, id: admission.requestId, all };
}

const FAR = Date.now() + 3_600_000;

const SCRIPTS: Record<string, (client: RedisClient, names: Names, id: string) => Promise<unknown>> = {
  settle: (client, { account, key, holds, journal, member }, id) =>
    client.settle(5, account, key, holds, journal, member, id, 'm-1000000 1 1 1', '{}'),
  'post-once': (client, { account, key, holds, journal, member }) =>
    client.postOnce(
      ...([5, account, key, holds, journal, member, 'lost', 1, -1_000_000, '1 1 1 1 1'] as const),
      ...['{}', FAR, '', ''],
    ),
  cancel: (client, { account, key, holds, member }, id) => client.cancel(4, account, key, holds, member, id),
  expire: (client, { account, key, holds, journal, member }, id) =>
    client.expire(5, account, key, holds, journal, member, id, 2 * FAR, 1, 1, 1, '{}'),
};

for (const [name, run] of Object.entries(SCRIPTS)) {
  test(`${name} changes nothing if the key or the member is of another epoch than its account`, async (t) => {
    const { client, raw, names, id, all } = await startLedgerWithHold(t);
    const before = await all();
    t.same([await run(client, names, id)].flat(), ['MISSING']);
    t.same(await all(), before);
    await raw.hset(names.key, 'ep', String(before[0].ep));
    for (const epoch of ['0', undefined]) {
      if (epoch === undefined) await raw.del(names.member);
      else await raw.hset(names.member, 'ep', epoch);
      const after = await all();
      t.same([await run(client, names, id)].flat(), ['MISSING']);
      t.same(await all(), after);
    }
  });
}

/** A day, week and month in which nothing was spent. */
const WINDOWS = '1 0 1 0 1 0 0 0 0';

/** The last two steps of a rebuild of the account alone, whose balance is 7 then. */
function restore(client: RedisClient, { account, key, holds }: Names, name: string) {
  return {
    keys: () => client.restoreKeys(3, account, holds, key, name, 9, 1, 1, '{}', WINDOWS, ''),
    account: () =>
      client.restoreAccount(account, holds, name, 1, 9, 1, 1, 0, 0, 7_000_000, 5, '', WINDOWS, 0, '[]'),
  };
}

test('a presented value is valid until its end, and not a millisecond longer', async (t) => {
  const { raw, names } = await startLedgerWithHold(t);
  const { account, key, holds } = names;
  const [version, ofAccount] = await Promise.all([raw.hget(key, 'v'), raw.hget(account, 'v')]);
  await raw.hset(key, 'ep', (await raw.hget(account, 'ep')) ?? '');
  // The script, by a clock that stands still.
  const clock = `local redis = { call = function(name, ...)
    if name == 'TIME' then return { '1000', '5999' } end
    return redis.call(name, ...)
  end }
  `;
  const admit = async (endsAt: number) => {
    const numbers = `${version} ${ofAccount} 1 1 - ${endsAt} -`;
    const call = [account, key, holds, `until-${endsAt}`, numbers, 'record', FAR];
    return ((await raw.eval(clock + scriptText('admit'), 3, ...call)) as unknown[])[0];
  };
  t.equal(await admit(1_000_006), 1);
  t.same(await admit(1_000_005), ['ENDED']);
});

test('a rebuild that was overtaken changes nothing, at either step', async (t) => {
  const { client, names, all } = await startLedgerWithHold(t);
  const { account } = names;
  const begin = (name: string, leaseMs: number) => client.beginRebuild(1, account, name, leaseMs, 1);
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

test('a rebuild finds the holds of its own account and keys only', async (t) => {
  const { client, raw, names, all } = await startLedgerWithHold(t);
  const { account, holds } = names;
  await raw.hset(holds, {
    neighbor: `3000000 ${FAR} 77 65 1 1000000 text /v1/chat/completions flat`,
    second: `500000 ${FAR} 78 1 1 500000 text /v1/chat/completions flat`,
  });
  t.equal(await client.beginRebuild(1, account, 'one:1', 60_000, 1), 'CLOSED');
  const steps = restore(client, names, 'one:1');
  t.equal(await steps.keys(), 'RESTORED');
  t.equal(await steps.account(), 'RESTORED');
  const [ofAccount, ofKey] = await all();
  t.equal(ofAccount.held, '2500000');
  t.equal(ofKey.held, '2000000');
});

test('a refund that was asked of the book before the account was rebuilt is not applied', async (t) => {
  const { client, raw, names, all } = await startLedgerWithHold(t);
  const { account, key, holds, journal } = names;
  const epoch = Number(await raw.hget(account, 'ep'));
  await raw.hset(key, 'ep', epoch);
  const before = await all();
  const refund = async (askedIn: number) => {
    const of = [account, key, holds, journal, 'refund', 1, 1_000_000, '1 1 1 1 1', '{}'];
    return (await client.postOnce(4, ...of, FAR, askedIn, ''))[0];
  };
  t.equal(await refund(epoch - 1), 'REBUILT');
  t.same(await all(), before);
  t.equal(await refund(epoch), 'APPLIED');
});
