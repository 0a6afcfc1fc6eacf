import { cpSync, rmSync } from 'node:fs';
import { type Test, test } from 'tap';
import { accountRedisKey, keyRedisKey } from '../../src/ledger/redis/redis-keys.ts';
import { until } from '../helper/check/until.ts';
import { callWith, changeAccount, changeKey, held, storedBucket } from '../helper/fixtures/call-limits.ts';
import { openLedgerOn, startLedger } from '../helper/start/ledger.ts';
import { accountOn } from '../helper/start/ledger-account.ts';
import { REDIS_TIMEOUT_MS, startRedis } from '../helper/start/redis-process.ts';

const LIMITS = { rpmLimit: 4, tpmLimit: 1_000, maxParallelRequests: 3 };

test('a Redis that lost everything has full buckets and no open call, and calls in flight change neither', async (t) => {
  const world = await startLedger(t);
  const { key } = await world.account({ key: LIMITS });
  const owner = await changeAccount(world, key.accountId, { rpmLimit: 9, maxParallelRequests: 9 });
  const { open, raw } = world;
  const settle = await held(open, callWith(key, { tokens: 1_000, owner }));
  const left = callWith(key, { tokens: 0, owner });
  await held(open, left);
  await open.settled();
  await raw.flushall();
  const full = {
    key: {
      requests: { limit: 4, debt: 0 },
      tokens: { limit: 1_000, debt: 0 },
      parallel: { limit: 3, open: 0 },
    },
    account: { requests: { limit: 9, debt: 0 }, tokens: undefined, parallel: { limit: 9, open: 0 } },
  };
  t.same(await open.ledger.limitStates(key.accountId, key.id), full);
  await settle({ key: 500, account: 500 });
  open.unanswered.add(left);
  await open.sweep.cancelUnanswered();
  await open.settled();
  t.same(await open.ledger.limitStates(key.accountId, key.id), full);
  t.match(await open.ledger.account(key.accountId), { balance: 100_000_000, held: 0 });
});

test('a rebuild refills nothing that Redis still has, and counts open calls again', async (t) => {
  const world = await startLedger(t);
  const { key } = await world.account({ key: LIMITS });
  const owner = await changeAccount(world, key.accountId, { tpmLimit: 500, maxParallelRequests: 5 });
  const { open, raw } = world;
  for (const tokens of [600, 0]) await held(open, callWith(key, { tokens, owner }));
  const names = [keyRedisKey(owner.id, key.id), accountRedisKey(owner.id)];
  const [ofKey, ofAccount] = names as [string, string];
  const before = await Promise.all(names.map((name) => storedBucket(raw, name, 'tk')));
  for (const name of names) await raw.hset(name, 'open', 77);
  await raw.hdel(ofAccount, 'ep');
  t.match(await open.ledger.limitStates(owner.id, key.id), {
    key: { parallel: { limit: 3, open: 2 } },
    account: { parallel: { limit: 5, open: 2 } },
  });
  const after = await Promise.all(names.map((name) => storedBucket(raw, name, 'tk')));
  for (const [index, { debt, at }] of after.entries()) {
    const was = before[index] as (typeof before)[0];
    t.equal(debt, Math.max(0, was.debt - (index === 0 ? 1_000 : 500) * (at - was.at)));
  }
  t.match(await raw.hget(ofKey, 'rq'), /^[1-9]/);
});

test('a rebuild that read the book before a change leaves the limits of the later version', async (t) => {
  const world = await startLedger(t);
  const { key } = await world.account({ key: LIMITS });
  const { open, book, raw } = world;
  const owner = await changeAccount(world, key.accountId, { rpmLimit: 6 });
  await held(open, callWith(key, { owner }));
  const [changed, changedOwner] = [
    { ...key, version: key.version + 1, rpmLimit: 8, tpmLimit: null },
    { ...owner, version: owner.version + 1, rpmLimit: 7 },
  ];
  await open.ledger.publishKey(changed);
  await open.ledger.publishAccount(changedOwner);
  t.equal((await book.key(key.accountId, key.id))?.rpmLimit, 4, 'the book has it not yet');
  await raw.hdel(accountRedisKey(owner.id), 'ep');
  t.match(await open.ledger.limitStates(owner.id, key.id), {
    key: { requests: { limit: 8 }, tokens: undefined, parallel: { limit: 3, open: 1 } },
    account: { requests: { limit: 7 } },
  });
  t.match(await open.ledger.current(owner.id, key.id), {
    key: { rpmLimit: 8, tpmLimit: null },
    accountLimits: { rpmLimit: 7 },
  });
});

