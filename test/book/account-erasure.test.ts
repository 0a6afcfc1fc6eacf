import type { Book } from '../../src/book/book.ts';
import { COMMAND_LINE } from '../../src/domain/actor.ts';
import { NOW, stored } from '../helper/fixtures/book-records.ts';
import { fillEveryTable, MARK } from '../helper/fixtures/every-table.ts';
import { eachNewBook } from '../helper/start/books.ts';

/** The tables that have the mark in a row, and the sums of all. */
async function read(book: Book) {
  const marked = new Set<string>();
  const sums: Record<string, unknown> = {};
  let table = '';
  for await (const part of book.dump()) {
    if ('table' in part) table = part.table;
    if ('rows' in part && JSON.stringify(part).toLowerCase().includes(MARK.toLowerCase())) marked.add(table);
    if ('end' in part) sums[part.end] = part.sum;
  }
  return { marked: [...marked].sort(), sums };
}

eachNewBook('an erased account leaves no text, and every sum', async (t, book, { run }) => {
  const { account, key } = await fillEveryTable(book, run);
  const session = {
    secretHash: 'three',
    keyId: key.id,
    credentialHash: 'x',
    userAgent: null,
    replaces: undefined,
  };
  await book.createCredentialSession(session, { type: 'key', id: key.id, ip: MARK, requestId: null }, NOW);
  const other = await stored(book);
  const before = await read(book);
  const expected = [
    'accounts',
    'audit',
    'call_messages',
    'deliveries',
    'grants',
    'invitations',
    'keys',
    'ledger',
  ];
  t.same(before.marked, [...expected, 'refusals', 'sessions']);
  const ledger = await book.ledger({ accountId: account.id, limit: 1000 });

  const erased = await book.eraseAccount(account.id, COMMAND_LINE, NOW);
  await book.eraseTextsOfCalls(account.id);
  const after = await read(book);
  t.same(after.marked, []);
  for (const table of [
    'spend_days',
    'spend_hours',
    'spend_model_days',
    'spend_key_months',
    'spend_five_hours',
    'resources',
  ])
    t.same(after.sums[table], before.sums[table], table);
  const withoutTexts = ledger.map(({ userAgent, message, param, note, ...entry }) => entry);
  t.same(
    await book.ledger({ accountId: account.id, limit: 1000 }),
    withoutTexts,
    'amounts, usage and prices stay',
  );
  for await (const { balance, ledgerSum } of book.reconcile()) t.equal(balance, ledgerSum);

  t.match(erased, {
    account: { email: `account-${account.id}@erased.invalid`, isActive: false, version: account.version + 1 },
    keys: [{ id: key.id, isActive: false, expiresAt: NOW, previousHash: null }],
  });
  t.same(await book.members(account.id), []);
  t.match(await book.auditEntries({ limit: 1 }), [{ action: 'account.erase', target: { id: account.id } }]);
  t.same((await book.account(other.account.id))?.email, other.account.email, 'others stay');
  t.ok(await book.eraseAccount(account.id, COMMAND_LINE, NOW), 'it can be repeated');
  t.equal(await book.eraseAccount(999, COMMAND_LINE, NOW), undefined);
});
