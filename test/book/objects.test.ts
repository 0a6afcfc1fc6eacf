import type { StoredObject } from '../../src/book/book.ts';
import { NOW, stored } from '../helper/book-records.ts';
import { eachBook } from '../helper/books.ts';

const OBJECT = { upstream: 'openai', kind: 'response', keyId: 1, model: 'gpt', tokens: 5, createdAt: NOW };

eachBook('what an upstream keeps is the account’s that made it, and no other’s', async (t, book) => {
  const [own, other] = [(await stored(book)).account.id, (await stored(book)).account.id];
  const made: StoredObject = { ...OBJECT, accountId: own, id: 'resp_1' };
  await book.rememberObjects([made, { ...made, id: 'msg_1', tokens: null }]);
  t.same(await book.objects(own, 'openai', ['resp_1']), [made]);
  t.equal((await book.objects(own, 'openai', ['resp_1', 'msg_1', 'none'])).length, 2);
  t.same(await book.objects(other, 'openai', ['resp_1', 'msg_1']), []);
  t.same(await book.objects(own, 'another', ['resp_1']), []);
});

eachBook('remembering again changes nothing, and another account may have the same id', async (t, book) => {
  const [own, other] = [(await stored(book)).account.id, (await stored(book)).account.id];
  await book.rememberObjects([{ ...OBJECT, accountId: own, id: 'resp_1' }]);
  await book.rememberObjects([{ ...OBJECT, accountId: own, id: 'resp_1', tokens: 9 }]);
  await book.rememberObjects([{ ...OBJECT, accountId: other, id: 'resp_1', tokens: 7 }]);
  t.match(await book.objects(own, 'openai', ['resp_1']), [{ tokens: 5 }]);
  t.match(await book.objects(other, 'openai', ['resp_1']), [{ tokens: 7 }]);
});

eachBook('many objects, and none', async (t, book) => {
  const { account } = await stored(book);
  const ids = Array.from({ length: 1_200 }, (_, index) => `id_${index}`);
  await book.rememberObjects(ids.map((id) => ({ ...OBJECT, accountId: account.id, id })));
  t.equal((await book.objects(account.id, 'openai', ids)).length, 1_200);
  await book.rememberObjects([]);
  t.same(await book.objects(account.id, 'openai', []), []);
});

eachBook('what is remembered outlives the book', async (t, book, { open, engine }) => {
  const { account } = await stored(book);
  await book.rememberObjects([{ ...OBJECT, accountId: account.id, id: 'resp_1' }]);
  await book.close();
  const again = await open();
  t.equal((await again.objects(account.id, 'openai', ['resp_1'])).length, 1, engine);
});
