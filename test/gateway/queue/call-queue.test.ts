import { setTimeout as sleep } from 'node:timers/promises';
import { type Test, test } from 'tap';
import { type CallLimits, NO_CALL_LIMITS, REFILL_MS } from '../../../src/domain/call-limits.ts';
import { type AttemptResult, type Outcome, waitBound } from '../../../src/gateway/queue/account-lines.ts';
import { CallQueue } from '../../../src/gateway/queue/call-queue.ts';
import { FairPool } from '../../../src/shares/fair-pool.ts';
import { makePools, memoryBudget } from '../../../src/shares/pools.ts';
import { until } from '../../helper/check/until.ts';

const poolsFor = (waitingCalls: number) =>
  makePools({ waitingCalls, memory: memoryBudget({ processes: 1 }) });

const LONG_MS = 60_000;

/** Slots of keys and of one account, in place of those in Redis, because this tests the queue itself. */
class Slots {
  readonly free = new Map<string, number>();
  readonly asked: string[] = [];
  readonly in: string[] = [];

  has(owner: string): boolean {
    return (this.free.get(owner) ?? Number.POSITIVE_INFINITY) > 0;
  }

  take(owner: string): void {
    const free = this.free.get(owner);
    if (free !== undefined) this.free.set(owner, free - 1);
  }

  give(owner: string): void {
    this.free.set(owner, (this.free.get(owner) ?? 0) + 1);
  }
}

function world(t: Test, { maxQueueMs = LONG_MS, waitingCalls = 100, account = NO_CALL_LIMITS } = {}) {
  const slots = new Slots();
  const counts = { queued: 0, dequeued: 0 };
  const metrics = { queued: () => counts.queued++, dequeued: () => counts.dequeued++ };
  // Most tests have one account, which may fill the queue.
  const waiting = new FairPool({ places: { all: waitingCalls, ofOne: waitingCalls } });
  const queue = new CallQueue<string>({
    maxQueueMs,
    pools: { waiting, ends: new FairPool({}) },
    metrics,
  });
  const shared = new CallQueue<string>({ maxQueueMs, pools: poolsFor(waitingCalls), metrics });
  t.teardown(() => queue.stop());
  const state = (owner: string) => ({
    requests: undefined,
    tokens: undefined,
    parallel: { limit: 1, open: slots.has(owner) ? 0 : 1 },
  });
  const states = (keyId: number) => ({
    key: state(`key ${keyId}`),
    account:
      account === NO_CALL_LIMITS
        ? { requests: undefined, tokens: undefined, parallel: undefined }
        : state('account'),
  });
  const callOf = (name: string, keyId = 1) => ({
    accountId: 1,
    keyId,
    tokens: 0,
    limits: { key: { ...NO_CALL_LIMITS, maxParallelRequests: 1 } as CallLimits, account },
    given: false,
    async attempt(): Promise<AttemptResult<string>> {
      slots.asked.push(name);
      await Promise.resolve();
      if (!slots.has(`key ${keyId}`) || !slots.has('account'))
        return { limits: states(keyId), onlyLimits: true };
      slots.take(`key ${keyId}`);
      slots.take('account');
      slots.in.push(name);
      return { held: name };
    },
    giveBack() {
      this.given = true;
      slots.give(`key ${keyId}`);
    },
  });
  /** Makes a call wait as the gateway does: it asks first, unless others wait before it. */
  const wait = (name: string, keyId = 1) => {
    const call = callOf(name, keyId);
    const waiting = queue.join(call, queue.isBehind(call) ? undefined : states(keyId));
    // Calls that still wait at the end of a test are refused; not every test awaits that.
    waiting.outcome.catch(() => {});
    return { ...waiting, call };
  };
  const free = (keyId: number) => {
    slots.give(`key ${keyId}`);
    queue.ended(1, keyId);
  };
  return { queue, shared, slots, counts, wait, callOf, free, states };
}

const ends = async (outcomes: readonly Promise<Outcome<string>>[]) =>
  (await Promise.all(outcomes)).map(({ end }) => end);

test('calls of a key come in in the order in which they came, and only the first of them asks', async (t) => {
  const { slots, wait, free, queue } = world(t);
  slots.free.set('key 1', 0);
  const waiting = ['a', 'b', 'c'].map((name) => wait(name));
  t.equal(queue.length, 3);
  free(1);
  await waiting[0]?.outcome;
  t.same(slots.in, ['a']);
  t.notOk(slots.asked.includes('c'), 'the last one has not asked');
  free(1);
  free(1);
  t.same(await ends(waiting.map(({ outcome }) => outcome)), ['held', 'held', 'held']);
  t.same(slots.in, ['a', 'b', 'c']);
  t.equal(queue.length, 0);
});

