import type { Book } from '../../src/book/book.ts';
import type { MarginGroup, MarginRow } from '../../src/book/usage.ts';
import { micro } from '../../src/domain/credits.ts';
import type { JournalEntry } from '../../src/domain/ledger-entry.ts';
import { UNIT_NAMES, type Usage, unitRow } from '../../src/domain/units.ts';
import { entries, entry, NOW, newKey, stored, TODAY } from '../helper/fixtures/book-records.ts';
import { eachBook } from '../helper/start/books.ts';

async function accountWith(book: Book, given: readonly Partial<JournalEntry>[]): Promise<number> {
  const { account, key } = await stored(book);
  const made = given.map((one) => ({ keyId: key.id, ...one }));
  await book.post(entries(account.id, made));
  return account.id;
}

eachBook('usage by day names the days and sums every unit', async (t, book) => {
  const id = await accountWith(book, [
    { credits: micro(-5), usage: { input: 10, output: 2, cachedInput: 3, cacheWrite: 4, requests: 1 } },
    { credits: micro(-6), usage: { input: 1, audioSeconds: 0.25 }, model: 'other' },
    { credits: micro(-1), usage: { images: 2, characters: 9, videoSeconds: 1.5 }, day: TODAY - 1 },
  ]);
  t.same(await book.usage(id, TODAY - 1, TODAY + 1, 'day'), [
    {
      group: '2026-11-17',
      calls: 1,
      failed: 0,
      refused: 0,
      credits: 1,
      usage: { images: 2, characters: 9, videoSeconds: 1.5 },
    },
    {
      group: '2026-11-18',
      calls: 2,
      failed: 0,
      refused: 0,
      credits: 11,
      usage: { input: 11, output: 2, cachedInput: 3, cacheWrite: 4, audioSeconds: 0.25 },
    },
  ]);
});

eachBook('the first day of a span counts and the last does not', async (t, book) => {
  const id = await accountWith(book, [{ day: TODAY - 1 }, { day: TODAY }, { day: TODAY + 1 }]);
  const days = await book.usage(id, TODAY, TODAY + 1, 'day');
  t.same(
    days.map(({ group }) => group),
    ['2026-11-18'],
  );
});

eachBook('usage by model is in the same order on either engine', async (t, book) => {
  const models = ['b', 'B', 'a-b', 'ab', 'Ä', '_', null];
  const id = await accountWith(
    book,
    models.map((model) => ({ model })),
  );
  const rows = await book.usage(id, TODAY, TODAY + 1, 'model');
  t.same(
    rows.map(({ group }) => group),
    [null, 'B', '_', 'a-b', 'ab', 'b', 'Ä'],
  );
});

eachBook('usage by key gives the ids, ascending', async (t, book) => {
  const { account, key } = await stored(book);
  const other = await book.createKey(account.id, newKey(), NOW);
  const keyIds = [other.id, key.id, other.id];
  await book.post(keyIds.map((keyId, index) => entry(account.id, { seq: index + 1, keyId })));
  t.match(await book.usage(account.id, TODAY, TODAY + 1, 'key'), [
    { group: key.id, calls: 1 },
    { group: other.id, calls: 2 },
  ]);
});

eachBook('usage of one key is what that key did, however it is grouped', async (t, book) => {
  const { account, key } = await stored(book);
  const other = await book.createKey(account.id, newKey(), NOW);
  const made = [
    { keyId: key.id, model: 'a', day: TODAY - 70 },
    { keyId: other.id, model: 'a', day: TODAY - 70 },
    { keyId: key.id, model: 'b', day: TODAY },
    { keyId: other.id, model: 'c', day: TODAY },
  ];
  await book.post(made.map((one, index) => entry(account.id, { seq: index + 1, ...one })));
  const groups = async (by: 'day' | 'key' | 'model', keyId: number) =>
    (await book.usage(account.id, TODAY - 200, TODAY + 1, by, { keyId })).map(({ group, calls }) => [
      group,
      calls,
    ]);
  t.same(await groups('key', key.id), [[key.id, 2]]);
  t.same(await groups('model', key.id), [
    ['a', 1],
    ['b', 1],
  ]);
  t.same(await groups('day', other.id), [
    ['2026-09-09', 1],
    ['2026-11-18', 1],
  ]);
  t.same(await groups('key', other.id + 1), []);
});

eachBook('calls of charge 0 and expired holds are calls', async (t, book) => {
  const id = await accountWith(book, [
    { credits: micro(0) },
    { credits: micro(0), type: 'expired_hold', status: null, outcome: null },
  ]);
  t.match(await book.usage(id, TODAY, TODAY + 1, 'day'), [{ calls: 2, failed: 1, credits: 0 }]);
});

