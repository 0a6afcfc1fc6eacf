import { test } from 'tap';
import { micro } from '../../src/domain/credits.ts';
import { accountName, holdsName, journalName } from '../../src/ledger/names.ts';
import { admissionOf, chargeOf, entriesOf, spend, startLedgerWorld } from '../helper/ledger-world.ts';
import { until } from '../helper/until.ts';

test('what entries took that wait for a rebuild is not to be spent again after it', async (t) => {
  const { open, account, book, raw } = await startLedgerWorld(t);
  const { key } = await account({ credits: 10 });
  await open.settled();
  t.equal(await spend(open, admissionOf(key, 8), 8), 'held');
  // The book refuses the entry from now on; and Redis loses the account.
  await book.snapshot(key.accountId, { day: 0, week: 0, month: 0 });
  await raw.del(accountName(key.accountId));
  t.match(await open.ledger.admit(admissionOf(key, 5)), { verdict: 'insufficient', balance: 2_000_000 });
  await open.settled();
  t.same(
    (await entriesOf(book, key.accountId)).map(({ credits, balanceAfter }) => [credits, balanceAfter]),
    [
      [10_000_000, 10_000_000],
      [-8_000_000, 2_000_000],
    ],
  );
});

test('what waits for a rebuild of another account of the bucket is no part of this one', async (t) => {
  const { open, account, book, raw } = await startLedgerWorld(t);
  const { key } = await account({ credits: 10 });
  await spend(open, admissionOf(key, 1), 1);
  await open.settled();
  const [, charge] = await entriesOf(book, key.accountId);
  const neighbours = JSON.stringify({ ...charge, id: 'neighbours', accountId: key.accountId + 64 });
  const journal = journalName(key.accountId % 64);
  await raw.xadd(journal, '*', 'e', `1 0 20000 0 0 ${neighbours}`);
  await raw.del(accountName(key.accountId));
  t.match(await open.ledger.account(key.accountId), { balance: 9_000_000 });
  t.equal(await raw.xlen(journal), 1, 'and waits where it is');
  await raw.del(journal);
});

test('a settle sent again while its entry waits for a rebuild is not applied a second time', async (t) => {
  const { open, account, book } = await startLedgerWorld(t);
  const { key } = await account({ credits: 10 });
  await open.settled();
  const admission = admissionOf(key, 2);
  const admitted = await open.ledger.admit(admission);
  if (admitted.verdict !== 'held') return t.fail('not held');
  const settle = () =>
    new Promise<void>((resolve) => open.ledger.settle(admitted.epoch, chargeOf(admission, 2), resolve));
  await settle();
  // A rebuild began elsewhere: the book refuses the entry, which stays in the journal until Redis has the new epoch.
  await book.snapshot(key.accountId, { day: 0, week: 0, month: 0 });
  await settle();
  await until('its entry to be in the book', async () => {
    await open.settled();
    return await book.hasEntry(admission.requestId);
  });
  await open.settled();
  t.match(await open.ledger.account(key.accountId), { balance: 8_000_000, held: 0 });
});

test('a top-up whose entry waits for a rebuild counts once, also where Redis has forgotten its mark', async (t) => {
  const { open, account, book, raw } = await startLedgerWorld(t);
  const { key } = await account({ credits: 10 });
  await open.settled();
  const { accountId } = key;
  const { grant } = await book.createGrant(
    { id: 'waits', accountId, amount: micro(5_000_000), type: 'top_up', note: '', createdAt: 1 },
    null,
  );
  await open.ledger.grant(grant);
  // The book refuses the entry from now on; Redis loses the account, and forgot the mark, as after a day.
  await book.snapshot(accountId, { day: 0, week: 0, month: 0 });
  await raw.del(accountName(accountId));
  await raw.hdel(holdsName(accountId % 64), 'waits');
  t.match(await open.ledger.account(accountId), { balance: 15_000_000 });
  await open.settled();
  t.same(
    (await entriesOf(book, accountId)).map(({ credits }) => credits),
    [10_000_000, 5_000_000],
  );
});

test('the mark of a top-up is not forgotten while its entry waits, however long the book is away', async (t) => {
  const { open, account, book } = await startLedgerWorld(t);
  const { key } = await account({ credits: 10 });
  await open.settled();
  const { accountId } = key;
  const { grant } = await book.createGrant(
    { id: 'waits', accountId, amount: micro(5_000_000), type: 'top_up', note: '', createdAt: 1 },
    null,
  );
  await open.ledger.grant(grant);
  // The book refuses the entry until the account has been rebuilt.
  await book.snapshot(accountId, { day: 0, week: 0, month: 0 });
  await open.sweep.expireHolds(Date.now() + 48 * 3_600_000);
  t.equal(await open.ledger.grant(grant), 15_000_000);
  await until('its entry to be in the book', async () => {
    await open.settled();
    return await book.hasEntry('waits');
  });
  t.match(await open.ledger.account(accountId), { balance: 15_000_000 });
});
