import { type Test, test } from 'tap';
import type { CallLimits } from '../../src/domain/call-limits.ts';
import { micro } from '../../src/domain/credits.ts';
import type { KeyRecord } from '../../src/domain/key.ts';
import { accountRedisKey, keyRedisKey } from '../../src/ledger/redis/redis-keys.ts';
import { until } from '../helper/check/until.ts';
import {
  callWith,
  changeAccount,
  changeKey,
  held,
  type LimitedCall,
  storedBucket,
} from '../helper/fixtures/call-limits.ts';
import { entriesOf, spend, startLedger } from '../helper/start/ledger.ts';

const NO_STATE = { requests: undefined, tokens: undefined, parallel: undefined };
const NO_LIMITS: CallLimits = { rpmLimit: null, tpmLimit: null, maxParallelRequests: null };

/** A ledger with one key that has these limits; `hash` is the name of its hash in Redis. */
async function startLimited(t: Test, limits: Partial<CallLimits>, credits = 100) {
  const world = await startLedger(t);
  const { key, account: owner } = await world.account({ credits, key: limits });
  const admit = (call: LimitedCall = {}, of: KeyRecord = key) => world.open.ledger.admit(callWith(of, call));
  const states = () => world.open.ledger.limitStates(key.accountId, key.id);
  const openCalls = async () => (await states()).key.parallel?.open;
  return { ...world, key, owner, admit, states, openCalls, hash: keyRedisKey(owner.id, key.id) };
}

test('a call takes a request, its tokens and a slot, and each limit refuses where it has no room', async (t) => {
  const limits = { rpmLimit: 3, tpmLimit: 1_000, maxParallelRequests: 2 };
  const { admit, states, raw, hash } = await startLimited(t, limits);
  t.same(await admit({ tokens: 600 }), {
    verdict: 'held',
    limits: {
      key: {
        requests: { limit: 3, debt: 60_000 },
        tokens: { limit: 1_000, debt: 36_000_000 },
        parallel: { limit: 2, open: 1 },
      },
      account: NO_STATE,
    },
  });
  const before = await raw.hgetall(hash);
  t.match(await admit({ tokens: 1_000 }), {
    verdict: 'limited',
    limits: { key: { parallel: { open: 1 } } },
  });
  t.same(await raw.hgetall(hash), before, 'the refused call took nothing');
  t.match(await admit({ tokens: 100 }), { verdict: 'held', limits: { key: { parallel: { open: 2 } } } });
  t.match(await admit({ tokens: 0 }), { verdict: 'limited' }, 'two are in flight');
  t.match(await states(), {
    key: { parallel: { limit: 2, open: 2 }, requests: { limit: 3 }, tokens: { limit: 1_000 } },
    account: NO_STATE,
  });
});

test('a call that only counts takes and gives back one slot', async (t) => {
  const limits = { rpmLimit: 1, tpmLimit: 1_000, maxParallelRequests: 2 };
  const { admit, openCalls, open, key } = await startLimited(t, limits);
  t.match(await admit({ tokens: 1_000 }), { verdict: 'held' });
  const counting = { isCounting: true, requestId: 'counting' };
  t.match(await admit(counting), {
    verdict: 'held',
    limits: { key: { requests: { limit: 1 }, parallel: { open: 2 } } },
  });
  t.match(await admit({ isCounting: true }), { verdict: 'limited' }, 'there is no slot');
  await open.ledger.cancel({
    requestId: 'counting',
    accountId: key.accountId,
    keyId: key.id,
    personId: null,
  });
  await until('the slot to be free', async () => (await openCalls()) === 1);
  t.match(await admit(), { verdict: 'limited' }, 'the request of the minute is taken');
  t.match(await admit({ isCounting: true }), { verdict: 'held' });
});

test('a call that lacks credits, spending limit or a current record takes nothing of the limits', async (t) => {
  const { admit, key, raw, hash } = await startLimited(t, { rpmLimit: 9, maxParallelRequests: 1 }, 5);
  const before = await raw.hgetall(hash);
  t.match(await admit({ hold: 6_000_000 }), {
    verdict: 'insufficient',
    balance: 5_000_000,
    overdraft: 0,
    limits: { key: { parallel: { limit: 1, open: 0 }, requests: { limit: 9, debt: 0 } } },
  });
  t.match(await admit({ spendingLimits: [{ of: 'key', period: 'monthly', credits: micro(10) }] }), {
    verdict: 'over_limit',
    account: { balance: 5_000_000, overdraft: 0 },
    limits: { key: { parallel: { limit: 1, open: 0 } } },
  });
  t.same(await admit({ keyVersion: key.version + 1 }), { verdict: 'stale' });
  t.same(await raw.hgetall(hash), before);
  t.match(await admit(), { verdict: 'held' });
  t.match(await admit({ hold: 6_000_000 }), { verdict: 'limited' });
  t.match(await admit({ hold: 0 }), { verdict: 'limited' });
});

