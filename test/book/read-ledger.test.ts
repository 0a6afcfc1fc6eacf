import { entry, NOW, newKey, stored } from '../helper/fixtures/book-records.ts';
import { eachBook } from '../helper/start/books.ts';

eachBook('the ledger is read newest first, page by page', async (t, book) => {
  const { account } = await stored(book);
  await book.post([1, 2, 3, 4, 5].map((seq) => entry(account.id, { seq })));
  const seqs = async (before?: number) => {
    const query = { accountId: account.id, limit: 2, ...(before !== undefined && { before }) };
    return (await book.ledger(query)).map(({ seq }) => seq);
  };
  t.same([await seqs(), await seqs(4), await seqs(2), await seqs(1)], [[5, 4], [3, 2], [1], []]);
});

eachBook('the ledger of one key leaves out the others', async (t, book) => {
  const { account, key } = await stored(book);
  const other = await book.createKey(account.id, newKey(), NOW);
  const keyIds = [key.id, other.id, null, key.id];
  await book.post(keyIds.map((keyId, index) => entry(account.id, { seq: index + 1, keyId })));
  const found = await book.ledger({ accountId: account.id, keyId: key.id, limit: 10 });
  t.same(
    found.map(({ seq }) => seq),
    [4, 1],
  );
});

eachBook('the ledger of another account is not seen', async (t, book) => {
  const [{ account: one }, { account: two }] = [await stored(book), await stored(book)];
  await book.post([entry(one.id)]);
  t.same(await book.ledger({ accountId: two.id, limit: 10 }), []);
});