test('no key waits for another’s limit', async (t) => {
  const { slots, wait, free, queue, callOf } = world(t, {
    account: { ...NO_CALL_LIMITS, maxParallelRequests: 9 },
  });
  slots.free.set('key 1', 0);
  slots.free.set('key 2', 0);
  const first = wait('of key 1', 1);
  wait('of key 1 too', 1);
  t.notOk(queue.isBehind(callOf('new', 3)), 'a newcomer of a key with room does not wait at all');
  const other = wait('of key 2', 2);
  free(2);
  t.match(await other.outcome, { end: 'held' });
  free(1);
  t.match(await first.outcome, { end: 'held' });
  t.same(slots.in, ['of key 2', 'of key 1']);
});

test('all keys of an account queue in one line for its room', async (t) => {
  const { slots, wait, queue, callOf } = world(t, { account: { ...NO_CALL_LIMITS, maxParallelRequests: 1 } });
  slots.free.set('account', 0);
  const order = [1, 1, 2, 1, 3].map((keyId, i) => wait(`${i} of key ${keyId}`, keyId));
  t.ok(queue.isBehind(callOf('new', 4)), 'a newcomer stands behind them');
  for (const { outcome } of order) {
    slots.give('account');
    queue.ended(1, 1);
    await outcome;
  }
  t.same(slots.in, ['0 of key 1', '1 of key 1', '2 of key 2', '3 of key 1', '4 of key 3']);
});

test('a call that needs only a slot queues behind one of which nothing is known yet', async (t) => {
  const { queue, callOf } = world(t);
  const first = queue.join(callOf('a'));
  t.ok(queue.isBehind(callOf('b')), 'it may lack a slot too');
  t.match(await first.outcome, { end: 'held' });
});

test('a slot that is freed elsewhere is found without a signal', async (t) => {
  const { slots, wait } = world(t);
  slots.free.set('key 1', 0);
  const { outcome } = wait('a');
  slots.give('key 1');
  t.match(await outcome, { end: 'held', held: 'a' });
});

test('a call that waited for the longest time is refused by the limit it lacks', async (t) => {
  const { slots, wait, queue } = world(t, { maxQueueMs: 30 });
  slots.free.set('key 1', 0);
  t.match(await wait('a').outcome, {
    end: 'limited',
    full: [{ owner: 'key', name: 'max_parallel_requests' }],
  });
  t.equal(queue.length, 0);
});

test('a call that would wait longer is refused immediately, with those ahead counted', async (t) => {
  const queue = new CallQueue<string>({
    maxQueueMs: 2_500,
    pools: poolsFor(100),
    metrics: { queued() {}, dequeued() {} },
  });
  t.teardown(() => queue.stop());
  // Sixty a minute, all used: one refills each second.
  const requests = { limit: 60, debt: 60 * REFILL_MS };
  const none = { requests: undefined, tokens: undefined, parallel: undefined };
  const limits = { key: { ...none, requests }, account: none };
  const call = {
    accountId: 1,
    keyId: 1,
    tokens: 0,
    limits: { key: { ...NO_CALL_LIMITS, rpmLimit: 60 }, account: NO_CALL_LIMITS },
    attempt: () => new Promise<never>(() => {}),
    giveBack() {},
  };
  const ahead = [queue.join(call, limits), queue.join(call)];
  t.equal(queue.length, 2);
  const outcome = await queue.join(call).outcome;
  t.match(outcome, { end: 'limited', full: [{ owner: 'key', name: 'rpm_limit', limit: 60 }] });
  const [full] = outcome.end === 'limited' ? outcome.full : [];
  t.ok((full?.waitMs ?? 0) > 2_500 && (full?.waitMs ?? 0) <= 3_000, 'with the wait behind the others');
  t.equal(queue.length, 2);
  for (const each of ahead) each.leave();
  t.equal(queue.length, 0);
});

test('a call that waits for requests is not asked for again by every call that ends', async (t) => {
  const { queue, callOf } = world(t);
  const requests = { limit: 60, debt: 60 * REFILL_MS };
  const none = { requests: undefined, tokens: undefined, parallel: undefined };
  const limits = { key: { ...none, requests }, account: none };
  let asked = 0;
  const call = {
    ...callOf('a'),
    limits: { key: { ...NO_CALL_LIMITS, rpmLimit: 60 }, account: NO_CALL_LIMITS },
    async attempt() {
      asked++;
      // Calls end while the answer is on its way.
      if (asked < 100) queue.ended(1, 1);
      await Promise.resolve();
      return { limits, onlyLimits: true };
    },
  };
  const { leave } = queue.join(call, {
    ...limits,
    key: { ...none, requests: { ...requests, debt: REFILL_MS * 59 + 1 } },
  });
  await until('it to be asked for', () => asked > 0);
  t.ok(asked < 10, 'it knows when there is room');
  leave();
});

