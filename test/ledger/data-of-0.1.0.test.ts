import { test } from 'tap';
import { periodStarts } from '../../src/domain/period.ts';
import {
  accountRedisKey,
  bucketOf,
  holdsRedisKey,
  journalRedisKey,
} from '../../src/ledger/redis/redis-keys.ts';
import { admissionOf, entriesOf, spend, startLedger } from '../helper/ledger.ts';
import { until } from '../helper/until.ts';

/** What release 0.1.0 leaves in Redis differs in the head of journal entries, in tombstones, and in what is not there yet. */
test('what release 0.1.0 left in Redis is taken over', async (t) => {
  const { open, account, book, raw } = await startLedger(t);
  const { account: owner, key } = await account({ credits: 10, threshold: 9 });
  await open.settled();
  const bucket = bucketOf(owner.id);
  const [name, holds, journal] = [accountRedisKey(owner.id), holdsRedisKey(bucket), journalRedisKey(bucket)];
  const epoch = Number(await raw.hget(name, 'ep'));
  const draft = {
    id: 'req_of_0_1_0',
    type: 'charge',
    accountId: owner.id,
    keyId: key.id,
    createdAt: Date.now(),
    model: 'flat',
    category: 'text',
    endpoint: '/v1/chat/completions',
    status: 200,
    outcome: 'complete',
    usage: {},
    estimated: false,
    credits: -2_000_000,
  };
  const { day } = periodStarts(Date.now());
  await raw.del(`tg:{${bucket}}:known`);
  await raw.hset(name, { bal: '8000000', seq: '2' });
  await raw.hset(holds, 'tombstone', `- ${Date.now()}`);
  await raw.xadd(journal, '*', 'e', `2 8000000 ${day} ${epoch} 1 ${JSON.stringify(draft)}`);
  t.equal(await spend(open, admissionOf(key, 1), 1), 'held');
  await until('the journal to be in the book', async () => {
    await open.settled();
    return (await entriesOf(book, owner.id)).length === 3;
  });
  t.same(
    (await entriesOf(book, owner.id)).map(({ seq, balanceAfter }) => [seq, balanceAfter]),
    [
      [1, 10_000_000],
      [2, 8_000_000],
      [3, 7_000_000],
    ],
  );
  t.match(await book.alerts(owner.id, 10), [{ creditsBalance: 8_000_000 }]);
  t.equal(Number(await raw.hget(name, 'ep')), epoch, 'nothing was rebuilt');
  await open.sweep.expireHolds(Date.now() + 1);
  t.equal(await raw.hexists(holds, 'tombstone'), 0);
});
