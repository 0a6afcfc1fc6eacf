import { test } from 'tap';
import { micro } from '../../src/domain/credits.ts';
import { parseHold } from '../../src/ledger/journal/entry-text.ts';
import { accountRedisKey, bucketOf, holdsRedisKey, keyRedisKey } from '../../src/ledger/redis/redis-keys.ts';
import { admissionOf, chargeOf, entriesOf, startLedger, type TestLedger } from '../helper/ledger.ts';

const CREDIT = 1_000_000;
const LATER = Date.now() + 24 * 3_600_000;

type World = Pick<TestLedger, 'raw' | 'open' | 'account'>;

/** An account as version 0.1.0 leaves it in Redis, with two calls open that hold 2 and 3 credits. */
async function accountOfBefore({ raw, open, account }: World) {
  const { key } = await account({ credits: 10 });
  await open.settled();
  const names = {
    account: accountRedisKey(key.accountId),
    key: keyRedisKey(key.accountId, key.id),
    holds: holdsRedisKey(bucketOf(key.accountId)),
  };
  await raw.hdel(names.account, 'slack', 'od');
  await raw.hdel(names.key, 'slack');
  const first = admissionOf(key, 2);
  const second = admissionOf(key, 3);
  for (const { requestId, hold } of [first, second]) {
    const of = `${key.id} ${key.accountId} ${Date.now()}`;
    await raw.hset(
      names.holds,
      requestId,
      `${hold} ${Date.now() + 60_000} ${of} text /v1/chat/completions flat`,
    );
    await raw.hincrby(names.account, 'held', hold);
    await raw.hincrby(names.key, 'held', hold);
  }
  return { key, names, first, second };
}

test('calls that version 0.1.0 admitted count by their holds, and are settled', async (t) => {
  const { raw, open, account } = await startLedger(t);
  const { key, first, second } = await accountOfBefore({ raw, open, account });
  const { accountId } = key;
  t.match(await open.ledger.account(accountId), { held: 5 * CREDIT, estimated: 5 * CREDIT, overdraft: 0 });
  t.match(await open.ledger.admit(admissionOf(key, 5.1)), { verdict: 'insufficient' });
  const own = admissionOf(key, 5, { estimate: micro(CREDIT) });
  const admitted = await open.ledger.admit(own);
  if (admitted.verdict !== 'held') return t.fail(admitted.verdict);
  t.match(await open.ledger.account(accountId), { held: 10 * CREDIT, estimated: 6 * CREDIT });
  for (const admission of [first, second, own]) {
    await new Promise<void>((resolve) => open.ledger.settle(chargeOf(admission, 1), resolve));
  }
  t.match(await open.ledger.account(accountId), { balance: 7 * CREDIT, held: 0, estimated: 0 });
  t.same(await open.ledger.keyReserved(accountId, key.id), { held: 0, estimated: 0 });
});

test('a hold of version 0.1.0 is cancelled, and expires with its row', async (t) => {
  const { raw, open, account, book } = await startLedger(t);
  const { key, first, second } = await accountOfBefore({ raw, open, account });
  open.unanswered.add(first);
  await open.sweep.cancelUnanswered();
  t.match(await open.ledger.account(key.accountId), { held: 3 * CREDIT, estimated: 3 * CREDIT });
  await open.sweep.expireHolds(LATER);
  await open.settled();
  t.match(await open.ledger.account(key.accountId), { balance: 10 * CREDIT, held: 0, estimated: 0 });
  t.match((await entriesOf(book, key.accountId)).at(-1), {
    id: second.requestId,
    type: 'expired_hold',
    category: 'text',
    endpoint: '/v1/chat/completions',
    model: 'flat',
  });
});

test('a rebuild counts holds of version 0.1.0 and of this one', async (t) => {
  const { raw, open, account } = await startLedger(t);
  const { key, names } = await accountOfBefore({ raw, open, account });
  t.match(await open.ledger.admit(admissionOf(key, 4, { estimate: micro(CREDIT) })), { verdict: 'held' });
  await raw.del(names.account, names.key);
  t.match(await open.ledger.account(key.accountId), { held: 9 * CREDIT, estimated: 6 * CREDIT });
  t.same(await open.ledger.keyReserved(key.accountId, key.id), { held: 9 * CREDIT, estimated: 6 * CREDIT });
});

test('a gateway of version 0.1.0 beside this one keeps the sum of estimates right', async (t) => {
  const { raw, open, account } = await startLedger(t);
  const { key, names, first } = await accountOfBefore({ raw, open, account });
  t.match(await open.ledger.admit(admissionOf(key, 4, { estimate: micro(CREDIT) })), { verdict: 'held' });
  // All that its settle does about holds.
  await raw.hdel(names.holds, first.requestId);
  for (const name of [names.account, names.key]) await raw.hincrby(name, 'held', -first.hold);
  t.match(await open.ledger.account(key.accountId), { held: 7 * CREDIT, estimated: 4 * CREDIT });
  t.same(await open.ledger.keyReserved(key.accountId, key.id), { held: 7 * CREDIT, estimated: 4 * CREDIT });
});

test('the text of a hold is read with and without an estimate, and a model keeps its spaces', (t) => {
  const of = (text: string) => parseHold(text).draft?.(0, 'id');
  const wanted = { category: 'text', endpoint: '/v1/responses', model: 'my model 4' };
  t.match(of('5 9 1 2 3 text /v1/responses my model 4'), wanted);
  t.match(of('5 9 1 2 3 4 text /v1/responses my model 4'), wanted);
  t.end();
});
