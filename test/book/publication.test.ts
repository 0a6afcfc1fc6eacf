import { NOW, newKey, stored } from '../helper/fixtures/book-records.ts';
import { eachBook } from '../helper/start/books.ts';

eachBook('new records are unpublished until they are noted', async (t, book) => {
  const { account, key } = await stored(book);
  t.same(await book.unpublished(10), { keys: [key], accounts: [account] });
  await book.published({ keys: [{ id: key.id, version: 1 }] }, NOW);
  t.same(await book.unpublished(10), { keys: [], accounts: [account] });
  await book.published({ accounts: [{ id: account.id, version: 1 }] }, NOW);
  t.same(await book.unpublished(10), { keys: [], accounts: [] });
});

eachBook('a change is unpublished again', async (t, book) => {
  const { account, key } = await stored(book);
  await book.published(
    { keys: [{ id: key.id, version: 1 }], accounts: [{ id: account.id, version: 1 }] },
    NOW,
  );
  const changed = await book.updateKey(account.id, key.id, { isActive: false }, NOW);
  t.same(await book.unpublished(10), { keys: [changed], accounts: [] });
});

eachBook('a late note of an older version changes nothing', async (t, book) => {
  const { account, key } = await stored(book);
  await book.updateKey(account.id, key.id, {}, NOW);
  await book.published({ keys: [{ id: key.id, version: 2 }] }, NOW);
  await book.published({ keys: [{ id: key.id, version: 1 }] }, NOW);
  t.same((await book.unpublished(10)).keys, []);
});

eachBook('of two versions in one note the higher counts', async (t, book) => {
  const { account, key } = await stored(book);
  await book.updateKey(account.id, key.id, {}, NOW);
  const note = (version: number) => ({ id: key.id, version });
  await book.published({ keys: [note(1), note(2), note(1)] }, NOW);
  t.same((await book.unpublished(10)).keys, []);
});

eachBook('many records are noted at once and listed up to a limit', async (t, book) => {
  const { account, key } = await stored(book);
  const keys = [key];
  while (keys.length < 20) keys.push(await book.createKey(account.id, newKey(), NOW));
  t.same((await book.unpublished(5)).keys, keys.slice(0, 5));
  t.same((await book.unpublished(5, { key: keys[4]?.id ?? 0, account: 0 })).keys, keys.slice(5, 10));
  await book.published({ keys: keys.slice(1).map(({ id, version }) => ({ id, version })) }, NOW);
  t.same((await book.unpublished(5)).keys, [key]);
});

eachBook('a note of nothing is allowed', async (t, book) => {
  await t.resolves(book.published({}, NOW));
  await t.resolves(book.published({ keys: [], accounts: [] }, NOW));
});

eachBook('a record that could be published only later is a change of then', async (t, book) => {
  const LATER = NOW + 3_600_000;
  const { account, key } = await stored(book);
  const note = { keys: [{ id: key.id, version: 1 }], accounts: [{ id: account.id, version: 1 }] };
  t.same(await book.changedSince(LATER), { keys: [], accounts: [] });
  await book.published(note, LATER);
  t.same(await book.changedSince(LATER), { keys: [key], accounts: [account] });
  await book.published(note, LATER + 1);
  t.same(await book.changedSince(LATER + 1), { keys: [], accounts: [] }, 'a repeat changes nothing');
});
