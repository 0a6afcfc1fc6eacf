import { randomUUID } from 'node:crypto';
import { test } from 'tap';
import { MAX_BALANCE, micro } from '../../src/domain/credits.ts';
import { BalanceBeyondBound } from '../../src/ledger/ledger.ts';
import {
  accountRedisKey,
  bucketOf,
  journalRedisKey,
  keyRedisKey,
} from '../../src/ledger/redis/redis-keys.ts';
import { until } from '../helper/check/until.ts';
import { hasEntry } from '../helper/fixtures/book-records.ts';
import {
  admissionOf,
  entriesOf,
  spend,
  spentBy,
  startLedger,
  type TestLedger,
} from '../helper/start/ledger.ts';

const HUGE = 8_000_000_000_000_000;

function grantOf(accountId: number, amount: number) {
  const type = amount > 0 ? ('top_up' as const) : ('adjustment' as const);
  return { id: randomUUID(), accountId, amount: micro(amount), type, note: '', createdAt: Date.now() };
}

async function recorded({ book }: TestLedger, accountId: number, amount: number) {
  return (await book.createGrant(grantOf(accountId, amount), null)).grant;
}

test('of fifty concurrent top-ups only those that fit the maximum balance are applied', async (t) => {
  const world = await startLedger(t);
  const second = await world.second();
  const { account } = await world.account({ credits: 0 });
  const grants = await Promise.all(Array.from({ length: 50 }, () => recorded(world, account.id, HUGE)));
  const results = await Promise.allSettled(
    grants.map((grant, turn) => (turn % 2 ? world.open : second).ledger.grant(grant)),
  );
  t.equal(results.filter(({ status }) => status === 'fulfilled').length, 1);
  const refused = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
  t.ok(refused.every((error) => error instanceof BalanceBeyondBound));
  t.match(await world.open.ledger.account(account.id), { balance: HUGE });
  await world.open.settled();
  t.equal((await entriesOf(world.book, account.id)).length, 1);
});

test('a top-up fits to the very bound, and so does an adjustment with holds', async (t) => {
  const world = await startLedger(t);
  const { ledger } = world.open;
  const { account, key } = await world.account({ credits: 0 });
  t.equal(await ledger.grant(await recorded(world, account.id, MAX_BALANCE)), MAX_BALANCE);
  await t.rejects(ledger.grant(await recorded(world, account.id, 1)), new BalanceBeyondBound());
  t.equal((await ledger.admit(admissionOf(key, 1))).verdict, 'held');
  await ledger.grant(await recorded(world, account.id, -MAX_BALANCE));
  await t.rejects(ledger.grant(await recorded(world, account.id, -MAX_BALANCE)), new BalanceBeyondBound());
  t.equal(
    await ledger.grant(await recorded(world, account.id, 1_000_000 - MAX_BALANCE)),
    1_000_000 - MAX_BALANCE,
  );
});

test('a top-up that was refused stays refused when there is room again, and leaves the book', async (t) => {
  const world = await startLedger(t);
  const { ledger } = world.open;
  const { account } = await world.account({ credits: 0 });
  await ledger.grant(await recorded(world, account.id, HUGE));
  const refused = (await world.book.createGrant({ ...grantOf(account.id, HUGE), createdAt: 1 }, 'key')).grant;
  await t.rejects(ledger.grant(refused), new BalanceBeyondBound());
  await ledger.grant(await recorded(world, account.id, -HUGE));
  await t.rejects(ledger.grant(refused), new BalanceBeyondBound());
  await world.open.sweep.repair();
  t.same(await world.book.pendingGrants(Date.now() - 10_000, 10), []);
  t.match(await ledger.account(account.id), { balance: 0 });
});

test('an account whose balance went beyond 2^53 keeps back no other, and is set right from the book', async (t) => {
  const world = await startLedger(t);
  const { open, book, raw } = world;
  const { account } = await world.account({ credits: HUGE / 1e6 });
  let other = await world.account();
  while (bucketOf(other.account.id) !== bucketOf(account.id)) other = await world.account();
  await open.settled();
  const { id: accountId } = account;
  const grant = await recorded(world, accountId, HUGE);
  const epoch = await raw.hget(accountRedisKey(accountId), 'ep');
  const { note: _note, ...draft } = { ...grant, credits: HUGE, keyId: null, usage: {}, estimated: false };
  await raw.hset(accountRedisKey(accountId), 'bal', String(2 * HUGE), 'seq', '2');
  const journal = journalRedisKey(bucketOf(accountId));
  await raw.xadd(journal, '*', 'e', `2 ${2 * HUGE} 20000 ${epoch} 0 ${JSON.stringify(draft)}`);
  const call = admissionOf(other.key, 1);
  await spend(open, call, 1);
  await until('the entry behind it to be in the book', () => hasEntry(book, call.requestId));
  await until('the account to be set right', async () => {
    return (await open.ledger.account(accountId).catch(() => undefined))?.balance === HUGE;
  });
  await until('the entry to be counted', async () => open.drain.refused === 1);
  t.equal(await raw.xlen(journal), 1, 'the top-up without room is kept');
  // It is applied once there is room.
  await open.ledger.grant(await recorded(world, accountId, -HUGE));
  await until('it to be in the book', () => hasEntry(book, grant.id));
  await until('it to count', async () => (await open.ledger.account(accountId)).balance === HUGE);
});

test('a key’s spend in a period stays a number beyond 2^53, also after a rebuild', async (t) => {
  const world = await startLedger(t);
  const { ledger } = world.open;
  const { account, key } = await world.account({ credits: 0 });
  for (let turn = 0; turn < 3; turn++) {
    await ledger.grant(await recorded(world, account.id, HUGE));
    await spend(world.open, admissionOf(key, HUGE / 1e6), HUGE / 1e6);
    await until('the settle', async () => (await ledger.account(account.id)).balance === 0);
  }
  const most = [Number.MAX_SAFE_INTEGER];
  t.same([await spentBy(ledger, key, 'monthly')], most);
  await world.open.settled();
  await world.raw.del(accountRedisKey(account.id), keyRedisKey(account.id, key.id));
  t.match(await ledger.account(account.id), { balance: 0 });
  t.same([await spentBy(ledger, key, 'monthly')], most);
  const today = Math.floor(Date.now() / 86_400_000);
  for (const by of ['day', 'key', 'model'] as const) {
    const [row] = await world.book.usage(account.id, today - 1, today + 1, by);
    t.equal(row?.credits, 3n * BigInt(HUGE));
  }
});
