import { test } from 'tap';
import { micro } from '../../src/domain/credits.ts';
import { parseJournalEntry } from '../../src/ledger/journal/entry-text.ts';
import { Rebuilder } from '../../src/ledger/recovery/rebuild.ts';
import { BucketOwners } from '../../src/ledger/redis/bucket-owners.ts';
import { RedisClock } from '../../src/ledger/redis/clock.ts';
import { createRedis } from '../../src/ledger/redis/connect.ts';
import {
  accountRedisKey,
  holdsRedisKey,
  journalRedisKey,
  redisKeyPrefix,
} from '../../src/ledger/redis/redis-keys.ts';
import { until } from '../helper/check/until.ts';
import { hasEntry } from '../helper/fixtures/book-records.ts';
import { admissionOf, chargeOf, entriesOf, log, spend, startLedger } from '../helper/start/ledger.ts';

test('credits of an entry from a past epoch cannot be spent again after a rebuild', async (t) => {
  const { open, account, book, raw } = await startLedger(t);
  const { key } = await account({ credits: 10 });
  await open.settled();
  t.equal(await spend(open, admissionOf(key, 8), 8), 'held');
  // A rebuild began elsewhere; and Redis loses the account.
  await book.snapshot(key.accountId, { day: 0, week: 0, month: 0 });
  await raw.del(accountRedisKey(key.accountId));
  t.match(await open.ledger.admit(admissionOf(key, 5)), { verdict: 'insufficient', balance: 2_000_000 });
  await open.settled();
  t.same(
    (await entriesOf(book, key.accountId)).map(({ credits, balanceAfter }) => [credits, balanceAfter]),
    [
      [10_000_000, 10_000_000],
      [-8_000_000, 2_000_000],
    ],
  );
});

test('waiting entries of another account of the bucket are no part of a rebuild', async (t) => {
  const { open, account, book, raw } = await startLedger(t);
  const { key } = await account({ credits: 10 });
  await spend(open, admissionOf(key, 1), 1);
  await open.settled();
  const [, charge] = await entriesOf(book, key.accountId);
  const neighbors = JSON.stringify({ ...charge, id: 'neighbors', accountId: key.accountId + 64 });
  const journal = journalRedisKey(key.accountId % 64);
  await raw.xadd(journal, '*', 'e', `1 0 20000 0 0 ${neighbors}`);
  await raw.del(accountRedisKey(key.accountId));
  t.match(await open.ledger.account(key.accountId), { balance: 9_000_000 });
  t.equal(await raw.xlen(journal), 1, 'and waits where it is');
  await raw.del(journal);
});

test('a settle sent again while its entry is of an epoch that is over is not applied a second time', async (t) => {
  const { open, account, book } = await startLedger(t);
  const { key } = await account({ credits: 10 });
  await open.settled();
  const admission = admissionOf(key, 2);
  const admitted = await open.ledger.admit(admission);
  if (admitted.verdict !== 'held') return t.fail('not held');
  const settle = () => new Promise<void>((resolve) => open.ledger.settle(chargeOf(admission, 2), resolve));
  await settle();
  // A rebuild began elsewhere.
  await book.snapshot(key.accountId, { day: 0, week: 0, month: 0 });
  await settle();
  await until('its entry to be in the book', async () => {
    await open.settled();
    return await hasEntry(book, admission.requestId);
  });
  await open.settled();
  t.match(await open.ledger.account(key.accountId), { balance: 8_000_000, held: 0 });
});

test('a top-up whose entry is of an epoch that is over counts once, also where Redis has forgotten its marker', async (t) => {
  const { open, account, book, raw } = await startLedger(t);
  const { key } = await account({ credits: 10 });
  await open.settled();
  const { accountId } = key;
  const { grant } = await book.createGrant(
    { id: 'waits', accountId, amount: micro(5_000_000), type: 'top_up', note: '', createdAt: 1 },
    null,
  );
  await open.ledger.grant(grant);
  await book.snapshot(accountId, { day: 0, week: 0, month: 0 });
  // Redis loses the account and no longer has the marker, as after a day.
  await raw.del(accountRedisKey(accountId));
  await raw.hdel(holdsRedisKey(accountId % 64), 'waits');
  t.match(await open.ledger.account(accountId), { balance: 15_000_000 });
  await open.settled();
  t.same(
    (await entriesOf(book, accountId)).map(({ credits }) => credits),
    [10_000_000, 5_000_000],
  );
});

test('the marker of an entry is not forgotten while the book does not have the entry, however long that is', async (t) => {
  const { open, account, raw } = await startLedger(t);
  const { account: owner } = await account();
  await open.settled();
  const bucket = owner.id % 64;
  const draft = {
    id: 'waits',
    type: 'top_up',
    accountId: owner.id + 64_000,
    keyId: null,
    credits: 1,
    usage: {},
  };
  await raw.xadd(journalRedisKey(bucket), '*', 'e', `1 1 20000 0 0 ${JSON.stringify(draft)}`);
  await raw.hset(holdsRedisKey(bucket), 'waits', '- 1');
  await open.sweep.expireHolds(Date.now());
  t.equal(await raw.hget(holdsRedisKey(bucket), 'waits'), '- 1');
  await raw.del(journalRedisKey(bucket));
  await open.sweep.expireHolds(Date.now());
  t.equal(await raw.hget(holdsRedisKey(bucket), 'waits'), null);
});

test('an entry that another gateway has committed and not yet deleted counts once in a rebuild', async (t) => {
  const { open, account, book, raw, redis } = await startLedger(t);
  const { key } = await account({ credits: 10 });
  await open.settled();
  open.drain.abandon();
  await spend(open, admissionOf(key, 2), 2);
  const name = accountRedisKey(key.accountId);
  await until('the settle', async () => (await raw.hget(name, 'bal')) === '8000000');
  const journal = await raw.xrange(journalRedisKey(key.accountId % 64), '-', '+');
  await book.post(journal.map(([, fields]) => parseJournalEntry(fields[1] as string)));
  await raw.del(name);
  const options = { name: 'test', keyPrefix: redisKeyPrefix(book.id), log };
  const client = createRedis({ kind: 'socket', path: redis.socketPath }, options);
  await client.connect();
  t.teardown(() => client.disconnect());
  // Its own drain found nothing: the other gateway had read the entry before.
  const clock = new RedisClock(client, new BucketOwners(client));
  const rebuilder = new Rebuilder({
    client,
    book,
    log,
    drain: { drain: async () => {}, markDirty() {} },
    clock,
  });
  await rebuilder.rebuild(key.accountId);
  t.match(await open.ledger.account(key.accountId), { balance: 8_000_000 });
});
