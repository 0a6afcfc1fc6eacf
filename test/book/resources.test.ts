import type { Book } from '../../src/book/book.ts';
import type { ResourceIds } from '../../src/domain/ledger-entry.ts';
import { entry, NOW, stored } from '../helper/fixtures/book-records.ts';
import { eachBook } from '../helper/start/books.ts';

/** What an answer adds to the book. It stands for 5 tokens, and a part of it for 2. */
function answer(ids: readonly string[], tokens: ResourceIds['tokens'] = [5, 2]): ResourceIds {
  return { upstream: 'openai', kind: 'response', ids, tokens };
}

/** An account, and a function that posts a charge with the answer. */
async function payer(book: Book) {
  const { account, key } = await stored(book);
  let seq = 0;
  const charge = (storedIds: ResourceIds) =>
    book.post([
      entry(account.id, { keyId: key.id, model: 'gpt', id: `${account.id}-${++seq}`, seq, storedIds }),
    ]);
  return { id: account.id, keyId: key.id, charge };
}

eachBook('what a provider stores is the account’s that made it, and no other’s', async (t, book) => {
  const [own, other] = [await payer(book), await payer(book)];
  await own.charge(answer(['resp_1', 'msg_1']));
  t.same(await book.resources(own.id, ['openai'], ['resp_1']), [
    {
      upstream: 'openai',
      kind: 'response',
      id: 'resp_1',
      accountId: own.id,
      keyId: own.keyId,
      model: 'gpt',
      tokens: 5,
      createdAt: NOW,
      chargeId: `${own.id}-1`,
    },
  ]);
  t.equal((await book.resources(own.id, ['openai'], ['resp_1', 'msg_1', 'none'])).length, 2);
  t.same(await book.resources(other.id, ['openai'], ['resp_1', 'msg_1']), []);
  t.same(await book.resources(own.id, ['another'], ['resp_1']), []);
});

eachBook('recording again changes nothing, and an id of another account stays with it', async (t, book) => {
  const [own, other] = [await payer(book), await payer(book)];
  await own.charge(answer(['resp_1']));
  await own.charge(answer(['resp_1'], [9, 9]));
  await other.charge(answer(['resp_1'], [7, 7]));
  t.match(await book.resources(own.id, ['openai'], ['resp_1']), [{ tokens: 5 }]);
  t.same(await book.resources(other.id, ['openai'], ['resp_1']), []);
});

eachBook('many resources, and none', async (t, book) => {
  const own = await payer(book);
  const ids = Array.from({ length: 1_200 }, (_, index) => `id_${index}`);
  await own.charge(answer(ids));
  t.equal((await book.resources(own.id, ['openai'], ids)).length, 1_200);
  await own.charge(answer([]));
  t.same(await book.resources(own.id, ['openai'], []), []);
});

eachBook('what is recorded outlives the book', async (t, book, { open, engine }) => {
  const own = await payer(book);
  await own.charge(answer(['resp_1']));
  await book.close();
  const again = await open();
  t.equal((await again.resources(own.id, ['openai'], ['resp_1'])).length, 1, engine);
});
