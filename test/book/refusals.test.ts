import type { RefusedCount } from '../../src/book/refusals.ts';
import { NOW, refusedCall, stored, TODAY } from '../helper/fixtures/book-records.ts';
import { eachBook } from '../helper/start/books.ts';

const MINUTE_MS = 60_000;

eachBook(
  'of a key, code and minute the first calls have a record each, and all others one',
  async (t, book) => {
    const { account, key } = await stored(book);
    const call = () => refusedCall(account.id, key.id);
    const rest = call();
    // As two gateways write them.
    await book.recordRefusals({ calls: [call(), call()], repeated: [], counts: [] }, 3);
    await book.recordRefusals(
      { calls: [call(), rest, call()], repeated: [{ first: call(), repeated: 7 }], counts: [] },
      3,
    );
    await book.recordRefusals({ calls: [call()], repeated: [{ first: call(), repeated: 5 }], counts: [] }, 3);
    const calls = await book.calls({ accountId: account.id, limit: 100 });
    t.equal(calls.length, 4);
    const others = calls.filter((found) => found.refused && found.repeated > 1);
    t.match(others, [{ id: rest.id, repeated: 2 + 7 + 1 + 5 }]);
    const later = { ...call(), createdAt: NOW + MINUTE_MS };
    const another = { ...call(), code: 'model_not_found' as const };
    await book.recordRefusals({ calls: [later, another], repeated: [], counts: [] }, 3);
    t.equal((await book.calls({ accountId: account.id, limit: 100 })).length, 6);
  },
);

eachBook('a record that is written again stays one', async (t, book) => {
  const { account, key } = await stored(book);
  const call = { ...refusedCall(account.id, key.id), detail: { hold: '1.000000', balance: '0.500000' } };
  for (const _ of [1, 2]) await book.recordRefusals({ calls: [call], repeated: [], counts: [] }, 20);
  t.same(await book.calls({ accountId: account.id, limit: 100 }), [
    { id: call.id, createdAt: NOW, refused: call, repeated: 1 },
  ]);
  t.match(await book.call(account.id, call.id), { refused: call });
  t.equal(await book.call(account.id + 1, call.id), undefined);
  t.match(await book.call(undefined, call.id), { refused: call }, 'of any account');
  t.equal(await book.call(account.id, 'with\0nul'), undefined);
});

eachBook('refused calls are summed beside those that were charged', async (t, book) => {
  const { account, key } = await stored(book);
  const count = (given: Partial<RefusedCount>): RefusedCount => ({
    accountId: account.id,
    keyId: key.id,
    slug: null,
    hour: TODAY * 24 + 23,
    count: 1,
    ...given,
  });
  await book.recordRefusals(
    { calls: [], repeated: [], counts: [count({ count: 5 }), count({ slug: 'a' })] },
    20,
  );
  await book.recordRefusals({ calls: [], repeated: [], counts: [count({ hour: TODAY * 24 - 1 })] }, 20);
  t.match(await book.usage(account.id, TODAY - 40, TODAY + 1, 'day'), [
    { group: '2026-11-17', calls: 0, refused: 1 },
    { group: '2026-11-18', calls: 0, refused: 6 },
  ]);
  t.match(await book.usage(account.id, TODAY - 40, TODAY + 1, 'key'), [
    { group: key.id, calls: 0, refused: 7 },
  ]);
  t.same(await book.usage(account.id, TODAY - 40, TODAY + 1, 'model'), [], 'no row of a model nobody called');
});

eachBook('the oldest records go first, a few at a time', async (t, book) => {
  const { account, key } = await stored(book);
  const calls = Array.from({ length: 10 }, (_, at) => ({
    ...refusedCall(account.id, key.id),
    createdAt: NOW + at * MINUTE_MS,
  }));
  await book.recordRefusals({ calls, repeated: [], counts: [] }, 20);
  const left = async () => (await book.calls({ accountId: account.id, limit: 100 })).map(({ id }) => id);
  const ids = calls.map(({ id }) => id).reverse();
  const old = { before: NOW + 4 * MINUTE_MS, rows: 100, limit: 3 };
  t.equal(await book.forgetRefusals(old), 3);
  t.equal(await book.forgetRefusals(old), 1);
  t.equal(await book.forgetRefusals(old), 0);
  t.same(await left(), ids.slice(0, 6));
  const many = { before: 0, rows: 2, limit: 3 };
  t.equal(await book.forgetRefusals(many), 3);
  t.equal(await book.forgetRefusals(many), 1);
  t.equal(await book.forgetRefusals(many), 0);
  t.same(await left(), ids.slice(0, 2));
});
