import { test } from 'tap';
import { micro } from '../../src/domain/credits.ts';
import type { KeyRecord } from '../../src/domain/key.ts';
import { LedgerUnavailable } from '../../src/ledger/ledger.ts';
import { accountRedisKey, keyRedisKey } from '../../src/ledger/redis/redis-keys.ts';
import { rejection } from '../helper/check/rejection.ts';
import { admissionOf, spend, spentBy, startLedger } from '../helper/start/ledger.ts';

const RESTRICTED: Partial<KeyRecord> = {
  allowedIps: ['203.0.113.0/24'],
  allowedModels: ['flat'],
  expiresAt: 4e12,
  spendingLimit: micro(5_000_000),
};

test('a published key that lacks a field of this version is read from the book, with its restrictions', async (t) => {
  const { open, account, raw, book } = await startLedger(t);
  const { key, hash } = await account({ credits: 10, key: RESTRICTED });
  await spend(open, admissionOf(key, 3), 3);
  const published = keyRedisKey(key.accountId, key.id);
  const record = JSON.parse((await raw.hget(published, 'rec')) ?? '') as KeyRecord;
  for (const field of Object.keys(record)) {
    const older = Object.fromEntries(Object.entries(record).filter(([name]) => name !== field));
    await raw.hset(published, 'rec', JSON.stringify(older));
    t.same((await open.ledger.find(hash))?.key, await book.key(key.accountId, key.id), field);
  }
  t.match(await open.ledger.admit(admissionOf(key, 3)), {
    verdict: 'over_limit',
    spending: [{ spent: 3_000_000 }],
  });
  t.match(await open.ledger.account(key.accountId), { balance: 7_000_000 });
});

test('a gateway of an earlier version beside this one lifts no restriction that it does not know', async (t) => {
  const { open, account, raw, book } = await startLedger(t);
  const { key } = await account({ credits: 10, key: RESTRICTED });
  const changed = (await book.updateKey(key.accountId, key.id, { name: 'renamed' }, Date.now())) as KeyRecord;
  const { allowedIps, ...known } = changed;
  await open.ledger.publishKey(known as KeyRecord);
  t.equal(await raw.hget(keyRedisKey(key.accountId, key.id), 'v'), '2');
  t.match((await open.ledger.current(key.accountId, key.id))?.key, { name: 'renamed', allowedIps });
  const epoch = await raw.hget(accountRedisKey(key.accountId), 'ep');
  await open.ledger.current(key.accountId, key.id);
  t.equal(await raw.hget(accountRedisKey(key.accountId), 'ep'), epoch, 'rebuilt once');
});

test('a key whose record stays unusable is no unknown key', async (t) => {
  const { open, account, raw } = await startLedger(t);
  const { key, hash } = await account({ credits: 10 });
  // A rebuild keeps a record that is newer than the book's.
  const { allowedIps, ...older } = { ...key, version: 9 };
  await raw.hset(keyRedisKey(key.accountId, key.id), 'v', 9, 'rec', JSON.stringify(older));
  t.type(await rejection(open.ledger.find(hash)), LedgerUnavailable);
});

test('what a gateway of 0.2 spends beside this one counts in every window', async (t) => {
  const { open, account, raw } = await startLedger(t);
  const { key } = await account({ credits: 10 });
  const names = [accountRedisKey(key.accountId), keyRedisKey(key.accountId, key.id)] as const;
  await spend(open, admissionOf(key, 1), 1);
  await open.settled();
  // Its rebuilds write neither, and its charges none of the windows.
  for (const name of names) await raw.hdel(name, 'h', 'hs', 'ts', 'win');
  const limit = { of: 'key', period: 'total', credits: micro(3_000_000) } as const;
  t.equal(await spend(open, admissionOf(key, 1, { spendingLimits: [limit] }), 1), 'held');
  await open.settled();
  t.equal(await spentBy(open.ledger, key, 'total'), 2_000_000);
  const behind = async () => {
    const win = await raw.hget(names[0], 'win');
    await raw.hset(names[0], 'win', `1${win?.slice(win.indexOf(' '))}`);
  };
  await behind();
  t.match(await open.ledger.admit(admissionOf(key, 2, { spendingLimits: [limit] })), {
    verdict: 'over_limit',
    spending: [{ spent: 2_000_000 }],
  });
  await behind();
  t.equal(await spend(open, admissionOf(key, 0.5), 0.5), 'held');
  await open.settled();
  t.equal(await spentBy(open.ledger, key, 'total', 'account'), 2_500_000);
  t.equal(await spentBy(open.ledger, key, '5h'), 2_500_000);
});
