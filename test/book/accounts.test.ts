import { EmailTaken } from '../../src/book/accounts.ts';
import { MAX_CALL_LIMIT, NO_CALL_LIMITS } from '../../src/domain/call-limits.ts';
import { micro } from '../../src/domain/credits.ts';
import { rejection } from '../helper/check/rejection.ts';
import { NOW, newAccount, newKey, stored } from '../helper/fixtures/book-records.ts';
import { eachBook, onPostgres } from '../helper/start/books.ts';

eachBook('an account is stored with its first key', async (t, book) => {
  const settings = newAccount({ email: 'Ada@Example.com', alertThreshold: micro(5) });
  const { account, key } = await book.createAccount(settings, newKey({ name: 'root' }), null, NOW);
  t.match(account, {
    email: 'Ada@Example.com',
    isActive: true,
    alertThreshold: 5,
    createdAt: NOW,
    version: 1,
  });
  t.same(await book.account(account.id), account);
  t.same(await book.keys(account.id), [key]);
  t.equal(key.name, 'root');
});

eachBook('initial credits wait as a grant until the ledger has them', async (t, book) => {
  const grant = { id: 'g1', amount: micro(1000), note: 'welcome' };
  const { account } = await book.createAccount(newAccount(), newKey(), grant, NOW);
  t.match(await book.pendingGrants(NOW + 1, 10), [{ ...grant, accountId: account.id, type: 'top_up' }]);
  t.equal((await book.accounts(0, 10))[0]?.balance, 0);
});

eachBook('an account without credits has no grant', async (t, book) => {
  await book.createAccount(newAccount(), newKey(), { id: 'g1', amount: micro(0), note: '' }, NOW);
  t.same(await book.pendingGrants(NOW + 1, 10), []);
});

eachBook('an e-mail address belongs to one account, in any case', async (t, book) => {
  await stored(book, { account: { email: 'zoë@example.com' } });
  t.type(await rejection(stored(book, { account: { email: 'ZOË@Example.COM' } })), EmailTaken);
  t.equal((await book.accounts(0, 10)).length, 1, 'nothing of the refused account is left');
});

eachBook('an account cannot take the e-mail address of another', async (t, book) => {
  await stored(book, { account: { email: 'a@example.com' } });
  const { account } = await stored(book, { account: { email: 'b@example.com' } });
  t.type(await rejection(book.updateAccount(account.id, { email: 'A@example.com' }, NOW)), EmailTaken);
  t.equal((await book.account(account.id))?.email, 'b@example.com');
});

eachBook('an account may change the case of its own e-mail address', async (t, book) => {
  const { account } = await stored(book, { account: { email: 'a@example.com' } });
  t.equal((await book.updateAccount(account.id, { email: 'A@example.com' }, NOW))?.email, 'A@example.com');
});

eachBook('every change of an account raises its version', async (t, book) => {
  const { account } = await stored(book);
  t.match(await book.updateAccount(account.id, { alertThreshold: micro(7) }, NOW), {
    version: 2,
    alertThreshold: 7,
  });
  const closed = await book.updateAccount(account.id, { isActive: false }, NOW);
  t.match(closed, { version: 3, isActive: false, alertThreshold: 7 });
  t.same(await book.account(account.id), closed);
});

eachBook('a change without a difference writes nothing', async (t, book) => {
  const { account } = await stored(book);
  const { email, alertThreshold, overdraft, isActive, rpmLimit } = account;
  t.same(await book.updateAccount(account.id, {}, NOW + 1), account);
  const same = { email, alertThreshold, overdraft, isActive, rpmLimit };
  t.same(await book.updateAccount(account.id, same, NOW + 1), account);
});

eachBook('limits of the calls of an account are stored, changed and lifted one by one', async (t, book) => {
  const limits = { rpmLimit: 600, tpmLimit: MAX_CALL_LIMIT, maxParallelRequests: 5 };
  const { account } = await stored(book, { account: limits });
  t.match(account, limits);
  t.same(await book.account(account.id), account);
  t.match((await book.accounts(0, 10))[0], limits);
  const changed = await book.updateAccount(account.id, { rpmLimit: null, tpmLimit: 1 }, NOW);
  t.same(changed, { ...account, rpmLimit: null, tpmLimit: 1, version: 2 });
  t.same(await book.account(account.id), changed);
  t.match((await stored(book)).account, NO_CALL_LIMITS);
});

eachBook('an unknown account is undefined', async (t, book) => {
  t.equal(await book.account(99), undefined);
  t.equal(await book.updateAccount(99, { isActive: false }, NOW), undefined);
});

eachBook('accounts are listed by id, page by page', async (t, book) => {
  for (let count = 0; count < 5; count++) await stored(book);
  const ids = async (after: number) => (await book.accounts(after, 2)).map((account) => account.id);
  t.same([await ids(0), await ids(2), await ids(4), await ids(5)], [[1, 2], [3, 4], [5], []]);
});

eachBook(
  'accounts are found by a part of their address, in any case and without placeholders',
  async (t, book) => {
    for (const email of ['Ann_B@x.example', 'annXb@x.example', 'ZOË@x.example', '1%\\@x.example']) {
      await book.createAccount(newAccount({ email }), newKey(), null, NOW);
    }
    const found = async (part: string) => (await book.accounts(0, 10, part)).map(({ email }) => email);
    t.same(await found('ANN_B'), ['Ann_B@x.example']);
    t.same(await found('zoë'), ['ZOË@x.example']);
    t.same(await found('%\\'), ['1%\\@x.example']);
    t.same((await found('x.example')).length, 4);
  },
);

onPostgres('of two gateways that create one account at once, one succeeds', async (t, { open }) => {
  const books = [await open(), await open()];
  const attempts = Array.from({ length: 10 }, (_, index) => books[index % 2]);
  const results = await Promise.allSettled(
    attempts.map((book) =>
      book?.createAccount(newAccount({ email: 'one@example.com' }), newKey(), null, NOW),
    ),
  );
  const refused = results.filter((result) => result.status === 'rejected');
  t.equal(refused.length, 9);
  t.ok(refused.every((result) => result.reason instanceof EmailTaken));
  t.equal((await books[0]?.accounts(0, 100))?.length, 1);
});

eachBook(
  'an owner changes the threshold ten times an hour, and the operator at any time',
  async (t, book) => {
    const { account } = await stored(book);
    const set = (threshold: number, now: number, isOwner = true) =>
      book.updateAccount(account.id, { alertThreshold: micro(threshold) }, now, isOwner);
    for (let change = 1; change <= 10; change++) await set(change, NOW + change);
    t.match(await rejection(set(11, NOW + 11)), { kind: 'alert_threshold', retryAfterMs: 3_600_000 - 10 });
    t.match(await set(10, NOW + 11), { alertThreshold: 10 }, 'the same value is no change');
    t.match(await set(11, NOW + 11, false), { alertThreshold: 11 });
    t.match(await set(12, NOW + 3_600_001), { alertThreshold: 12 }, 'the first is an hour old');
  },
);