/** A ledger on a Redis that can be set back to its state at the call of `remember`. */
async function startSetBack(t: Test) {
  const redis = await startRedis(t);
  const { book, open } = await openLedgerOn(
    t,
    { kind: 'single', url: redis.url },
    { redisTimeoutMs: REDIS_TIMEOUT_MS },
  );
  const { key } = await accountOn(book, open.ledger, { key: LIMITS });
  await open.settled();
  const earlier = `${redis.folder}-earlier`;
  t.teardown(() => rmSync(earlier, { recursive: true, force: true }));
  return {
    book,
    open,
    key,
    remember: () => cpSync(redis.folder, earlier, { recursive: true }),
    async setBack() {
      await redis.kill();
      rmSync(redis.folder, { recursive: true });
      cpSync(earlier, redis.folder, { recursive: true });
      await redis.start();
      await until('the ledger to be open', () => open.ledger.account(key.accountId).catch(() => undefined));
      return await redis.connect();
    },
  };
}

test('a hold that came back with an older Redis after its charge frees its slot, and gives nothing back', async (t) => {
  const { open, key, remember, setBack } = await startSetBack(t);
  const settle = await held(open, callWith(key, { tokens: 1_000 }));
  remember();
  await settle({ key: -900, account: 0 });
  await open.settled();
  const raw = await setBack();
  await until('the slot to be free', async () => {
    const { key: state } = await open.ledger.limitStates(key.accountId, key.id);
    return state.parallel?.open === 0;
  });
  const hash = keyRedisKey(key.accountId, key.id);
  const { debt, at } = await storedBucket(raw, hash, 'rq');
  await held(open, callWith(key, { tokens: 0 }));
  const next = await storedBucket(raw, hash, 'rq');
  t.equal(next.debt, Math.max(0, debt - 4 * (next.at - at)) + 60_000);
  t.ok(next.debt > 60_000 || next.at - at >= 15_000, 'its request is still counted');
});

test('a settle that Redis lost is made again with its correction', async (t) => {
  const world = await startSetBack(t);
  const { open, key, remember, setBack } = world;
  const owner = await changeAccount(world, key.accountId, { tpmLimit: 1_000 });
  const settle = await held(open, callWith(key, { tokens: 10, owner }));
  remember();
  open.drain.abandon();
  await settle({ key: 40_000, account: 40_000 });
  await until('it to be answered', () => open.openSettlements() === 0);
  const raw = await setBack();
  await until('the settle to be made again', async () => {
    const { key: state } = await open.ledger.limitStates(key.accountId, key.id);
    return state.parallel?.open === 0;
  });
  for (const name of [keyRedisKey(owner.id, key.id), accountRedisKey(owner.id)]) {
    const { debt } = await storedBucket(raw, name, 'tk');
    t.ok(debt > 3_000 * 60_000, 'the tokens beyond its estimate');
  }
});

test('limits that Redis lost with its last second are in force again before any call is admitted', async (t) => {
  const world = await startSetBack(t);
  const { open, key, remember, setBack } = world;
  await held(open, callWith(key));
  remember();
  const changed = await changeKey(world, key, { rpmLimit: null, maxParallelRequests: 1 });
  const raw = await setBack();
  t.equal(await raw.hget(keyRedisKey(key.accountId, key.id), 'lim'), '- 1000 1');
  t.match(await open.ledger.admit(callWith(changed)), {
    verdict: 'limited',
    limits: { key: { parallel: { open: 1 } } },
  });
});
