import { micro } from '../../src/domain/credits.ts';
import { PostApart } from '../../src/ledger/journal/pass.ts';
import { entries, entry, NOW, stored, TODAY } from '../helper/fixtures/book-records.ts';
import { eachBook } from '../helper/start/books.ts';

const HUGE = 8_000_000_000_000_000;

eachBook('an entry for which the balance has no room is refused until it has', async (t, book) => {
  const { account } = await stored(book);
  const [first] = entries(account.id, [{ type: 'top_up', credits: micro(HUGE) }]);
  if (!first) throw new Error('an entry');
  const second = { ...first, id: 'second', seq: 2, balanceAfter: (2 * HUGE) as never };
  const diverged = [{ accountId: account.id, epoch: 0 }];
  t.same(await book.post([first, second]), { results: ['posted', 'refused'], diverged, alerts: 0 });
  t.same(await book.post([second]), { results: ['refused'], diverged: [], alerts: 0 });
  const debit = { ...first, id: 'debit', seq: 2, epoch: 1, credits: micro(-HUGE), balanceAfter: micro(0) };
  t.same((await book.post([second, debit])).results, ['refused', 'posted']);
  t.same((await book.post([second])).results, ['posted']);
});

eachBook('entries that the book refuses keep back no other account, and are tried again', async (t, book) => {
  const [broken, other] = [await stored(book), await stored(book)];
  const top = { type: 'top_up' as const, credits: micro(10) };
  const bad = entries(broken.account.id, [
    top,
    { credits: micro(-1), model: 'a\0b\ud800' },
    { credits: micro(-1) },
  ]);
  const isRefused = { on: true };
  const poster = new PostApart({
    // Answers that a database may give for its own reasons.
    post: (some) =>
      isRefused.on && some.some(({ model }) => model?.includes('\0'))
        ? Promise.reject(new Error('invalid byte sequence'))
        : book.post(some.map((entry) => ({ ...entry, model: entry.model && 'plain' }))),
  });
  const good = entries(other.account.id, [top, { credits: micro(-1) }]);
  const { results } = await poster.post([...bad, ...good]);
  t.same(
    results.map((result) => (result instanceof Error ? result.message : result)),
    ['posted', 'invalid byte sequence', 'invalid byte sequence', 'posted', 'posted'],
  );
  isRefused.on = false;
  let last = await poster.post(bad.slice(1));
  while (last.results[0] instanceof Error) last = await poster.post(bad.slice(1));
  t.same(last.results, ['posted', 'posted']);
});

eachBook('sums beyond 2^53 are told exactly, and a rebuild still reads the account', async (t, book) => {
  const { account, key } = await stored(book);
  const poster = new PostApart(book);
  const turn = [
    { type: 'top_up' as const, credits: micro(HUGE) },
    { credits: micro(-HUGE), keyId: key.id, hours: { key: NOW, account: NOW } },
  ];
  const { results } = await poster.post(entries(account.id, [...turn, ...turn]));
  t.same(results, ['posted', 'posted', 'posted', 'posted']);
  for (const by of ['day', 'key', 'model'] as const) {
    const rows = await book.usage(account.id, TODAY - 1, TODAY + 1, by);
    t.same(
      rows.map(({ credits }) => credits),
      [2n * BigInt(HUGE)],
    );
  }
  const starts = { day: TODAY, week: TODAY - 2, month: TODAY - 17 };
  const most = Number.MAX_SAFE_INTEGER;
  const windows = {
    daySpent: most,
    weekSpent: most,
    monthSpent: most,
    totalSpent: most,
    hours: NOW,
    hoursSpent: most,
  };
  t.match(await book.snapshot(account.id, starts), { windows, keys: [{ windows }] });
  const refund = { ...entry(account.id, turn[1]), type: 'refund' as const, credits: micro(HUGE), seq: 5 };
  t.match((await poster.post([refund])).results, ['posted']);
  const after = { daySpent: HUGE, hoursSpent: HUGE };
  t.match(await book.snapshot(account.id, starts), { windows: after, keys: [{ windows: after }] });
});
