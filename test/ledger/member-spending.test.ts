import { type Test, test } from 'tap';
import { micro } from '../../src/domain/credits.ts';
import type { KeyRecord } from '../../src/domain/key.ts';
import { LIMIT_PERIODS } from '../../src/domain/limit-periods.ts';
import { ownedLimits } from '../../src/domain/spending-limits.ts';
import { accountRedisKey, holdsRedisKey, memberRedisKey } from '../../src/ledger/redis/redis-keys.ts';
import { dayThatLasts } from '../helper/check/until.ts';
import { newKey } from '../helper/fixtures/book-records.ts';
import { admissionOf, chargeOf, spend, spentBy, startLedger } from '../helper/start/ledger.ts';
import { OPEN_KEY } from '../helper/start/ledger-account.ts';
import { limitMember, memberOn } from '../helper/start/members.ts';

const CREDIT = 1_000_000;
const FAR_MS = 24 * 3_600_000;

/** An account with a key of its own, two keys of a member, and one of another member. */
async function startMembers(t: Test, settings: Parameters<typeof newKey>[0] = {}) {
  const world = await startLedger(t);
  const { open, book } = world;
  const { key: own } = await world.account({ credits: 100 });
  const keyOf = async (personId: number) => {
    const made = newKey({ ...OPEN_KEY, canManage: false, memberSpendingLimits: [], ...settings, personId });
    const key = await book.createKey(own.accountId, made, Date.now());
    await open.ledger.publishKey(key, key.hash);
    return key;
  };
  const personId = await memberOn(book, own.accountId);
  const keys = [await keyOf(personId), await keyOf(personId)] as const;
  const other = await keyOf(await memberOn(book, own.accountId));
  const held = async () => {
    const { held, estimated } = await open.ledger.reserved(own.accountId, { personId });
    return [held / CREDIT, estimated / CREDIT];
  };
  const epoch = () => world.raw.hget(accountRedisKey(own.accountId), 'ep');
  /** Sets the member's limits at every gateway. Resolves with the member's keys. */
  const limit = async (credits: number) => {
    const limits = [{ period: 'total', credits: micro(credits * CREDIT) }] as const;
    const changed = await limitMember(book, own.accountId, personId, limits);
    for (const key of changed) await open.ledger.publishKey(key);
    return changed as readonly [KeyRecord, KeyRecord];
  };
  return { ...world, own, personId, keys, other, held, epoch, limit };
}

test("a member's limit counts all its keys, and neither the account's nor another member's", async (t) => {
  await dayThatLasts();
  const { open, own, keys, other, limit, epoch } = await startMembers(t);
  const before = await epoch();
  for (const key of [...keys, own, other]) t.equal(await spend(open, admissionOf(key, 2), 2), 'held');
  await open.settled();
  t.equal(await epoch(), before, "a member's first key, and the next, need no rebuild");
  for (const period of LIMIT_PERIODS) {
    t.equal(await spentBy(open.ledger, keys[0], period, 'member'), 4 * CREDIT, `${period}, without a limit`);
    t.equal(await spentBy(open.ledger, other, period, 'member'), 2 * CREDIT);
    t.equal(await spentBy(open.ledger, own, period, 'account'), 8 * CREDIT);
  }
  const limited = await limit(5);
  t.same(await open.ledger.admit(admissionOf(keys[0], 1)), { verdict: 'stale' }, 'a change is exact');
  const [first, second] = limited;
  t.same(ownedLimits(first, []), [{ of: 'member', period: 'total', credits: 5 * CREDIT }]);
  t.equal((await open.ledger.current(first.accountId, first.id))?.key.version, 2);
  t.match(await open.ledger.admit(admissionOf(first, 0.6)), { verdict: 'held' });
  t.match(await open.ledger.admit(admissionOf(second, 0.6)), {
    verdict: 'over_limit',
    spending: [{ of: 'member', spent: 4 * CREDIT, held: 0.6 * CREDIT, estimated: 0.6 * CREDIT }],
  });
  t.match(await open.ledger.admit(admissionOf(second, 0.4)), { verdict: 'held' });
  for (const key of [own, other]) t.match(await open.ledger.admit(admissionOf(key, 6)), { verdict: 'held' });
});