eachBook('a refund lowers the credits and is no call', async (t, book) => {
  const usage = { videoSeconds: 8 };
  const id = await accountWith(book, [
    { credits: micro(-80), usage },
    { credits: micro(80), usage, type: 'refund' },
  ]);
  t.same(await book.usage(id, TODAY, TODAY + 1, 'model'), [
    { group: 'gpt-4o-mini', calls: 1, failed: 0, refused: 0, credits: 0, usage },
  ]);
});

eachBook('sums over several batches add up', async (t, book) => {
  const { account, key } = await stored(book);
  for (let seq = 1; seq <= 3; seq++) {
    const used = { input: 2 ** 50, audioSeconds: 0.5 };
    await book.post([entry(account.id, { seq, keyId: key.id, credits: micro(-(2 ** 51)), usage: used })]);
  }
  t.same(await book.usage(account.id, TODAY, TODAY + 1, 'key'), [
    {
      group: key.id,
      calls: 3,
      failed: 0,
      refused: 0,
      credits: 3 * 2 ** 51,
      usage: { input: 3 * 2 ** 50, audioSeconds: 1.5 },
    },
  ]);
});

eachBook('usage by key counts each day once, whatever part of it is whole months', async (t, book) => {
  const first = Date.UTC(2026, 0, 1) / 86_400_000;
  const days = Array.from({ length: 120 }, (_, index) => first + index);
  const { account, key } = await stored(book);
  await book.post(
    days.map((day, index) =>
      entry(account.id, { seq: index + 1, keyId: key.id, day, model: `m${index % 3}` }),
    ),
  );
  const spans = [
    [0, 120],
    [0, 31],
    [0, 30],
    [1, 31],
    [15, 16],
    [20, 40],
    [31, 59],
    [31, 60],
    [30, 118],
    [2, 119],
    [1, 30],
    [16, 47],
    [5, 5],
  ] as const;
  for (const [from, to] of spans) {
    const [row] = await book.usage(account.id, first + from, first + to, 'key');
    t.equal(row?.calls ?? 0, to - from, `days ${from} to ${to}`);
  }
});

const DECEMBER = Date.UTC(2025, 11, 1) / 86_400_000;

eachBook(
  'a key without calls in the span has no row, though it had some in the same month',
  async (t, book) => {
    const { account, key } = await stored(book);
    const other = await book.createKey(account.id, newKey(), NOW);
    await book.post([
      entry(account.id, { seq: 1, keyId: key.id, day: DECEMBER }),
      entry(account.id, { seq: 2, keyId: other.id, day: DECEMBER + 5 }),
    ]);
    const rows = await book.usage(account.id, DECEMBER + 1, DECEMBER + 31, 'key');
    t.same(
      rows.map(({ group }) => group),
      [other.id],
    );
  },
);

eachBook('seconds leave no crumbs where days are taken off a month', async (t, book) => {
  const { account, key } = await stored(book);
  const seconds = [0.1, 0.2, 0.3];
  await book.post(
    seconds.map((audioSeconds, at) =>
      entry(account.id, { seq: at + 1, keyId: key.id, day: DECEMBER + at, usage: { audioSeconds } }),
    ),
  );
  const used = { input: 1, videoSeconds: 0.2 };
  const first = { seq: 4, keyId: key.id, day: DECEMBER, usage: { videoSeconds: 0.1 } };
  await book.post([
    entry(account.id, first),
    entry(account.id, { ...first, seq: 5, day: DECEMBER + 5, usage: used }),
  ]);
  const [row] = await book.usage(account.id, DECEMBER + 3, DECEMBER + 31, 'key');
  t.same(row?.usage, used);
});

/** Every dimension has its own number, so that none can be mistaken for another. */
const EVERY_DIMENSION: Usage = Object.fromEntries(
  UNIT_NAMES.map(unitRow).flatMap(({ usage, column, isTimed }, index) =>
    column === null ? [] : [[usage, isTimed ? index + 1.5 : index + 1]],
  ),
);
const doubled = Object.fromEntries(
  Object.entries(EVERY_DIMENSION).map(([dimension, amount]) => [dimension, 2 * amount]),
);

