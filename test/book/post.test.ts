import type { Test } from 'tap';
import type { Book } from '../../src/book/book.ts';
import { micro } from '../../src/domain/credits.ts';
import type { JournalEntry } from '../../src/domain/ledger-entry.ts';
import { entries, entry, hasEntry, NOW, stored, TODAY } from '../helper/book-records.ts';
import { eachBook } from '../helper/books.ts';

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
    const { epoch, day, crossing, ...shown } = posted;
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
  const batch = [entry(account.id, { keyId: key.id }), entry(account.id, { seq: 2, crossing: true })];
  t.same(await book.post(batch), { results: ['posted', 'posted'], gaps: [], alerts: 1 });
  t.same(await book.post(batch), { results: ['duplicate', 'duplicate'], gaps: [], alerts: 0 });
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

eachBook('an entry of an epoch before the last rebuild is superseded', async (t, book) => {
  const { account } = await stored(book);
  await book.post([entry(account.id)]);
  await book.snapshot(account.id, STARTS);
  const late = entry(account.id, { seq: 2 });
  await posts(t, book, [late], ['superseded']);
  t.equal(await hasEntry(book, late.id), false);
  await posts(t, book, [{ ...late, epoch: 1 }], ['posted']);
});

eachBook('a duplicate of an earlier epoch stays a duplicate', async (t, book) => {
  const { account } = await stored(book);
  const one = entry(account.id);
  await book.post([one]);
  await book.snapshot(account.id, STARTS);
  await posts(t, book, [one], ['duplicate']);
});

eachBook('an entry whose place is taken is superseded', async (t, book) => {
  const { account } = await stored(book);
  // Only their place keeps them out: their balance follows.
  const late = () => entry(account.id, { balanceAfter: micro(-2) });
  await posts(t, book, [entry(account.id), late()], ['posted', 'superseded']);
  await posts(t, book, [late()], ['superseded']);
  t.equal(await balanceOf(book, account.id), -1);
});

/** An account, and two histories of it of one epoch, which part after seq 1: `there` took more at seq 2. */
async function twoHistories(book: Book) {
  const { account } = await stored(book);
  const here = [entry(account.id), entry(account.id, { seq: 2 }), entry(account.id, { seq: 3 })] as const;
  const there = [
    entry(account.id, { seq: 2, credits: micro(-10), balanceAfter: micro(-11), crossing: true }),
    entry(account.id, { seq: 3, balanceAfter: micro(-12) }),
  ];
  return { account, here, there };
}

async function ledgerOf(book: Book, accountId: number): Promise<string[]> {
  return (await book.ledger({ accountId, limit: 10 })).map(({ id }) => id);
}

eachBook('entries of another history of the same epoch are superseded', async (t, book) => {
  const { account, here, there } = await twoHistories(book);
  const [one, two] = here;
  await posts(t, book, [one, two], ['posted', 'posted']);
  t.same(await book.post(there), { results: ['superseded', 'superseded'], gaps: [], alerts: 0 });
  t.equal(await balanceOf(book, account.id), -2);
  t.same(await ledgerOf(book, account.id), [two.id, one.id]);
});

eachBook('two histories in one batch do not mix: the one that came first goes on', async (t, book) => {
  const { account, here, there } = await twoHistories(book);
  const [one, two, three] = here;
  const results = ['posted', 'posted', 'superseded', 'superseded', 'posted'];
  t.same(await book.post([one, two, ...there, three]), { results, gaps: [], alerts: 0 });
  t.equal(await balanceOf(book, account.id), -3);
  t.same(await ledgerOf(book, account.id), [three.id, two.id, one.id]);
});

eachBook(
  'an entry after a gap is posted where its balance follows, and the gap reported',
  async (t, book) => {
    const [{ account: one }, { account: two }] = [await stored(book), await stored(book)];
    const batch = [
      entry(one.id),
      entry(two.id, { seq: 3, balanceAfter: micro(-1) }),
      entry(two.id, { seq: 4, balanceAfter: micro(-2) }),
      entry(two.id, { seq: 6, balanceAfter: micro(-3) }),
    ];
    const posting = await book.post(batch);
    t.same(posting, { results: ['posted', 'posted', 'posted', 'posted'], gaps: [two.id], alerts: 0 });
    t.match(await book.snapshot(two.id, STARTS), { balance: -3, seq: 6 });
  },
);

eachBook('an entry after a gap is superseded where its balance does not follow', async (t, book) => {
  const { account } = await stored(book);
  const [one, three] = [entry(account.id), entry(account.id, { seq: 3 })];
  t.same(await book.post([one, three]), { results: ['posted', 'superseded'], gaps: [], alerts: 0 });
  t.same(await book.post([three]), { results: ['superseded'], gaps: [], alerts: 0 });
  t.match(await book.snapshot(account.id, STARTS), { balance: -1, seq: 1 });
});

eachBook('an entry of an unknown account does not hold up the others', async (t, book) => {
  const { account } = await stored(book);
  await posts(t, book, [entry(99), entry(account.id)], ['superseded', 'posted']);
});

eachBook('an entry of a key that the book does not know is posted', async (t, book) => {
  const { account } = await stored(book);
  await posts(t, book, [entry(account.id, { keyId: 99 })], ['posted']);
});

eachBook('a crossing queues one alert with the balance after it', async (t, book) => {
  const { account } = await stored(book);
  const topUp = { type: 'top_up', credits: micro(100_000_000) } as const;
  const posting = await book.post(entries(account.id, [topUp, { crossing: true, createdAt: NOW + 7 }]));
  t.equal(posting.alerts, 1);
  t.match(await book.alerts(account.id, 10), [
    { creditsBalance: 99_999_999, createdAt: NOW + 7, test: false },
  ]);
});

eachBook('an empty batch posts nothing', async (t, book) => {
  t.same(await book.post([]), { results: [], gaps: [], alerts: 0 });
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
  await book.post([entry(account.id, { crossing: true, id: 'first' })]);
  // The alert of the next entry will not be writable: its ledger row, balance and sums must go with it.
  await run(`insert into alerts (account_id, entry_id, created_at, credits_balance, test, state)
    values (${account.id}, 'second', 0, 0, 0, 'queued')`);
  await t.rejects(book.post([entry(account.id, { id: 'second', seq: 2, keyId: key.id, crossing: true })]));
  t.equal(await hasEntry(book, 'second'), false);
  t.equal(await balanceOf(book, account.id), -1);
  t.same(await book.usage(account.id, TODAY, TODAY + 1, 'key'), []);
});
