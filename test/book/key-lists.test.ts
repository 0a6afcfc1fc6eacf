import { micro } from '../../src/domain/credits.ts';
import type { KeySettings } from '../../src/domain/key.ts';
import { entries, NOW, newKey, refusedCall, stored } from '../helper/fixtures/book-records.ts';
import { eachBook } from '../helper/start/books.ts';

eachBook('keys are found by a part of a text, by activity, and by expiry', async (t, book) => {
  const { account, key } = await stored(book);
  const made = async (settings: Partial<KeySettings>) =>
    (await book.createKey(account.id, newKey(settings), NOW)).id;
  const off = await made({ name: 'Web \\ 100%_off', isActive: false });
  const old = await made({ name: 'Old', description: 'of the WEB', expiresAt: NOW });
  const found = async (filter: Parameters<typeof book.keys>[3], after = 0, limit?: number) =>
    (await book.keys(account.id, after, limit, filter)).map(({ id }) => id);
  t.same(await found({ search: 'web' }), [off, old]);
  t.same(await found({ search: 'web' }, 0, 1), [off]);
  t.same(await found({ search: 'web' }, off), [old]);
  for (const search of ['\\ 100', '0%_o']) t.same(await found({ search }), [off], search);
  t.same(await found({ search: 'b%1' }), []);
  t.same(await found({ isActive: true }), [key.id, old]);
  t.same(await found({ isActive: true, expiredAt: NOW }), [old]);
  t.same(await found({ expiredAt: NOW - 1 }), []);
  t.same(await found({ personId: 1 }), []);
});

eachBook('keys with limits are those that are active and have one', async (t, book) => {
  const { account } = await stored(book, { key: { spendingLimit: null } });
  const limits = [{ period: '5h', credits: micro(2) } as const];
  const { id: one } = await book.createKey(account.id, newKey({ name: 'one', spendingLimit: micro(5) }), NOW);
  await book.createKey(account.id, newKey({ spendingLimit: micro(5), isActive: false }), NOW);
  const other = newKey({ name: 'other', spendingLimit: null, spendingLimits: limits });
  const { id: two, spendingPeriod } = await book.createKey(account.id, other, NOW);
  const of = { personId: null, spendingPeriod };
  const second = { id: two, name: 'other', ...of, spendingLimit: null, spendingLimits: limits };
  t.same(await book.limitedKeys(account.id, 0), [
    { id: one, name: 'one', ...of, spendingLimit: 5, spendingLimits: [] },
    second,
  ]);
  t.same(await book.limitedKeys(account.id, one), [second]);
  t.same(await book.limitedKeys(account.id, two), []);
  t.same(await book.limitedKeys(account.id, 0, 1), []);
});

eachBook('the last calls of a key are all refused from the fifth on, until one is not', async (t, book) => {
  const { account, key } = await stored(book);
  const { id } = await book.createKey(account.id, newKey(), NOW);
  const refuse = (count: number, at = NOW) =>
    book.recordRefusals(
      {
        calls: Array.from({ length: count }, () => ({ ...refusedCall(account.id, id), createdAt: at })),
        repeated: [],
        counts: [],
      },
      3,
    );
  const found = async (since = NOW - 1_000) => [...(await book.allRefused(account.id, [id, key.id], since))];
  await refuse(4);
  t.same(await found(), []);
  await refuse(1);
  t.same(await found(), [id], 'those that share a record count, too');
  t.same(await found(NOW + 1), [], 'they are too old');
  const call = { keyId: id, createdAt: NOW + 20, durationMs: 10 };
  await book.post(entries(account.id, [call]));
  t.same(await found(), []);
  await refuse(5, NOW + 60_000);
  t.same(await found(), [id]);
  t.same([...(await book.allRefused(account.id + 1, [id], 0))], []);
});
