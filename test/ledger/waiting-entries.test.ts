import { type Test, test } from 'tap';
import { micro } from '../../src/domain/credits.ts';
import { parseJournalEntry } from '../../src/ledger/journal/entry-text.ts';
import { Rebuilder } from '../../src/ledger/recovery/rebuild.ts';
import { createRedis } from '../../src/ledger/redis/connect.ts';
import {
  accountRedisKey,
  holdsRedisKey,
  journalRedisKey,
  redisKeyPrefix,
} from '../../src/ledger/redis/redis-keys.ts';
import { hasEntry } from '../helper/book-records.ts';
import { admissionOf, chargeOf, entriesOf, log, spend, startLedger } from '../helper/ledger.ts';
import { until } from '../helper/until.ts';

test('what entries took that wait for a rebuild is not to be spent again after it', async (t) => {
  const { open, account, book, raw } = await startLedger(t);
  const { key } = await account({ credits: 10 });
  await open.settled();
  t.equal(await spend(open, admissionOf(key, 8), 8), 'held');
  // The book refuses the entry from now on; and Redis loses the account.
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

test('what waits for a rebuild of another account of the bucket is no part of this one', async (t) => {
  const { open, account, book, raw } = await startLedger(t);
  const { key } = await account({ credits: 10 });
  await spend(open, admissionOf(key, 1), 1);
  await open.settled();
  const [, charge] = await entriesOf(book, key.accountId);
  const neighbours = JSON.stringify({ ...charge, id: 'neighbours', accountId: key.accountId + 64 });
  const journal = journalRedisKey(key.accountId % 64);
  await raw.xadd(journal, '*', 'e', `1 0 20000 0 0 ${neighbours}`);
  await raw.del(accountRedisKey(key.accountId));
  t.match(await open.ledger.account(key.accountId), { balance: 9_000_000 });
  t.equal(await raw.xlen(journal), 1, 'and waits where it is');
  await raw.del(journal);
});

test('a settle sent again while its entry waits for a rebuild is not applied a second time', async (t) => {
  const { open, account, book } = await startLedger(t);
  const { key } = await account({ credits: 10 });
  await open.settled();
  const admission = admissionOf(key, 2);
  const admitted = await open.ledger.admit(admission);
  if (admitted.verdict !== 'held') return t.fail('not held');
  const settle = () =>
    new Promise<void>((resolve) => open.ledger.settle(admitted.epoch, chargeOf(admission, 2), resolve));
  await settle();
  // A rebuild began elsewhere: the book refuses the entry, which stays in the journal until Redis has the new epoch.
  await book.snapshot(key.accountId, { day: 0, week: 0, month: 0 });
  await settle();
  await until('its entry to be in the book', async () => {
    await open.settled();
    return await hasEntry(book, admission.requestId);
  });
  await open.settled();
  t.match(await open.ledger.account(key.accountId), { balance: 8_000_000, held: 0 });
});

/** An account of 10 credits, topped up by 5 that the book refuses until the account has been rebuilt. */
async function waitingTopUp(t: Test) {
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
  return { open, book, raw, accountId, grant };
}

test('a top-up whose entry waits for a rebuild counts once, also where Redis has forgotten its mark', async (t) => {
  const { open, book, raw, accountId } = await waitingTopUp(t);
  // Redis loses the account, and forgot the mark, as after a day.
  await raw.del(accountRedisKey(accountId));
  await raw.hdel(holdsRedisKey(accountId % 64), 'waits');
  t.match(await open.ledger.account(accountId), { balance: 15_000_000 });
  await open.settled();
  t.same(
    (await entriesOf(book, accountId)).map(({ credits }) => credits),
    [10_000_000, 5_000_000],
  );
});

test('the mark of a top-up is not forgotten while its entry waits, however long the book is away', async (t) => {
  const { open, book, accountId, grant } = await waitingTopUp(t);
  await open.sweep.expireHolds(Date.now() + 48 * 3_600_000);
  t.equal(await open.ledger.grant(grant), 15_000_000);
  await until('its entry to be in the book', async () => {
    await open.settled();
    return await hasEntry(book, 'waits');
  });
  t.match(await open.ledger.account(accountId), { balance: 15_000_000 });
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
  const rebuilder = new Rebuilder({ client, book, log, drain: { drain: async () => {}, touch() {} } });
  await rebuilder.rebuild(key.accountId);
  t.match(await open.ledger.account(key.accountId), { balance: 8_000_000 });
});
