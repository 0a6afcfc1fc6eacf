import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'tap';
import { openBook } from '../../src/book/open-book.ts';
import { micro } from '../../src/domain/credits.ts';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import {
  accountRedisKey,
  bucketOf,
  holdsRedisKey,
  journalRedisKey,
  keyRedisKey,
} from '../../src/ledger/redis/redis-keys.ts';
import { until } from '../helper/check/until.ts';
import {
  admissionOf,
  chargeOf,
  entriesOf,
  log,
  spend,
  startLedger,
  type TestLedger,
} from '../helper/start/ledger.ts';
import { accountOn } from '../helper/start/ledger-account.ts';
import { REDIS_TIMEOUT_MS, startRedis } from '../helper/start/redis-process.ts';

/** A held call of a new account with 10 credits. */
async function heldCall({ account, open }: TestLedger) {
  const owner = await account({ credits: 10 });
  const admission = admissionOf(owner.key, 2);
  const admitted = await open.ledger.admit(admission);
  if (admitted.verdict !== 'held') throw new Error(admitted.verdict);
  const settle = () => open.ledger.settle(chargeOf(admission, 1), () => {});
  return { ...owner, admission, settle };
}

test('a settle that cannot be booked moves nothing, keeps back no other, and is made once it can', async (t) => {
  const world = await startLedger(t);
  const { open, raw, book } = world;
  const calls = [await heldCall(world), await heldCall(world), await heldCall(world)] as const;
  const [first, broken, last] = calls;
  await open.settled();
  const { id: accountId } = broken.account;
  await raw.hset(keyRedisKey(accountId, broken.key.id), 'ms', 'not a number');
  for (const { settle } of calls) settle();
  for (const { account } of [first, last]) {
    await until('the others to be settled', async () => (await open.ledger.account(account.id)).held === 0);
    t.match(await open.ledger.account(account.id), { balance: 9_000_000 });
  }
  t.match(await open.ledger.account(accountId), { balance: 10_000_000, held: 2_000_000 });
  t.equal(await raw.hexists(holdsRedisKey(bucketOf(accountId)), broken.admission.requestId), 1);

  await raw.hset(keyRedisKey(accountId, broken.key.id), 'ms', '0');
  await open.settled();
  t.match(await open.ledger.account(accountId), { balance: 9_000_000, held: 0 });
  t.same(
    (await entriesOf(book, accountId)).map(({ credits, balanceAfter }) => [credits, balanceAfter]),
    [
      [10_000_000, 10_000_000],
      [-1_000_000, 9_000_000],
    ],
  );
});

test('a settle whose journal cannot be written moves nothing, and is made once it can', async (t) => {
  const world = await startLedger(t);
  const { open, raw } = world;
  const { account, admission, settle } = await heldCall(world);
  await open.settled();
  const [holds, journal] = [holdsRedisKey(bucketOf(account.id)), journalRedisKey(bucketOf(account.id))];
  await raw.del(journal);
  await raw.set(journal, 'no stream');
  await raw.config('RESETSTAT');
  settle();
  await until('it to be tried', async () =>
    /errorstat_WRONGTYPE:count=\d/.test(await raw.info('errorstats')),
  );
  t.match(await open.ledger.account(account.id), { balance: 10_000_000, held: 2_000_000 });
  t.equal(await raw.hexists(holds, admission.requestId), 1);
  await raw.del(journal);
  await open.settled();
  t.match(await open.ledger.account(account.id), { balance: 9_000_000, held: 0 });
});

test('a Redis without memory refuses calls, and settles those that it has', async (t) => {
  const world = await startLedger(t, { ownRedis: true });
  const { open, raw, account } = world;
  const calls = [await heldCall(world), await heldCall(world)];
  const owner = await account({ credits: 10 });
  await open.settled();
  await raw.config('SET', 'maxmemory', '1');
  const refused = await Promise.allSettled([1, 2].map(() => open.ledger.admit(admissionOf(owner.key, 1))));
  t.match(refused, [{ status: 'rejected' }, { status: 'rejected' }]);
  for (const { settle } of calls) settle();
  for (const { account } of calls) {
    await until('it to be settled', async () => (await open.ledger.account(account.id)).held === 0);
    t.match(await open.ledger.account(account.id), { balance: 9_000_000 });
  }
  await raw.config('SET', 'maxmemory', '0');
  await open.sweep.cancelUnanswered();
  t.match(await open.ledger.account(owner.account.id), { balance: 10_000_000, held: 0 });
});

