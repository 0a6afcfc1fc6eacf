import type { EntryType } from '../../src/domain/ledger-entry.ts';
import { entries, NOW, newKey, stored } from '../helper/fixtures/book-records.ts';
import { eachBook } from '../helper/start/books.ts';

eachBook(
  'the latest call of each key is its charge or expired hold that was booked last',
  async (t, book) => {
    const { account, key } = await stored(book);
    const made = [];
    for (let more = 0; more < 4; more++) made.push(await book.createKey(account.id, newKey(), NOW));
    const [charged, expired, refunded, unused] = made.map(({ id }) => id);
    const call = (keyId: number | null | undefined, type: EntryType, at: number) => ({
      keyId: keyId ?? null,
      type,
      createdAt: NOW + at,
    });
    await book.post(
      entries(account.id, [
        call(null, 'top_up', 1),
        call(charged, 'charge', 2),
        call(refunded, 'charge', 3),
        call(expired, 'charge', 4),
        call(charged, 'charge', 6),
        call(expired, 'expired_hold', 5),
        call(refunded, 'refund', 7),
        call(null, 'adjustment', 8),
        call(key.id, 'refund', 9),
      ]),
    );
    const all = [key.id, ...made.map(({ id }) => id)];
    t.same(
      [...(await book.lastCalls(account.id, all))].sort(),
      [
        [charged, NOW + 6],
        [expired, NOW + 5],
        [refunded, NOW + 3],
      ].sort(),
    );
    t.same([...(await book.lastCalls(account.id, [charged ?? 0]))], [[charged, NOW + 6]]);
    t.same((await book.lastCalls(account.id, [unused ?? 0])).size, 0);
    t.same((await book.lastCalls(account.id, [])).size, 0);
  },
);

eachBook('calls of a key are those in the ledger of its account', async (t, book) => {
  const { account, key } = await stored(book);
  const { account: other } = await stored(book);
  await book.post(entries(account.id, [{ keyId: key.id }]));
  t.same((await book.lastCalls(other.id, [key.id])).size, 0);
  t.same([...(await book.lastCalls(account.id, [key.id]))], [[key.id, NOW]]);
});

eachBook('the latest calls of more keys than a statement takes are all found', async (t, book) => {
  const { account } = await stored(book);
  const ids: number[] = [];
  for (let made = 0; made < 1_001; made++) ids.push((await book.createKey(account.id, newKey(), NOW)).id);
  const used = ids.filter((_, index) => index % 500 === 0);
  await book.post(
    entries(
      account.id,
      used.map((keyId) => ({ keyId })),
    ),
  );
  t.same([...(await book.lastCalls(account.id, ids)).keys()].sort(), used.sort());
});
