import { test } from 'tap';
import { type LimitField, limitsFrom, NO_LIMITS } from '../model/limits-model.ts';
import type { CallModel, KeyModel } from '../model/model.ts';
import { answer, fixture, loss } from './check-fixture.ts';
import { checkLimits, checkLiveLimits, checkRefusals } from './check-limits.ts';
import type { Use } from './uses.ts';

// Tests of the checker: faults in rate limits that it must find, and excuses.

/** The fixture, whose key has one limit from the beginning. */
function withLimit(field: LimitField, limit: number | null) {
  const base = fixture();
  const [key] = base.model.keys as [KeyModel];
  Object.assign(key, { limits: limitsFrom({ ...NO_LIMITS, [field]: limit }) });
  return { ...base, key };
}

/** A call admitted between these two times that certainly doesn't end before `until`. */
function use(key: KeyModel, [from, heldAt]: readonly [number, number], until = heldAt): Use {
  return {
    name: `call from ${from}`,
    key,
    from,
    heldAt,
    until,
    tookTokens: { least: 50, most: 100 },
    usedTokens: 60,
    correctedAt: until,
    mayBeReplicated: true,
  };
}

test('one open call too many is found, of a key and of an account', async (t) => {
  const { model, key } = withLimit('max_parallel_requests', 2);
  const two = [use(key, [1, 2], 100), use(key, [3, 4], 100)];
  const find = (...more: Use[]) => checkLimits(model, [...two, ...more], false);
  t.same(find(), []);
  t.same(find(use(key, [99, 100], 110)), [], 'the others may have ended');
  t.match(find(use(key, [98, 99], 110)), [/^key 1: 3 calls were open at 99, and 2 are allowed/]);
  const [account] = model.accounts;
  Object.assign(account ?? {}, { limits: limitsFrom({ ...NO_LIMITS, max_parallel_requests: 1 }) });
  t.match(find(), [/^account 1: 2 calls were open at 4, and 1 are allowed/]);
});

test('a lowered limit ends no open call, and admits none', async (t) => {
  const { model, key } = withLimit('max_parallel_requests', 2);
  key.limits.max_parallel_requests.push({ limit: 1, askedAt: 50, answeredAt: 60, settledAt: 60 });
  const first = use(key, [1, 2], 100);
  const found = (from: number, heldAt: number) =>
    checkLimits(model, [first, use(key, [from, heldAt], 100)], false).length;
  t.equal(found(3, 4), 0);
  t.equal(found(60, 61), 0, 'admitted in the instant of the answer');
  t.equal(found(61, 62), 1);
});

test('a change that was not answered may be in force or not, until a later one is', async (t) => {
  const { model, key } = withLimit('max_parallel_requests', 1);
  const changes = key.limits.max_parallel_requests;
  changes.push({ limit: 2, askedAt: 5, answeredAt: undefined, settledAt: 20 });
  const found = (from: number) =>
    checkLimits(model, [use(key, [1, 2], 500), use(key, [from, from + 1], 500)], false).length;
  t.equal(found(3), 1, 'before it was asked');
  t.equal(found(90), 0);
  changes.push({ limit: 1, askedAt: 10, answeredAt: 30, settledAt: 30 });
  t.equal(found(90), 0, 'the later one may have overtaken it');
  changes.push({ limit: 1, askedAt: 40, answeredAt: 50, settledAt: 50 });
  t.equal(found(90), 1);
});

test('one request too many in a window is found', async (t) => {
  const { model, key } = withLimit('rpm_limit', 3);
  const find = (...times: (readonly [number, number])[]) =>
    checkLimits(
      model,
      times.map((time) => use(key, time)),
      false,
    );
  t.same(find([0, 1], [0, 2], [0, 3], [20_000, 20_001]), [], 'one comes back in 20 s');
  t.match(find([0, 1], [0, 2], [0, 3], [0, 4]), [/^key 1: 4 calls began from 0 to 4, and 3\.00 are allowed/]);
  t.match(find([0, 1], [0, 2], [0, 3], [19_990, 19_991]), [/4 calls began/]);
  t.match(
    find([0, 1], [70_000, 70_001], [70_000, 70_002], [70_000, 70_003], [70_000, 70_004]),
    [/4 calls began from 70000 to 70004/],
    'idle time is not saved up',
  );
});

