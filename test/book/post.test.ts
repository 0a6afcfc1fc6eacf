import type { Test } from 'tap';
import type { Book } from '../../src/book/book.ts';
import { micro } from '../../src/domain/credits.ts';
import type { JournalEntry } from '../../src/domain/ledger-entry.ts';
import { entries, entry, hasEntry, NOW, stored, TODAY } from '../helper/fixtures/book-records.ts';
import { eachBook } from '../helper/start/books.ts';

const STARTS = { day: TODAY, week: TODAY, month: TODAY };

async function balanceOf(book: Book, id: number): Promise<number | undefined> {
  return (await book.accounts(id - 1, 1))[0]?.balance;
}

async function posts(t: Test, book: Book, batch: JournalEntry[], results: string[]): Promise<void> {
  t.same((await book.post(batch)).results, results);
}

eachBook('every field of an entry comes back as it was posted', async (t, book) => {
  const { account, key } = await stored(book);
  const full = entry(account.id, {
    keyId: key.id,
    usage: { input: 12, output: 3, audioSeconds: 1.25, requests: 1 },
    status: 499,
    outcome: 'client_left',
    estimated: true,
    credits: micro(-9_007_199_254_740_991),
    note: 'half — way',
  });
  const topUp = entry(account.id, {
    seq: 2,
    type: 'top_up',
    model: null,
    category: null,
    endpoint: null,
    status: null,
    outcome: null,
    credits: micro(7),
    balanceAfter: micro(-9_007_199_254_740_984),
  });
  await posts(t, book, [full, topUp], ['posted', 'posted']);
  for (const posted of [full, topUp]) {
    const { epoch, day, threshold, ...shown } = posted;
    const [found] = await book.ledger({ accountId: account.id, before: posted.seq + 1, limit: 1 });
    t.same(found, shown);
  }
});

eachBook('the balance is the sum of the entries', async (t, book) => {
  const { account } = await stored(book);
  const amounts = [1_000_000, -250_000, -1, 250_000].map((credits) => ({ credits: micro(credits) }));
  await book.post(entries(account.id, amounts));
  t.equal(await balanceOf(book, account.id), 999_999);
  t.match(await book.snapshot(account.id, STARTS), { balance: 999_999, seq: 4, epoch: 1 });
});

eachBook('an entry that was posted before is a duplicate and changes nothing', async (t, book) => {
  const { account, key } = await stored(book);
  const batch = [entry(account.id, { keyId: key.id }), entry(account.id, { seq: 2, threshold: micro(-1) })];
  t.same(await book.post(batch), { results: ['posted', 'posted'], diverged: [], alerts: 1 });
  t.same(await book.post(batch), { results: ['duplicate', 'duplicate'], diverged: [], alerts: 0 });
  t.equal(await balanceOf(book, account.id), -2);
  t.equal((await book.alerts(account.id, 10)).length, 1);
  t.match(await book.usage(account.id, TODAY, TODAY + 1, 'key'), [{ calls: 1, credits: 1 }]);
});

eachBook('an entry that comes twice in one batch is posted once', async (t, book) => {
  const { account } = await stored(book);
  const one = entry(account.id);
  await posts(t, book, [one, one], ['posted', 'duplicate']);
  t.equal(await balanceOf(book, account.id), -1);
});

eachBook(
  'an entry of an epoch before the last rebuild is posted, and its account diverged',
  async (t, book) => {
    const { account } = await stored(book);
    await book.post([entry(account.id)]);
    await book.snapshot(account.id, STARTS);
    const late = entry(account.id, { seq: 2 });
    const diverged = [{ accountId: account.id, epoch: 1 }];
    t.same(await book.post([late]), { results: ['posted'], diverged, alerts: 0 });
    t.equal(await balanceOf(book, account.id), -2);
    // Its epoch is over, so any comparison finds it.
    t.match(await book.recentAccounts(0), [{ id: account.id, seq: 2, epoch: 2 }]);
    t.same(await book.post([late]), { results: ['duplicate'], diverged: [], alerts: 0 });
  },
);

eachBook('a duplicate of an earlier epoch stays a duplicate', async (t, book) => {
  const { account } = await stored(book);
  const one = entry(account.id);
  await book.post([one]);
  await book.snapshot(account.id, STARTS);
  await posts(t, book, [one], ['duplicate']);
});

/** An account, and two histories of one epoch that differ after seq 1: `there` spent more at seq 2. */
async function twoHistories(book: Book) {
  const { account } = await stored(book);
  const here = [entry(account.id), entry(account.id, { seq: 2 }), entry(account.id, { seq: 3 })] as const;
  const there = [
    entry(account.id, { seq: 2, credits: micro(-10), balanceAfter: micro(-11) }),
    entry(account.id, { seq: 3, balanceAfter: micro(-12) }),
  ];
  return { account, here, there };
}

async function ledgerOf(book: Book, accountId: number): Promise<string[]> {
  return (await book.ledger({ accountId, limit: 10 })).map(({ id }) => id);
}

