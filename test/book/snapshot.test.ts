import { micro } from '../../src/domain/credits.ts';
import { NO_WINDOWS } from '../../src/domain/spending-limits.ts';
import { entries, entry, NOW, newKey, stored } from '../helper/fixtures/book-records.ts';
import { eachBook } from '../helper/start/books.ts';

/** Thursday, 2 July 2026: the week began in the month before. */
const THURSDAY = Date.UTC(2026, 6, 2) / 86_400_000;
/** A hundredth of five hours. */
const PART_MS = 180_000;
const STARTS = { day: THURSDAY, week: THURSDAY - 3, month: THURSDAY - 1 };

eachBook('a snapshot takes a new epoch each time', async (t, book) => {
  const { account, key } = await stored(book);
  t.same(await book.snapshot(account.id, STARTS), {
    account,
    balance: 0,
    seq: 0,
    epoch: 1,
    keys: [{ key, windows: { ...NO_WINDOWS, ...STARTS } }],
    members: [],
    windows: { ...NO_WINDOWS, ...STARTS },
    pendingGrants: [],
    known: new Set(),
  });
  t.equal((await book.snapshot(account.id, STARTS))?.epoch, 2);
});

eachBook('concurrent snapshots take different epochs', async (t, book) => {
  const { account } = await stored(book);
  const taken = await Promise.all(Array.from({ length: 10 }, () => book.snapshot(account.id, STARTS)));
  t.equal(new Set(taken.map((snapshot) => snapshot?.epoch)).size, 10);
});

eachBook('a snapshot sums what each key spent in each period', async (t, book) => {
  const { account, key } = await stored(book);
  const other = await book.createKey(account.id, newKey(), NOW);
  const spends = [
    [key.id, STARTS.day, 1],
    [key.id, STARTS.month, 10],
    [key.id, STARTS.week, 100],
    [key.id, STARTS.week - 1, 1000],
    [other.id, STARTS.day, 7],
    [other.id, STARTS.day, 7],
  ] as const;
  await book.post(
    entries(
      account.id,
      spends.map(([keyId, day, spent], index) => ({
        keyId,
        day,
        model: `m${index}`,
        credits: micro(-spent),
      })),
    ),
  );
  t.match(await book.snapshot(account.id, STARTS), {
    keys: [
      { key: { id: key.id }, windows: { daySpent: 1, monthSpent: 11, weekSpent: 111, totalSpent: 1_111 } },
      { key: { id: other.id }, windows: { daySpent: 14, monthSpent: 14, weekSpent: 14, totalSpent: 14 } },
    ],
    windows: { daySpent: 15, monthSpent: 25, weekSpent: 125, totalSpent: 1_125 },
  });
});

eachBook('a refund lowers what its key spent, a top-up does not', async (t, book) => {
  const { account, key } = await stored(book);
  await book.post(
    entries(account.id, [
      { keyId: key.id, credits: micro(-50) },
      { keyId: key.id, credits: micro(20), type: 'refund' },
      { credits: micro(1000), type: 'top_up' },
      { credits: micro(-400), type: 'adjustment' },
    ]),
  );
  const snapshot = await book.snapshot(account.id, STARTS);
  t.match(snapshot, { balance: 570, keys: [{ windows: { daySpent: 30 } }], windows: { daySpent: 30 } });
});

eachBook(
  'the last five hours of key and account are kept; earlier ones change nothing, overlapping ones are the same',
  async (t, book) => {
    const { account, key } = await stored(book);
    const spend = (credits: number, ofKey: number, ofAccount: number) => ({
      keyId: key.id,
      credits: micro(-credits),
      hours: { key: ofKey * PART_MS, account: ofAccount * PART_MS },
    });
    const posts = [
      [spend(5, 100, 90), spend(3, 100, 90)],
      [spend(1, 100, 200), { ...spend(-2, 100, 200), type: 'refund' as const }],
      [spend(7, 300, 200), spend(4, 100, 90), spend(6, 300, 200)],
    ];
    let seq = 0;
    for (const batch of posts)
      await book.post(entries(account.id, batch).map((one) => ({ ...one, seq: ++seq })));
    const snapshot = () => book.snapshot(account.id, STARTS);
    t.match(await snapshot(), {
      keys: [{ windows: { hours: 300 * PART_MS, hoursSpent: 13 } }],
      windows: { hours: 200 * PART_MS, hoursSpent: 12 },
    });
    await book.post([{ ...entry(account.id, spend(2, 340, 101)), seq: ++seq }]);
    t.match(await snapshot(), {
      keys: [{ windows: { hours: 300 * PART_MS, hoursSpent: 15 } }],
      windows: { hours: 101 * PART_MS, hoursSpent: 14 },
    });
  },
);

eachBook('inactive keys are part of a snapshot, those of other accounts are not', async (t, book) => {
  const { account, key } = await stored(book, { key: { isActive: false } });
  const { key: foreign } = await stored(book);
  await book.post([entry(foreign.accountId, { keyId: foreign.id })]);
  const snapshot = await book.snapshot(account.id, STARTS);
  t.same(
    snapshot?.keys.map((state) => state.key),
    [key],
  );
});

eachBook('an unknown account has no snapshot', async (t, book) => {
  t.equal(await book.snapshot(99, STARTS), undefined);
});

eachBook('recent accounts are those with an entry since', async (t, book) => {
  const { account: quiet } = await stored(book);
  const { account: early } = await stored(book);
  const { account: late } = await stored(book);
  await book.post([
    entry(early.id, { createdAt: NOW - 1 }),
    entry(late.id, { createdAt: NOW }),
    // Settled later but made earlier: the account stays recent.
    entry(late.id, { createdAt: NOW - 5, seq: 2 }),
  ]);
  t.same(await book.recentAccounts(NOW), [{ id: late.id, seq: 2, epoch: 0 }]);
  t.equal((await book.recentAccounts(0)).length, 2);
  t.notOk((await book.recentAccounts(0)).some(({ id }) => id === quiet.id));
});

eachBook(
  'a snapshot names the grants that are recorded and not in the ledger, oldest first',
  async (t, book) => {
    const { account } = await stored(book);
    const { account: other } = await stored(book);
    const grant = (id: string, accountId: number, createdAt: number) =>
      book.createGrant({ id, accountId, amount: micro(5), type: 'top_up', note: '', createdAt }, null);
    await grant('later', account.id, NOW + 1);
    await grant('sooner', account.id, NOW);
    await grant('of another', other.id, NOW);
    await grant('posted', account.id, NOW);
    await book.post([
      entry(account.id, { id: 'posted', type: 'top_up', seq: 1, keyId: null, credits: micro(5) }),
    ]);
    const pending = (await book.snapshot(account.id, STARTS))?.pendingGrants;
    t.same(
      pending?.map(({ id }) => id),
      ['sooner', 'later'],
    );
  },
);

eachBook(
  'a snapshot by a clock that was set back keeps the day in which calls were booked',
  async (t, book) => {
    const { account, key } = await stored(book);
    const keyId = key.id;
    await book.post(
      entries(account.id, [
        { keyId, day: STARTS.day + 1 },
        { keyId, day: STARTS.day },
      ]),
    );
    const windows = {
      day: STARTS.day + 1,
      daySpent: 1,
      week: STARTS.week,
      weekSpent: 2,
      month: STARTS.month,
    };
    t.match(await book.snapshot(account.id, STARTS), { windows, keys: [{ windows }] });
  },
);
