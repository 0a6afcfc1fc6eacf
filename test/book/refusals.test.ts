import type { RefusedCount } from '../../src/book/refusals.ts';
import { entry, NOW, refusedCall, stored, TODAY } from '../helper/fixtures/book-records.ts';
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
    hour: TODAY * 24 + 23,
    count: 1,
    ...given,
  });
  await book.recordRefusals({ calls: [], repeated: [], counts: [count({ count: 5 }), count({})] }, 20);
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

const KEEP_ALL = { since: 0, rows: 100, sinceHour: 0 };

eachBook('the oldest records go first', async (t, book) => {
  const { account, key } = await stored(book);
  const calls = Array.from({ length: 10 }, (_, at) => ({
    ...refusedCall(account.id, key.id),
    createdAt: NOW + at * MINUTE_MS,
  }));
  await book.recordRefusals({ calls, repeated: [], counts: [] }, 20);
  const left = async () => (await book.calls({ accountId: account.id, limit: 100 })).map(({ id }) => id);
  const ids = calls.map(({ id }) => id).reverse();
  await book.forgetRecords(KEEP_ALL);
  t.same(await left(), ids);
  await book.forgetRecords({ ...KEEP_ALL, since: NOW + 4 * MINUTE_MS });
  t.same(await left(), ids.slice(0, 6));
  await book.forgetRecords({ ...KEEP_ALL, rows: 2 });
  t.same(await left(), ids.slice(0, 2));
});

eachBook(
  'an account whose refusals fill the book pushes out its own, not those of others',
  async (t, book) => {
    const [loud, quiet] = [await stored(book), await stored(book)];
    const of = ({ account, key }: typeof loud, count: number) =>
      Array.from({ length: count }, (_, at) => ({ ...refusedCall(account.id, key.id), createdAt: NOW + at }));
    const record = (calls: ReturnType<typeof of>) =>
      book.recordRefusals({ calls, repeated: [], counts: [] }, 10_000);
    await record(of(quiet, 5));
    const flood = of(loud, 3_000);
    await record(flood);
    await book.forgetRecords({ ...KEEP_ALL, rows: 20 });
    const left = async (accountId: number) =>
      (await book.calls({ accountId, limit: 100 })).map(({ id }) => id);
    t.equal((await left(quiet.account.id)).length, 5);
    t.same(
      await left(loud.account.id),
      flood
        .slice(-15)
        .map(({ id }) => id)
        .reverse(),
      'its newest',
    );
  },
);

eachBook('refusals that name many models leave one row for their key and hour', async (t, book, { run }) => {
  const { account, key } = await stored(book);
  const hour = TODAY * 24;
  const count = { accountId: account.id, keyId: key.id, hour, count: 1 };
  for (let call = 0; call < 20; call++)
    await book.recordRefusals({ calls: [], repeated: [], counts: [count] }, 20);
  t.match(await run('select model, refused from spend_hours'), [{ model: '', refused: 20 }]);
  await book.recordRefusals({ calls: [], repeated: [], counts: [{ ...count, hour: hour + 1 }] }, 20);
  await book.forgetRecords({ ...KEEP_ALL, sinceHour: hour + 1 });
  t.match(
    await run('select hour from spend_hours'),
    [{ hour: hour + 1 }],
    'and none after the longest report',
  );
  t.match(await book.usage(account.id, TODAY, TODAY + 1, 'day'), [{ refused: 21 }], 'days stay');
});

eachBook("a provider's message is kept beside the ledger, for a time", async (t, book, { run }) => {
  const { account, key } = await stored(book);
  const message = 'Invalid content: my patient John Doe';
  const failed = entry(account.id, {
    keyId: key.id,
    status: 400,
    outcome: 'upstream_error',
    message,
    price: {},
  });
  await book.post([failed]);
  t.match(await book.call(account.id, failed.id), { entry: { message } });
  t.match(await book.calls({ accountId: account.id, limit: 1 }), [{ entry: { message } }]);
  t.notMatch(JSON.stringify(await run('select * from ledger')), 'John Doe');
  await book.forgetRecords({ ...KEEP_ALL, since: NOW + 1 });
  t.notMatch(await book.call(account.id, failed.id), { entry: { message } });
  t.notMatch(JSON.stringify(await run('select * from call_messages')), 'John Doe');
});
