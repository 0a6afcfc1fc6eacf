import type { Book } from '../../src/book/book.ts';
import { micro } from '../../src/domain/credits.ts';
import type { JournalEntry } from '../../src/domain/ledger-entry.ts';
import { entry, stored, TODAY } from '../helper/fixtures/book-records.ts';
import { eachBook, onPostgres } from '../helper/start/books.ts';

/** `count` entries over the accounts in turn, each -3 micro-credits, over as many models as `models` says. */
function batch(accountIds: readonly number[], count: number, models = 2): JournalEntry[] {
  return Array.from({ length: count }, (_, index) => {
    const accountId = accountIds[index % accountIds.length] ?? 0;
    const seq = Math.floor(index / accountIds.length) + 1;
    return entry(accountId, { seq, keyId: accountId, model: `m${index % models}`, credits: micro(-3) });
  });
}

eachBook('a batch beyond the parameters of one statement is posted whole', async (t, book) => {
  const { account } = await stored(book);
  const entries = batch([account.id], 2500, 1500);
  const { results } = await book.post(entries);
  t.ok(results.every((result) => result === 'posted'));
  t.equal((await book.accounts(0, 1))[0]?.balance, -7500);
  const models = await book.usage(account.id, TODAY, TODAY + 1, 'model');
  t.equal(models.length, 1500);
  t.equal(
    models.reduce((sum, row) => sum + row.credits, 0n),
    7500n,
  );
});

eachBook('a batch over many accounts moves each by its own entries', async (t, book) => {
  const ids: number[] = [];
  while (ids.length < 30) ids.push((await stored(book)).account.id);
  await book.post(batch(ids, 75));
  const balances = (await book.accounts(0, 100)).map((account) => account.balance);
  t.same(balances, [...Array(15).fill(-9), ...Array(15).fill(-6)]);
});

onPostgres('one batch offered by two gateways at once is posted once', async (t, { open }) => {
  const [one, two] = [await open(), await open()];
  const ids: number[] = [];
  while (ids.length < 5) ids.push((await stored(one)).account.id);
  const entries = batch(ids, 200).map((made, index) => ({
    ...made,
    ...(index === 0 && { threshold: micro(0) }),
  }));
  const postings = await Promise.all([one.post(entries), two.post(entries)]);
  const outcomes = entries.map((_, index) => postings.map(({ results }) => results[index]).sort());
  t.ok(outcomes.every((pair) => pair.join() === 'duplicate,posted'));
  t.equal(postings[0].alerts + postings[1].alerts, 1);
  for await (const row of one.reconcile()) t.match(row, { balance: -120, ledgerSum: -120 });
  t.same(
    (await one.recentAccounts(0)).map(({ seq }) => seq),
    Array(5).fill(40),
  );
});

onPostgres(
  'gateways that offer the same accounts in opposite orders do not lock each other out',
  async (t, { open }) => {
    const [one, two] = [await open(), await open()];
    const ids: number[] = [];
    while (ids.length < 8) ids.push((await stored(one)).account.id);
    const rounds = Array.from({ length: 20 }, (_, round) => ids.map((id) => entry(id, { seq: round + 1 })));
    const offerAll = async (book: Book, batches: readonly (readonly JournalEntry[])[]) => {
      for (const entries of batches) await book.post(entries);
    };
    await Promise.all([
      offerAll(one, rounds),
      offerAll(
        two,
        rounds.map((entries) => entries.toReversed()),
      ),
    ]);
    const balances = (await one.accounts(0, 100)).map((account) => account.balance);
    t.same(balances, Array(8).fill(-20));
  },
);
