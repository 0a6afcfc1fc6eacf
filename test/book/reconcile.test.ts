import type { Book } from '../../src/book/book.ts';
import { micro } from '../../src/domain/credits.ts';
import { entries, entry, stored } from '../helper/fixtures/book-records.ts';
import { eachBook } from '../helper/start/books.ts';

async function rows(book: Book) {
  const all = [];
  for await (const row of book.reconcile()) all.push(row);
  return all;
}

eachBook('reconcile gives balance, ledger sum and last balance of an account', async (t, book) => {
  const { account } = await stored(book);
  await book.post(entries(account.id, [{ type: 'top_up', credits: micro(100) }, { credits: micro(-30) }]));
  const { id: accountId, email } = account;
  t.same(await rows(book), [{ accountId, email, balance: 70, ledgerSum: 70, lastBalanceAfter: 70 }]);
});

eachBook('an account without entries reconciles as empty', async (t, book) => {
  await stored(book);
  t.match(await rows(book), [{ balance: 0, ledgerSum: 0, lastBalanceAfter: null }]);
});

eachBook('reconcile shows a balance or a ledger that was tampered with', async (t, book, { run }) => {
  const { account } = await stored(book);
  await book.post([entry(account.id, { credits: micro(9) })]);
  await run(`update accounts set balance = 10 where id = ${account.id}`);
  t.match(await rows(book), [{ balance: 10, ledgerSum: 9, lastBalanceAfter: 9 }]);
});

eachBook('reconcile visits every account once, over many pages', async (t, book) => {
  const ids = [];
  while (ids.length < 101) ids.push((await stored(book)).account.id);
  t.same(
    (await rows(book)).map((row) => row.accountId),
    ids,
  );
});

eachBook('reconcile can be left early', async (t, book) => {
  await stored(book);
  await stored(book);
  for await (const _ of book.reconcile()) break;
  await t.resolves(book.ping());
});