eachBook(
  'entries of another history of the same epoch are posted behind it, and the account is diverged',
  async (t, book) => {
    const { account, here, there } = await twoHistories(book);
    const [one, two] = here;
    await posts(t, book, [one, two], ['posted', 'posted']);
    const diverged = [{ accountId: account.id, epoch: 0 }];
    t.same(await book.post(there), { results: ['posted', 'posted'], diverged, alerts: 0 });
    t.same(await ledgerOf(book, account.id), [there[1]?.id, there[0]?.id, two.id, one.id]);
    t.match(await book.ledger({ accountId: account.id, limit: 2 }), [
      { seq: 4, balanceAfter: -13 },
      { seq: 3, balanceAfter: -12 },
    ]);
  },
);

eachBook('in whichever order entries come, and however often, the sum is the same', async (t, book) => {
  const { account, here, there } = await twoHistories(book);
  const [one, two, three] = here;
  await posts(t, book, [three, one], ['posted', 'posted']);
  await posts(t, book, [one, two, ...there, three], ['duplicate', 'posted', 'posted', 'posted', 'duplicate']);
  t.equal(await balanceOf(book, account.id), -14);
  const entries = await book.ledger({ accountId: account.id, limit: 10 });
  t.same(
    entries.map(({ seq }) => seq),
    [5, 4, 3, 2, 1],
  );
});

eachBook('an entry that Redis counts a second time shows that its account is diverged', async (t, book) => {
  const { account } = await stored(book);
  const one = entry(account.id);
  await posts(t, book, [one], ['posted']);
  const diverged = [{ accountId: account.id, epoch: 0 }];
  const again = { ...one, seq: 2, balanceAfter: micro(-2) };
  t.same(await book.post([again]), { results: ['duplicate'], diverged, alerts: 0 });
  t.equal(await balanceOf(book, account.id), -1);
});

eachBook('an entry after a gap is posted at the end, and the account is diverged', async (t, book) => {
  const [{ account: one }, { account: two }] = [await stored(book), await stored(book)];
  const batch = [entry(one.id), entry(two.id, { seq: 3, balanceAfter: micro(-1) })];
  const posting = await book.post(batch);
  const diverged = [{ accountId: two.id, epoch: 0 }];
  t.same(posting, { results: ['posted', 'posted'], diverged, alerts: 0 });
  t.match(await book.snapshot(two.id, STARTS), { balance: -1, seq: 1 });
});

eachBook('a snapshot tells which entries are in its balance', async (t, book) => {
  const { account } = await stored(book);
  const one = entry(account.id);
  await book.post([one]);
  t.same((await book.snapshot(account.id, STARTS, [one.id, 'none']))?.known, new Set([one.id]));
});

eachBook('an entry of an unknown account does not hold up the others', async (t, book) => {
  const { account } = await stored(book);
  await posts(t, book, [entry(99), entry(account.id)], ['refused', 'posted']);
});

eachBook('an entry of a key that the book does not know is posted', async (t, book) => {
  const { account } = await stored(book);
  await posts(t, book, [entry(account.id, { keyId: 99 })], ['posted']);
});

eachBook('a crossing queues one alert with the balance after it', async (t, book) => {
  const { account } = await stored(book);
  const topUp = { type: 'top_up', credits: micro(100_000_000) } as const;
  const posting = await book.post(
    entries(account.id, [topUp, { threshold: topUp.credits, createdAt: NOW + 7 }]),
  );
  t.equal(posting.alerts, 1);
  t.match(await book.alerts(account.id, 10), [
    { creditsBalance: 99_999_999, createdAt: NOW + 7, test: false },
  ]);
});

eachBook(
  'crossings are those of the ledger, by the threshold at the debit, whatever Redis saw',
  async (t, book) => {
    const { account } = await stored(book);
    const threshold = micro(10);
    const [topUp, one, two, three] = entries(account.id, [
      { type: 'top_up', credits: micro(12), threshold },
      { credits: micro(-3), threshold },
      { credits: micro(-1), threshold },
      { credits: micro(-1), threshold: micro(8) },
    ]) as [JournalEntry, JournalEntry, JournalEntry, JournalEntry];
    await book.post([topUp, one, { ...two, seq: 9 }, { ...three, seq: 9 }]);
    t.same(
      (await book.alerts(account.id, 10)).map(({ creditsBalance }) => creditsBalance),
      [7, 9],
    );
  },
);

eachBook('an empty batch posts nothing', async (t, book) => {
  t.same(await book.post([]), { results: [], diverged: [], alerts: 0 });
});

eachBook('a posted entry can be asked for by its id', async (t, book) => {
  const { account } = await stored(book);
  const one = entry(account.id);
  t.equal(await hasEntry(book, one.id), false);
  await book.post([one]);
  t.equal(await hasEntry(book, one.id), true);
});

eachBook('a batch that cannot be written leaves nothing behind', async (t, book, { run }) => {
  const { account, key } = await stored(book);
  await book.post([entry(account.id, { threshold: micro(0), id: 'first' })]);
  // The alert of the next entry cannot be written, so its ledger row, balance and sums must not be either.
  await run(`insert into alerts (account_id, entry_id, created_at, credits_balance, test, state)
    values (${account.id}, 'second', 0, 0, 0, 'queued')`);
  await t.rejects(
    book.post([entry(account.id, { id: 'second', seq: 2, keyId: key.id, threshold: micro(-1) })]),
  );
  t.equal(await hasEntry(book, 'second'), false);
  t.equal(await balanceOf(book, account.id), -1);
  t.same(await book.usage(account.id, TODAY, TODAY + 1, 'key'), []);
});