test('a top-up whose journal cannot be written is not taken for applied', async (t) => {
  const { open, raw, account } = await startLedger(t);
  const { account: owner } = await account({ credits: 10 });
  await open.settled();
  const journal = journalRedisKey(bucketOf(owner.id));
  await raw.del(journal);
  await raw.set(journal, 'no stream');
  const grant = {
    id: 'not_written',
    accountId: owner.id,
    amount: micro(5_000_000),
    type: 'top_up',
    note: '',
    createdAt: 1,
  } as const;
  await t.rejects(open.ledger.grant(grant));
  await raw.del(journal);
  t.equal(await open.ledger.grant(grant), 15_000_000);
  t.equal(await open.ledger.grant(grant), 15_000_000, 'once');
});

test('an invalid epoch affects its own account only', async (t) => {
  const { open, raw, account } = await startLedger(t);
  const [broken, sound] = [await account({ credits: 5 }), await account({ credits: 5 })];
  const { id } = broken.account;
  await raw.hset(accountRedisKey(id), 'ep', 'none');
  await raw.hset(keyRedisKey(id, broken.key.id), 'ep', 'none');
  const answers = await Promise.allSettled(
    [sound, broken, sound].map(({ key }) => open.ledger.admit(admissionOf(key, 1))),
  );
  t.match(answers, [
    { status: 'fulfilled', value: { verdict: 'held' } },
    { status: 'rejected', reason: { message: 'the live state is lost again and again' } },
    { status: 'fulfilled', value: { verdict: 'held' } },
  ]);
  t.equal(
    await raw.hlen(holdsRedisKey(bucketOf(sound.account.id))),
    2 + 1,
    'two holds, and the marker of the top-up',
  );
});

test('an invalid sum of holds affects its own account only', async (t) => {
  const { open, raw, account } = await startLedger(t);
  const [broken, sound] = [await account({ credits: 5 }), await account({ credits: 5 })];
  await raw.hset(accountRedisKey(broken.account.id), 'held', '0.25');
  const answers = await Promise.all(
    [sound, broken, sound].map(({ key }) => open.ledger.admit(admissionOf(key, 1))),
  );
  t.same(
    answers.map(({ verdict }) => verdict),
    ['held', 'held', 'held'],
  );
  t.match(await open.ledger.account(sound.account.id), { held: 2_000_000 });
  t.match(await open.ledger.account(broken.account.id), { held: 1_000_000 });
});

test('a book whose name is not ASCII has its calls admitted and settled', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-named-'));
  t.teardown(() => rmSync(dataDir, { recursive: true, force: true }));
  const redis = await startRedis(t);
  await (await openBook({ databaseUrl: undefined, dataDir })).close();
  const file = new DatabaseSync(join(dataDir, 'book.sqlite'));
  file.exec("update identity set id = 'Zürich → 2'");
  file.close();
  const book = await openBook({ databaseUrl: undefined, dataDir });
  t.teardown(() => book.close());
  const open = await openLedger({
    address: { kind: 'single', url: redis.url },
    book,
    log,
    requestTimeoutMs: 60_000,
    redisTimeoutMs: REDIS_TIMEOUT_MS,
    onAlerts() {},
  });
  t.teardown(() => open.close(1_000));
  const { key } = await accountOn(book, open.ledger, { credits: 10 });
  t.equal(await spend(open, admissionOf(key, 2, { model: 'größer/模型 1' }), 1), 'held');
  await open.settled();
  t.match(await open.ledger.account(key.accountId), { balance: 9_000_000, held: 0 });
});