test('a limit that was set again, or lost with Redis, is full', async (t) => {
  const { model, key } = withLimit('rpm_limit', 1);
  const find = () => checkLimits(model, [use(key, [0, 1]), use(key, [10, 11])], false).length;
  t.equal(find(), 1);
  model.losses.push(loss({ from: 12, at: 13 }));
  t.equal(find(), 1);
  model.losses.push(loss({ from: 3, at: 4, buckets: new Set([2]) }));
  t.equal(find(), 1, 'on another node');
  model.losses.push(loss({ from: 3, at: 4, isFailover: true }));
  t.equal(find(), 0);
  t.equal(checkLimits(model, [use(key, [0, 1]), use(key, [10, 11])], true).length, 1, 'a replica had it');
  const anew = withLimit('rpm_limit', 1);
  anew.key.limits.rpm_limit.push({ limit: null, askedAt: 3, answeredAt: 4, settledAt: 4 });
  anew.key.limits.rpm_limit.push({ limit: 1, askedAt: 5, answeredAt: 6, settledAt: 6 });
  t.same(checkLimits(anew.model, [use(anew.key, [0, 1]), use(anew.key, [10, 11])], false), []);
});

test('tokens beyond the limit are found, less those that calls give back', async (t) => {
  const { model, key } = withLimit('tpm_limit', 120);
  const find = (...uses: Use[]) => checkLimits(model, uses, false);
  t.same(find(use(key, [0, 1]), use(key, [0, 2])), []);
  t.match(find(use(key, [0, 1]), use(key, [0, 2]), use(key, [0, 3])), [/^key 1: 150 tokens were taken/]);
  const idle = { ...use(key, [0, 1]), usedTokens: 0 };
  t.same(find(idle, use(key, [2, 3]), use(key, [2, 4])), [], 'it has given back what it took');
  t.match(
    find({ ...idle, until: 10 }, use(key, [2, 3]), use(key, [2, 4])),
    [/150 tokens/],
    'not while it is open',
  );
  // A minute later the bucket is full again, and the unused tokens of the first call may come back a second time.
  const before = { ...use(key, [0, 1]), tookTokens: { least: 0, most: 100 }, usedTokens: 0 };
  const later = [60_001, 60_002, 60_003].map((at) => use(key, [60_000, at]));
  t.same(find({ ...before, correctedAt: 60_000 }, ...later), []);
  t.match(find({ ...before, correctedAt: 59_999 }, ...later), [/150 tokens were taken from 60000 to 60003/]);
});

test('a refusal by a limit that is not there, and a call that was sent all the same, are found', async (t) => {
  const { model, key } = withLimit('rpm_limit', null);
  const [call] = model.calls as [CallModel];
  const text = '{"error":{"code":"rate_limit_exceeded"}}';
  model.calls.splice(0, 2, { ...call, startedAt: 10, answer: answer({ status: 429, endedAt: 20, text }) });
  t.match(checkRefusals(model, new Map()), [/refused by a limit that key 1 does not have/]);
  t.match(checkRefusals(model, new Map([[1, 1]])), [/was refused by a limit and sent/]);
  key.limits.rpm_limit.push({ limit: 1, askedAt: 15, answeredAt: 30, settledAt: 30 });
  t.same(checkRefusals(model, new Map()), []);
});

test('Redis must end with the limits of the book and no open call', async (t) => {
  const { model, snapshot } = withLimit('max_parallel_requests', 2);
  const find = (live: Record<string, string>, limit: number | null = 2) => {
    const [row] = snapshot.keys;
    const keys = row ? [{ ...row, max_parallel_requests: limit }] : [];
    const liveKeys = new Map([[1, { ep: '1', v: '1', ...live }]]);
    return checkLiveLimits({ ...snapshot, keys, liveKeys }, model);
  };
  t.same(find({ lim: '- - 2', open: '0' }), []);
  t.match(find({ lim: '- - 2', open: '1' }), [/^key 1: 1 calls counted as open/]);
  t.match(find({ lim: '- - 3', open: '0' }), [/^key 1: limits are - - 3 in Redis, - - 2 in the book/]);
  t.match(find({ lim: '- - 2', open: '0', rq: '0 1 1' }), [/^key 1: rq is 0 1 1 in Redis, its limit null/]);
  t.match(find({ lim: '- - 3', open: '0' }, 3), [/^key 1: max_parallel_requests is 3 in the book, which/]);
  t.same(find({ lim: '- - 3', open: '0', v: '2' }), [], 'a newer version');
});