eachBook('every dimension of usage is summed, by day, key and model', async (t, book) => {
  const id = await accountWith(book, [{ usage: EVERY_DIMENSION }, { usage: EVERY_DIMENSION }]);
  for (const by of ['day', 'key', 'model'] as const) {
    const [row] = await book.usage(id, TODAY, TODAY + 1, by);
    t.same(row?.usage, doubled, by);
    t.same(
      Object.keys(row ?? {}).sort(),
      ['calls', 'credits', 'failed', 'group', 'refused', 'usage'],
      'an owner reads no cost',
    );
  }
  for (const by of ['account', 'key', 'model', 'upstream', 'day'] as const) {
    const [[row] = []] = await parts(book, TODAY, TODAY + 1, by);
    t.same(row?.usage, doubled, by);
  }
});

/** All parts of an operator's report. */
async function parts(
  book: Book,
  from: number,
  to: number,
  by: MarginGroup,
): Promise<(readonly MarginRow[])[]> {
  const all: (readonly MarginRow[])[] = [];
  for await (const rows of book.usageOfAll(from, to, by)) all.push(rows);
  return all;
}

eachBook("the operator's report sums all accounts, and cost where it is known", async (t, book) => {
  const [first, second] = [await stored(book), await stored(book)];
  const listed = { keyId: first.key.id, model: 'listed', upstream: 'one', usage: { input: 1 } };
  await book.post([
    ...entries(first.account.id, [
      { ...listed, credits: micro(-11), cost: micro(10) },
      { ...listed, credits: micro(-22), cost: micro(20), day: TODAY - 40 },
      { ...listed, model: 'written', credits: micro(-5) },
    ]),
    ...entries(second.account.id, [
      { ...listed, keyId: second.key.id, upstream: 'two', credits: micro(-33), cost: micro(40) },
      // An entry of a version that stored no upstream.
      { keyId: second.key.id, model: 'written', credits: micro(-7), day: TODAY - 70 },
    ]),
  ]);
  const report = async (by: MarginGroup, from = TODAY - 100) =>
    (await parts(book, from, TODAY + 1, by))
      .flat()
      .map((row) => [row.group, row.calls, ...[row.credits, row.cost, row.costed].map(Number)]);
  t.same(await report('account'), [
    [first.account.id, 3, 38, 30, 33],
    [second.account.id, 2, 40, 40, 33],
  ]);
  t.same(await report('key'), [
    [first.key.id, 3, 38, 30, 33],
    [second.key.id, 2, 40, 40, 33],
  ]);
  t.same(await report('model'), [
    ['listed', 3, 66, 70, 66],
    ['written', 2, 12, 0, 0],
  ]);
  t.same(await report('upstream'), [
    [null, 1, 7, 0, 0],
    ['one', 3, 38, 30, 33],
    ['two', 1, 33, 40, 33],
  ]);
  t.same(await report('day'), [
    ['2026-09-09', 1, 7, 0, 0],
    ['2026-10-09', 1, 22, 20, 22],
    ['2026-11-18', 3, 49, 50, 44],
  ]);
  t.same(await report('key', TODAY - 30), [
    [first.key.id, 2, 16, 10, 11],
    [second.key.id, 1, 33, 40, 33],
  ]);
});

eachBook("a refund gives back cost and credits in the operator's report", async (t, book) => {
  const made = { upstream: 'films', usage: { videoSeconds: 8 } };
  await accountWith(book, [
    { ...made, credits: micro(-80), cost: micro(70) },
    { ...made, credits: micro(80), cost: micro(-70), type: 'refund', usage: {} },
    { ...made, credits: micro(-40), cost: micro(35) },
  ]);
  for (const by of ['key', 'model', 'upstream', 'day'] as const) {
    t.match(
      await parts(book, TODAY, TODAY + 1, by),
      [[{ calls: 2, credits: 40n, cost: 35n, costed: 40n }]],
      by,
    );
  }
});

eachBook('many accounts come in parts, none left out and none twice', async (t, book) => {
  const ids: number[] = [];
  for (let made = 0; made < 25; made++) ids.push(await accountWith(book, [{}]));
  const [from, to] = [TODAY - 365, TODAY + 1];
  const read = await parts(book, from, to, 'account');
  t.ok(read.length > 1, `${read.length} parts of a year`);
  t.same(
    read.flat().map(({ group, calls }) => [group, calls]),
    ids.map((id) => [id, 1]),
  );
  t.equal((await parts(book, TODAY, to, 'account')).length, 1, 'one part of a day');
});

eachBook('cost beyond 2^53 is told exactly', async (t, book) => {
  const huge = 8_000_000_000_000_000;
  await accountWith(book, [{ cost: micro(huge) }]);
  await accountWith(book, [{ cost: micro(huge) }]);
  const rows = (await parts(book, TODAY, TODAY + 1, 'day')).flat();
  t.same(
    rows.map(({ cost }) => cost),
    [2n * BigInt(huge)],
  );
});