test('key and account count apart, and a call needs room in both', async (t) => {
  const world = await startLimited(t, { maxParallelRequests: 2 });
  const { open, book, key, admit } = world;
  const owner = await changeAccount(world, key.accountId, { maxParallelRequests: 3 });
  const other = await book.createKey(key.accountId, { ...key, hash: 'other', prefix: '' }, Date.now());
  await open.ledger.publishKey(other, 'other');
  t.match(await admit({ owner }), { verdict: 'held' });
  t.match(await admit({ owner }), { verdict: 'held' });
  t.match(await admit({ owner }), { verdict: 'limited', limits: { key: { parallel: { open: 2 } } } });
  t.match(await admit({ owner }, other), {
    verdict: 'held',
    limits: { key: { parallel: { open: 1 } }, account: { parallel: { open: 3 } } },
  });
  t.match(await admit({ owner }, other), {
    verdict: 'limited',
    limits: { key: { parallel: { open: 1 } }, account: { parallel: { limit: 3, open: 3 } } },
  });
});

test('calls of one tick see the usage of earlier ones, also free ones', async (t) => {
  const { admit } = await startLimited(t, { rpmLimit: 4, tpmLimit: 100, maxParallelRequests: 3 });
  const calls = [60, 60, 40, 0, 0, 0].map((tokens) => admit({ tokens, hold: 0 }));
  const verdicts = (await Promise.all(calls)).map(({ verdict }) => verdict);
  t.same(verdicts, ['held', 'limited', 'held', 'held', 'limited', 'limited']);
});

test('settling corrects the tokens to the usage, once, and frees the slot', async (t) => {
  const limits = { tpmLimit: 60_000, maxParallelRequests: 1 };
  const { open, key, openCalls, raw, hash } = await startLimited(t, limits);
  const settleFirst = await held(open, callWith(key, { tokens: 50_000 }));
  t.equal(await openCalls(), 1);
  const { at: start } = await storedBucket(raw, hash, 'tk');
  for (let times = 0; times < 3; times++) await settleFirst({ key: -10_000, account: -10_000 });
  await open.settled();
  // The total added to the bucket until now. It drains by 60,000 a millisecond and is never empty in between.
  const counted = async () => {
    const { debt, at } = await storedBucket(raw, hash, 'tk');
    return (debt + 60_000 * (at - start)) / 60_000;
  };
  t.equal(await counted(), 40_000);
  t.equal(await openCalls(), 0);
  const settle = await held(open, callWith(key, { tokens: 1_000 }));
  await settle({ key: 500_000, account: 0 });
  await open.settled();
  t.equal(await counted(), 541_000, 'a call that used more is counted, below 0 of room');
  t.match(await open.ledger.admit(callWith(key, { tokens: 0 })), { verdict: 'limited' });
});

test('settling corrects the tokens of the account by their own difference', async (t) => {
  const world = await startLimited(t, {});
  const { open, key, raw } = world;
  const owner = await changeAccount(world, key.accountId, { tpmLimit: 1_000 });
  const settle = await held(open, callWith(key, { tokens: 1_000, owner }));
  const name = accountRedisKey(owner.id);
  const before = await storedBucket(raw, name, 'tk');
  await settle({ key: 7, account: 500_000 });
  await open.settled();
  const after = await storedBucket(raw, name, 'tk');
  const left = Math.max(0, before.debt - 1_000 * (after.at - before.at));
  t.equal(after.debt, left + 500_000 * 60_000);
  t.match(await open.ledger.admit(callWith(key, { tokens: 0, owner })), { verdict: 'limited' });
});

