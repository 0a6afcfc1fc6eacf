import { type Grant, IdempotencyKeyReused } from '../../src/book/grants.ts';
import { micro } from '../../src/domain/credits.ts';
import { rejection } from '../helper/check/rejection.ts';
import { entry, NOW, stored } from '../helper/fixtures/book-records.ts';
import { eachBook, onPostgres } from '../helper/start/books.ts';

function grant(accountId: number, given: Partial<Grant> = {}): Omit<Grant, 'balanceAfter'> {
  return { id: 'g1', accountId, amount: micro(500), type: 'top_up', note: 'n', createdAt: NOW, ...given };
}

eachBook('a grant is pending until its entry is in the ledger', async (t, book) => {
  const { account } = await stored(book);
  const made = await book.createGrant(grant(account.id), null);
  t.same(made, { grant: { ...grant(account.id), balanceAfter: null }, repeated: false });
  t.same(await book.pendingGrants(NOW + 1, 10), [made.grant]);
  await book.post([entry(account.id, { id: 'g1', type: 'top_up', credits: micro(500) })]);
  t.same(await book.pendingGrants(NOW + 1, 10), []);
});

eachBook('a grant repeated with its idempotency key comes back, with its balance', async (t, book) => {
  const { account } = await stored(book);
  await book.createGrant(grant(account.id), 'once');
  await book.post([entry(account.id, { id: 'g1', type: 'top_up', credits: micro(500) })]);
  t.same(await book.createGrant(grant(account.id, { id: 'g2', createdAt: NOW + 9 }), 'once'), {
    grant: { ...grant(account.id), balanceAfter: 500 },
    repeated: true,
  });
});

eachBook('an idempotency key with another amount or note is refused', async (t, book) => {
  const { account } = await stored(book);
  await book.createGrant(grant(account.id), 'once');
  for (const other of [{ amount: micro(501) }, { note: 'other' }]) {
    const attempt = book.createGrant(grant(account.id, { id: 'g2', ...other }), 'once');
    t.type(await rejection(attempt), IdempotencyKeyReused);
  }
  t.equal((await book.pendingGrants(NOW + 1, 10)).length, 1);
});

eachBook('an idempotency key belongs to one account', async (t, book) => {
  const [{ account: one }, { account: two }] = [await stored(book), await stored(book)];
  await book.createGrant(grant(one.id), 'once');
  t.equal((await book.createGrant(grant(two.id, { id: 'g2' }), 'once')).repeated, false);
});

eachBook('grants without an idempotency key are all made', async (t, book) => {
  const { account } = await stored(book);
  await book.createGrant(grant(account.id), null);
  await book.createGrant(grant(account.id, { id: 'g2' }), null);
  const [first, second] = await book.pendingGrants(NOW + 1, 10);
  t.ok(second);
  t.same(await book.pendingGrants(NOW + 1, 10, first), [second]);
});

eachBook('pending grants are listed oldest first, up to a time and a limit', async (t, book) => {
  const { account } = await stored(book);
  for (const [id, createdAt] of [
    ['c', NOW + 2],
    ['a', NOW],
    ['b', NOW + 1],
  ] as const) {
    await book.createGrant(grant(account.id, { id, createdAt }), null);
  }
  const ids = async (before: number, limit: number) =>
    (await book.pendingGrants(before, limit)).map(({ id }) => id);
  t.same(await ids(NOW + 2, 10), ['a', 'b']);
  t.same(await ids(NOW + 9, 1), ['a']);
});

onPostgres('two gateways that repeat one grant at once make one', async (t, { open }) => {
  const [one, two] = [await open(), await open()];
  const { account } = await stored(one);
  const attempts = Array.from({ length: 20 }, (_, index) =>
    (index % 2 ? one : two).createGrant(grant(account.id, { id: `g${index}` }), 'once'),
  );
  const made = await Promise.all(attempts);
  t.equal(made.filter(({ repeated }) => !repeated).length, 1);
  t.equal(new Set(made.map(({ grant: { id } }) => id)).size, 1);
  t.equal((await one.pendingGrants(NOW + 1, 100)).length, 1);
});
