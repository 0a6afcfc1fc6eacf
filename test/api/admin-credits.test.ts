import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { EntryView } from '../../src/api/ledger/entry-view.ts';
import { micro } from '../../src/domain/credits.ts';
import { apiOf, refusalOf } from '../helper/clients/api.ts';
import { ADMIN_TOKEN, startGatewayInProcess } from '../helper/start/gateway-in-process.ts';

const world = await startGatewayInProcess(t);
const operator = apiOf(world, ADMIN_TOKEN);

interface Balance {
  readonly credits_balance: number;
}

async function account(credits: number) {
  const owner = await world.account({ credits });
  const path = `/api/admin/accounts/${owner.accountId}/credits/`;
  return {
    ...owner,
    change: (body: unknown, idempotencyKey?: string) =>
      operator.post<Balance>(
        path,
        body,
        idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey },
      ),
    ledger: async () => {
      await world.settled();
      const { body } = await apiOf(world, owner.key).get<{ entries: EntryView[] }>('/api/account/ledger/');
      return body.entries.map(({ type, credits, balance_after }) => [type, credits, balance_after]);
    },
  };
}

t.test('a top-up and an adjustment', async (t) => {
  const { change, ledger } = await account(10);
  const up = await change({ amount: 2.5, note: 'invoice 17' });
  t.same([up.status, up.body], [200, { credits_balance: 12.5 }]);
  t.same((await change({ amount: -0.000001 })).body, { credits_balance: 12.499999 });
  t.same(await ledger(), [
    ['adjustment', '-0.000001', '12.499999'],
    ['top_up', '2.500000', '12.500000'],
    ['top_up', '10.000000', '10.000000'],
  ]);
});

t.test('credits that Redis could not take when they were recorded come before later ones', async (t) => {
  const { change, ledger, accountId } = await account(0);
  const initial = { accountId, amount: micro(10_000_000), type: 'top_up', note: 'first' } as const;
  await world.book.createGrant({ id: randomUUID(), createdAt: Date.now() - 1_000, ...initial }, null);
  t.same((await change({ amount: -3 })).body, { credits_balance: 7 });
  t.same(await ledger(), [
    ['adjustment', '-3.000000', '7.000000'],
    ['top_up', '10.000000', '10.000000'],
  ]);
});

t.test('a repeat with the same Idempotency-Key answers the same and changes nothing', async (t) => {
  const { change, ledger } = await account(10);
  const first = await change({ amount: 5, note: 'once' }, 'order-1');
  const atOnce = await change({ amount: 5, note: 'once' }, 'order-1');
  await change({ amount: 1 });
  await world.settled();
  const later = await change({ amount: 5, note: 'once' }, 'order-1');
  for (const repeat of [first, atOnce, later]) t.same(repeat.body, { credits_balance: 15 });
  t.equal((await ledger()).length, 3);
});

t.test('a repeat gets its answer also where the balance has no room for another change', async (t) => {
  const { change, ledger } = await account(10);
  const first = await change({ amount: 8_499_999_000 }, 'large');
  t.equal(first.status, 200);
  t.same((await change({ amount: 8_499_999_000 }, 'large')).body, first.body);
  t.same(refusalOf(await change({ amount: 8_499_999_000 }, 'another')), [400, 'invalid_field', 'amount']);
  t.equal((await ledger()).length, 2);
});

t.test('repeats that race are applied once', async (t) => {
  const { change, ledger } = await account(0);
  const answers = await Promise.all(Array.from({ length: 8 }, () => change({ amount: 3 }, 'race')));
  t.same(
    answers.map(({ status, body }) => [status, body.credits_balance]),
    answers.map(() => [200, 3]),
  );
  t.equal((await ledger()).length, 1);
});

t.test('an Idempotency-Key is not for another change', async (t) => {
  const { change, ledger } = await account(10);
  await change({ amount: 5 }, 'k');
  const refused = [409, 'idempotency_key_reused', 'Idempotency-Key'];
  t.same(refusalOf(await change({ amount: 6 }, 'k')), refused);
  t.same(refusalOf(await change({ amount: 5, note: 'other' }, 'k')), refused);
  t.equal((await ledger()).length, 2);
});

t.test('two accounts may use the same Idempotency-Key', async (t) => {
  const [one, two] = [await account(1), await account(2)];
  t.same((await one.change({ amount: 1 }, 'same')).body, { credits_balance: 2 });
  t.same((await two.change({ amount: 1 }, 'same')).body, { credits_balance: 3 });
});

t.test('without an Idempotency-Key every request counts', async (t) => {
  const { change } = await account(0);
  await change({ amount: 1 });
  t.same((await change({ amount: 1 })).body, { credits_balance: 2 });
});

t.test('a bad change is refused by name and changes nothing', async (t) => {
  const { change, ledger } = await account(10);
  const bad: Record<string, readonly unknown[]> = {
    amount: [0, -0, '1', null, 0.0000001, 1e10, 8_999_999_999, true],
    note: [5, null, 'x'.repeat(1001), 'a\u0000b', '\ud800'],
    extra: [1],
  };
  for (const [field, values] of Object.entries(bad)) {
    for (const value of values) {
      const answer = await change({ amount: 1, [field]: value });
      t.same(refusalOf(answer), [400, 'invalid_field', field], JSON.stringify(value));
    }
  }
  t.same(refusalOf(await change({ note: 'x' })), [400, 'invalid_field', 'amount']);
  for (const key of ['', 'x'.repeat(256)]) {
    t.same(refusalOf(await change({ amount: 1 }, key)), [400, 'invalid_field', 'Idempotency-Key']);
  }
  t.equal((await ledger()).length, 1);
});

t.test('one of fifty concurrent top-ups of 8e9 credits succeeds, the others change nothing', async (t) => {
  const { change, ledger, accountId } = await account(0);
  const answers = await Promise.all(Array.from({ length: 50 }, () => change({ amount: 8e9 })));
  t.equal(answers.filter(({ status }) => status === 200).length, 1);
  const refused = answers.filter(({ status }) => status !== 200);
  t.same(refused.map(refusalOf), Array(49).fill([400, 'invalid_field', 'amount']));
  t.same(await ledger(), [['top_up', '8000000000.000000', '8000000000.000000']]);
  t.same(
    (await world.book.pendingGrants(Date.now() + 1, 100)).filter((grant) => grant.accountId === accountId),
    [],
  );
});

t.test('an Idempotency-Key whose change was refused for want of room may be used again', async (t) => {
  const { change } = await account(0);
  const both = await Promise.all([change({ amount: 8e9 }, 'one'), change({ amount: 8e9 }, 'two')]);
  t.same(both.map(({ status }) => status).sort(), [200, 400]);
  t.equal((await change({ amount: -8e9 })).status, 200);
  const key = both[0].status === 400 ? 'one' : 'two';
  t.same((await change({ amount: 8e9 }, key)).body, { credits_balance: 8e9 });
});