test('a cancelled admission gives back its request, its tokens and its slot', async (t) => {
  const limits = { rpmLimit: 1, tpmLimit: 1_000, maxParallelRequests: 1 };
  const world = await startLimited(t, limits);
  const owner = await changeAccount(world, world.key.accountId, { rpmLimit: 1, tpmLimit: 70 });
  const { open, key, admit, states } = world;
  for (let round = 0; round < 3; round++) {
    const call = callWith(key, { tokens: 900, owner });
    t.match(await open.ledger.admit(call), { verdict: 'held' });
    t.match(await admit({ owner }), { verdict: 'limited' });
    open.unanswered.add(call);
    await open.sweep.cancelUnanswered();
    t.match(await states(), { key: { parallel: { open: 0 } } });
    // A refund counts from when the call was sent, so of 60 s a few milliseconds may be left to drain.
    await until('request and tokens to be there again', async () => {
      const { key, account } = await states();
      return [key, account].every(({ requests, tokens }) => requests?.debt === 0 && tokens?.debt === 0);
    });
  }
});

test('an expired hold frees its slot, and its request and tokens stay taken', async (t) => {
  const limits = { rpmLimit: 1, tpmLimit: 1_000, maxParallelRequests: 1 };
  const { open, admit, openCalls, raw, hash } = await startLimited(t, limits);
  t.match(await admit({ tokens: 1_000 }), { verdict: 'held' });
  const before = await storedBucket(raw, hash, 'tk');
  await open.sweep.expireHolds(Date.now() + 24 * 3_600_000);
  t.equal(await openCalls(), 0);
  const after = await storedBucket(raw, hash, 'tk');
  t.equal(after.debt, Math.max(0, before.debt - 1_000 * (after.at - before.at)));
});

test('a read of a job takes a request of key and account or of neither, and no slot, tokens or credits', async (t) => {
  const limits = { rpmLimit: 2, tpmLimit: 1_000, maxParallelRequests: 1 };
  const { open, admit, openCalls, book, key } = await startLimited(t, limits, 1);
  await (await held(open, callWith(key, { tokens: 1_000 })))({ key: 5_000, account: 0 });
  const read = () => open.ledger.takeRequest(key.accountId, key.id);
  const taken = await read();
  t.match(taken, { isTaken: true, limits: { key: { requests: { limit: 2 }, parallel: { open: 0 } } } });
  t.ok((taken.limits.key.requests?.debt ?? 0) > 60_000);
  t.match(await read(), { isTaken: false });
  t.match(await admit({ hold: 0, tokens: 0 }), { verdict: 'limited' }, 'calls lack it too');
  t.equal(await openCalls(), 0);
  await open.settled();
  t.same(
    (await entriesOf(book, key.accountId)).map(({ type }) => type),
    ['top_up', 'charge'],
  );
});

test('a limit that is set while calls are open counts them, those without a price too', async (t) => {
  const world = await startLimited(t, {});
  const { open, key, openCalls } = world;
  const neighbor = await world.account();
  const [first] = [await held(open, callWith(key)), await held(open, callWith(key, { hold: 0 }))];
  await held(open, callWith(neighbor.key));
  const changed = await changeKey(world, key, { rpmLimit: 1, tpmLimit: 5, maxParallelRequests: 3 });
  const owner = await changeAccount(world, key.accountId, { maxParallelRequests: 9 });
  t.match(await open.ledger.admit(callWith(changed, { owner })), {
    verdict: 'held',
    limits: { key: { parallel: { open: 3 } }, account: { parallel: { open: 3 } } },
  });
  t.match(await open.ledger.admit(callWith(changed, { owner })), { verdict: 'limited' });
  const before = await storedBucket(world.raw, world.hash, 'tk');
  await first({ key: -5, account: -5 });
  await open.settled();
  t.equal(await openCalls(), 2, 'a call of before the limit frees its slot');
  const after = await storedBucket(world.raw, world.hash, 'tk');
  t.equal(after.debt, Math.max(0, before.debt - 5 * (after.at - before.at)), 'and gives no token back');
});

test('a changed limit keeps the used part, and other changes refill nothing', async (t) => {
  const world = await startLimited(t, { rpmLimit: 60, maxParallelRequests: 5 });
  const { open, key, raw, hash, openCalls } = world;
  for (let call = 0; call < 3; call++) await held(open, callWith(key));
  const before = await storedBucket(raw, hash, 'rq');
  const renamed = await changeKey(world, key, { name: 'another', isActive: false });
  t.same(await storedBucket(raw, hash, 'rq'), before);
  const changed = await changeKey(world, renamed, { rpmLimit: 1, maxParallelRequests: 2 });
  const after = await storedBucket(raw, hash, 'rq');
  t.equal(
    after.debt,
    Math.max(0, before.debt - 60 * (after.at - before.at)),
    'drained at the rate of before',
  );
  t.equal(after.since, key.version, 'calls of before may still give back');
  t.equal(await openCalls(), 3);
  t.match(await open.ledger.admit(callWith(changed)), { verdict: 'limited' });
});