test('keys that wait for slots ask the more rarely the more of them there are', async (t) => {
  const keys = 1_000;
  const { slots, queue, callOf, states } = world(t, { waitingCalls: keys });
  const began = performance.now();
  for (let keyId = 1; keyId <= keys; keyId++) {
    slots.free.set(`key ${keyId}`, 0);
    queue.join(callOf(`of key ${keyId}`, keyId), states(keyId)).outcome.catch(() => {});
  }
  await until('the last key to ask', () => slots.asked.includes(`of key ${keys}`));
  t.ok(performance.now() - began >= 900, 'after about a second, as a key for each millisecond waits');
});

test('the queue never exceeds its size', async (t) => {
  const { slots, wait, queue } = world(t, { waitingCalls: 2 });
  slots.free.set('key 1', 0);
  const waiting = ['a', 'b', 'c'].map((name) => wait(name));
  t.match(await waiting[2]?.outcome, { end: 'limited' });
  t.equal(queue.length, 2);
  waiting[0]?.leave();
  wait('d');
  t.equal(queue.length, 2, 'room that a client leaves is another’s');
});

test('one account does not fill the waiting room', async (t) => {
  const { slots, queue, callOf, states, shared } = world(t, { waitingCalls: 80 });
  slots.free.set('key 1', 0);
  const join = (accountId: number) => shared.join({ ...callOf('one of many'), accountId }, states(1));
  t.equal(queue.length, 0);
  const ofOne = Array.from({ length: 10 }, () => join(1));
  t.match(await join(1).outcome, { end: 'limited' }, 'an eighth of 80 wait already');
  const others = [join(2), join(3), join(3)];
  t.equal(shared.length, 13);
  for (const { leave } of [...ofOne, ...others]) leave();
  t.equal(shared.length, 0);
  const again = join(1);
  t.equal(shared.length, 1, 'what was left is free again');
  again.leave();
});

test('of a thousand waits that end together, at most 50 end in a turn', async (t) => {
  const { slots, shared, callOf, states } = world(t, { waitingCalls: 8_000, maxQueueMs: 100 });
  slots.free.set('key 1', 0);
  const open = new Set<number>();
  let most = 0;
  const waits = Array.from({ length: 1_000 }, async (_, i) => {
    const { outcome, answered } = shared.join(callOf('ends'), i === 0 ? states(1) : undefined);
    const { end } = await outcome;
    open.add(i);
    most = Math.max(most, open.size);
    // The answer takes a while; no other call may end meanwhile.
    await sleep(1);
    open.delete(i);
    answered();
    return end;
  });
  t.same(new Set(await Promise.all(waits)), new Set(['limited']));
  t.ok(most <= 50, `${most} at once`);
});

test('waits end a little earlier than they must, but not before the room that they are known to get', async (t) => {
  t.equal(waitBound(1_000, 0, 0), 1_000);
  t.equal(waitBound(1_000, 0, 1), 950);
  t.equal(waitBound(1_000, 980, 1), 980);
  t.equal(waitBound(1_000, 1_000, 1), 1_000);
});

test('who leaves is out, and the next one takes the turn', async (t) => {
  const { slots, wait, free, counts } = world(t);
  slots.free.set('key 1', 0);
  const [first, second] = [wait('a'), wait('b')];
  first?.leave();
  t.match(await first?.outcome, { end: 'left' });
  free(1);
  t.match(await second?.outcome, { end: 'held', held: 'b' });
  t.notOk(slots.in.includes('a'));
  t.same(counts, { queued: 2, dequeued: 2 });
});

test('an admission whose client left returns its share of the limits', async (t) => {
  const { slots, wait, free } = world(t);
  slots.free.set('key 1', 0);
  const first = wait('a');
  free(1);
  t.same(slots.asked, ['a'], 'it is asking');
  first.leave();
  t.match(await first.outcome, { end: 'left' });
  await sleep(0);
  t.ok(first.call.given);
});

test('a call that is refused when it is asked for gets that answer, and the next one asks', async (t) => {
  const { slots, wait, free, queue, callOf, states } = world(t);
  slots.free.set('key 1', 0);
  const revoked = { ...callOf('a'), attempt: () => Promise.reject(new Error('revoked')) };
  const first = queue.join(revoked, states(1));
  const second = wait('b');
  const rejected = t.rejects(first.outcome, /revoked/);
  free(1);
  await rejected;
  t.match(await second.outcome, { end: 'held', held: 'b' });
});

test('a gateway that stops refuses all that wait, and those who would', async (t) => {
  const { slots, wait, queue } = world(t);
  slots.free.set('key 1', 0);
  const waiting = [wait('a'), wait('b')];
  const rejected = waiting.map(({ outcome }) => t.rejects(outcome, { code: 'service_unavailable' }));
  queue.stop();
  await Promise.all(rejected);
  t.equal(queue.length, 0);
  await t.rejects(wait('c').outcome, { code: 'service_unavailable' });
});
