import { test } from 'tap';
import { BookUnavailable } from '../../src/book/store.ts';
import { micro } from '../../src/domain/credits.ts';
import { hashRedisKey, keyRedisKey } from '../../src/ledger/redis/redis-keys.ts';
import { until } from '../helper/check/until.ts';
import { admissionOf, spend, spentBy, startLedger } from '../helper/start/ledger.ts';

const [NEW_HASH, PREFIX] = ['cd'.repeat(32), 'sk-tg-new'];

test('a rotated key keeps its spend, and is found by both values', async (t) => {
  const { open, account, book, raw } = await startLedger(t);
  const { key, hash } = await account({ key: { spendingLimit: micro(5_000_000) } });
  t.equal(await spend(open, admissionOf(key, 3), 3), 'held');
  const endsAt = (await open.ledger.time(key.accountId)) + 60_000;
  const value = { hash: NEW_HASH, prefix: PREFIX, previousValidUntil: endsAt };
  const rotated = await book.rotateKey(key.accountId, key.id, value, Date.now());
  if (!rotated) throw new Error('not rotated');
  await open.ledger.publishRotatedKey(rotated.key, null);
  t.equal(await raw.get(hashRedisKey(NEW_HASH)), `${key.accountId}:${key.id}`);
  t.equal(await spentBy(open.ledger, key, 'monthly'), 3_000_000);
  t.equal(await spend(open, admissionOf(key, 1), 1), 'stale');
  t.match(await open.ledger.admit(admissionOf(rotated.key, 3)), {
    verdict: 'over_limit',
    spending: [{ spent: 3_000_000 }],
  });
  for (const one of [hash, NEW_HASH]) {
    t.match(await open.ledger.find(one), {
      key: { id: key.id, version: 2, hash: NEW_HASH, previousHash: hash, previousValidUntil: endsAt },
    });
  }
});

test('Redis has the three newest values of a key, however often it is rotated', async (t) => {
  const { open, account, book, raw } = await startLedger(t);
  const { key } = await account();
  for (let rotation = 0; rotation < 5; rotation++) {
    const value = { hash: `${rotation}`.repeat(64), prefix: PREFIX, previousValidUntil: null };
    const rotated = await book.rotateKey(key.accountId, key.id, value, Date.now());
    if (!rotated) throw new Error('not rotated');
    await open.ledger.publishRotatedKey(rotated.key, rotated.endedHash);
  }
  const known = await Promise.all([...'01234'].map((digit) => raw.exists(hashRedisKey(digit.repeat(64)))));
  t.same(known, [0, 0, 1, 1, 1]);
});

test('the clock of Redis is asked where it must not be late', async (t) => {
  const { open, account, raw } = await startLedger(t);
  const { key } = await account();
  const redisMs = async () => {
    const [seconds, microseconds] = await raw.time();
    return Math.floor(Number(seconds) * 1_000 + Number(microseconds) / 1_000);
  };
  const before = await redisMs();
  const asked = await open.ledger.time(key.accountId);
  t.ok(asked >= before, `${asked} at or after ${before}`);
  t.ok(open.ledger.now(key.accountId) <= (await redisMs()), 'what is known of it is never early');
});

test('a value whose rotation Redis lost is not taken for a replaced one while the book is away', async (t) => {
  const { open, account, book, raw } = await startLedger(t);
  const { key, hash } = await account();
  const { accountId } = key;
  const name = keyRedisKey(accountId, key.id);
  const older = await raw.hgetall(name);
  const value = { hash: NEW_HASH, prefix: PREFIX, previousValidUntil: null };
  const rotated = await book.rotateKey(accountId, key.id, value, Date.now());
  if (!rotated) throw new Error('not rotated');
  await open.ledger.publishRotatedKey(rotated.key, null);
  const { recentAccounts, changedSince, keyByHash } = book;
  const away = () => Promise.reject(new BookUnavailable('away'));
  Object.assign(book, { recentAccounts: away, changedSince: away, keyByHash: away });
  // As on a replica that takes over without the rotation while the book is unreachable.
  await raw.hset(name, older);
  await raw.call('CLIENT', 'KILL', 'TYPE', 'NORMAL');
  await until('the ledger to go on', () => open.ledger.account(accountId).catch(() => undefined));
  t.match(await open.ledger.find(hash), { key: { version: 1 } }, 'calls go on by what Redis has');
  await t.rejects(open.ledger.find(NEW_HASH), { message: 'away' });
  book.keyByHash = keyByHash;
  t.match(await open.ledger.find(NEW_HASH), { key: { version: 2, hash: NEW_HASH } }, 'the book tells');
  Object.assign(book, { recentAccounts, changedSince, keyByHash: away });
  const found = await until('the comparison', () => open.ledger.find(hash).catch(() => undefined));
  t.match(found, { key: { version: 2, hash: NEW_HASH } }, 'the book need not be asked any more');
});