test('a limit that is removed leaves nothing behind, and starts full when it is set again', async (t) => {
  const world = await startLimited(t, { rpmLimit: 2, tpmLimit: 10, maxParallelRequests: 2 });
  const { open, key, raw, hash, states } = world;
  const settle = await held(open, callWith(key, { tokens: 10 }));
  const early = callWith(key, { tokens: 0 });
  t.match(await open.ledger.admit(early), { verdict: 'held' });
  const removed = await changeKey(world, key, NO_LIMITS);
  t.same(await raw.hmget(hash, 'lim', 'open', 'rq', 'tk'), [null, null, null, null]);
  t.same(await states(), { key: NO_STATE, account: NO_STATE });
  t.equal(await spend(open, callWith(removed), 0), 'held');
  await open.settled();
  const again = await changeKey(world, removed, { rpmLimit: 2, tpmLimit: 10, maxParallelRequests: 3 });
  t.match(await open.ledger.admit(callWith(again, { tokens: 10 })), {
    verdict: 'held',
    limits: { key: { requests: { debt: 60_000 }, tokens: { debt: 600_000 }, parallel: { open: 3 } } },
  });
  const stored = () => Promise.all([storedBucket(raw, hash, 'rq'), storedBucket(raw, hash, 'tk')]);
  const before = await stored();
  open.unanswered.add(early);
  await settle({ key: -10, account: 0 });
  await open.sweep.cancelUnanswered();
  await open.settled();
  t.match(await states(), { key: { parallel: { open: 1 } } });
  for (const [index, { debt, at, since }] of (await stored()).entries()) {
    const [was, limit] = [before[index], [2, 10][index]] as [(typeof before)[0], number];
    t.equal(since, again.version);
    t.equal(debt, Math.max(0, was.debt - limit * (at - was.at)), 'calls of before took nothing of these');
  }
});

test('a version of before is never published over the limits of a later one', async (t) => {
  const world = await startLimited(t, { rpmLimit: 5 });
  const { open, key, owner, raw, hash } = world;
  const changed = await changeKey(world, key, { rpmLimit: 6 });
  await changeAccount(world, owner.id, { tpmLimit: 7 });
  await open.ledger.publishKey(key);
  await open.ledger.publishAccount(owner);
  t.equal(await raw.hget(hash, 'lim'), '6 - -');
  t.equal(await raw.hget(accountRedisKey(owner.id), 'lim'), '- 7 -');
  t.match(await open.ledger.current(key.accountId, key.id), {
    key: { rpmLimit: 6, tpmLimit: null, version: changed.version },
    accountLimits: { rpmLimit: null, tpmLimit: 7, maxParallelRequests: null },
  });
});

test('a presented value that has ended is refused before limits and credits, by the clock of Redis', async (t) => {
  const { open, admit, key, raw } = await startLimited(t, { maxParallelRequests: 1 });
  const now = Number((await raw.time())[0]) * 1_000;
  t.same(await admit({ valueEndsAt: now, hold: 200_000_000 }), { verdict: 'ended' });
  t.match(await admit({ valueEndsAt: now + 3_600_000 }), { verdict: 'held' });
  t.same(await admit({ valueEndsAt: now }), { verdict: 'ended' }, 'not that it is limited');
  t.same(await admit({ valueEndsAt: now, keyVersion: key.version + 1 }), { verdict: 'stale' });
  t.match(await open.ledger.account(key.accountId), { held: 1_000_000 });
});

test('a call of a key without limits gets no limit headers and leaves no state', async (t) => {
  const { open, account, raw } = await startLedger(t);
  const { key } = await account();
  const valueEndsAt = Number((await raw.time())[0]) * 1_000 + 3_600_000;
  t.same(Object.keys(await open.ledger.admit(callWith(key))), ['verdict']);
  t.same(Object.keys(await open.ledger.admit(callWith(key, { valueEndsAt }))), ['verdict']);
  t.equal(await spend(open, callWith(key, { valueEndsAt: 1 }), 1), 'ended');
  t.notOk((await raw.hkeys(keyRedisKey(key.accountId, key.id))).includes('lim'));
});