test("an expired or cancelled hold is taken off the member's, also of a call with limits", async (t) => {
  const { open, keys, other, held } = await startMembers(t, { rpmLimit: 600, tpmLimit: 1_000 });
  const none = { rpmLimit: null, tpmLimit: null, maxParallelRequests: null };
  const limits = { key: { ...none, rpmLimit: 600, tpmLimit: 1_000 }, account: none, tokens: 12 };
  const cancelled = admissionOf(keys[0], 3, { estimate: micro(CREDIT), limits });
  t.match(await open.ledger.admit(cancelled), { verdict: 'held' });
  for (const key of [...keys, other]) {
    const call = admissionOf(key, 2, { estimate: micro(CREDIT), limits });
    t.match(await open.ledger.admit(call), { verdict: 'held' });
  }
  t.same(await held(), [7, 3]);
  open.ledger.cancel(cancelled);
  await open.sweep.cancelUnanswered();
  t.same(await held(), [4, 2]);
  await open.sweep.expireHolds(Date.now() + FAR_MS);
  t.same(await held(), [0, 0]);
  t.equal(await spentBy(open.ledger, keys[0], 'total', 'member'), 0);
});

test('a lost Redis, or a lost member, is rebuilt with spend, holds and five hours', async (t) => {
  await dayThatLasts();
  const { personId, open, raw, keys, own, held, limit } = await startMembers(t);
  const [first, second] = await limit(5);
  await spend(open, admissionOf(first, 1), 1);
  await spend(open, admissionOf(second, 2), 2);
  await open.settled();
  await open.ledger.flush('all', 10_000);
  const member = memberRedisKey(own.accountId, personId);
  const [hours] = await raw.hmget(member, 'h');
  t.match(await open.ledger.admit(admissionOf(first, 1)), { verdict: 'held' });
  for (const lose of [() => raw.del(member), () => raw.del(accountRedisKey(own.accountId), member)]) {
    await lose();
    t.match(await open.ledger.admit(admissionOf(second, 1.5)), { verdict: 'over_limit' });
    t.same(await held(), [1, 1]);
    t.equal(await spentBy(open.ledger, keys[0], '5h', 'member'), 3 * CREDIT);
    t.same(await raw.hmget(member, 'h'), [hours]);
  }
  await raw.flushall();
  t.match(await open.ledger.admit(admissionOf(second, 2.5)), {
    verdict: 'over_limit',
    spending: [{ spent: 3 * CREDIT, held: 0 }],
  });
  for (const period of LIMIT_PERIODS)
    t.equal(await spentBy(open.ledger, keys[0], period, 'member'), 3 * CREDIT, period);
});

test('a refund makes room in the limit of the member', async (t) => {
  await dayThatLasts();
  const { open, keys, limit } = await startMembers(t);
  const [first, second] = await limit(5);
  const call = admissionOf(first, 4);
  await open.ledger.admit(call);
  open.ledger.settle({ ...chargeOf(call, 4), admittedAt: Date.now() }, () => {});
  await open.settled();
  t.match(await open.ledger.admit(admissionOf(second, 2)), { verdict: 'over_limit' });
  await open.refunds.refund(first.accountId, call.requestId);
  for (const period of LIMIT_PERIODS)
    t.equal(await spentBy(open.ledger, keys[1], period, 'member'), 0, period);
  t.match(await open.ledger.admit(admissionOf(second, 2)), { verdict: 'held' });
});

test('a gateway of an earlier version beside this one knows no members', async (t) => {
  const { open, raw, own, personId, keys, held } = await startMembers(t);
  const { accountId } = own;
  await spend(open, admissionOf(keys[0], 1), 1);
  await open.settled();
  // Its rebuilds restore no members, and its holds name none.
  await raw.del(memberRedisKey(accountId, personId));
  const hold = `2000000 ${Date.now() + 1} ${keys[0].id} ${accountId} 1 2000000 text /v1/chat/completions flat`;
  await raw.hset(holdsRedisKey(accountId % 64), 'earlier', hold);
  t.equal(await spentBy(open.ledger, keys[0], 'total', 'member'), CREDIT);
  t.equal(await spend(open, admissionOf(keys[1], 1), 1), 'held');
  await open.settled();
  await open.sweep.expireHolds(Date.now() + FAR_MS);
  t.same(await held(), [0, 0]);
  t.equal(await spentBy(open.ledger, keys[0], 'total', 'member'), 2 * CREDIT);
  t.match(await open.ledger.account(accountId), { held: 0, balance: 98 * CREDIT });
});
