import { hash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { gunzipSync, gzipSync } from 'node:zlib';
import { type Test, test } from 'tap';
import { readBackup, writeBackup } from '../../src/book/backup-file.ts';
import type { Book } from '../../src/book/book.ts';
import { type BookPlace, openBook } from '../../src/book/open-book.ts';
import type { Engine } from '../../src/book/schema.ts';
import { CannotLoad } from '../../src/book/transfer.ts';
import { TABLES } from '../../src/book/transfer-parts.ts';
import { micro } from '../../src/domain/credits.ts';
import { rejection } from '../helper/check/rejection.ts';
import { entry, NOW, newAccount, newKey, stored } from '../helper/fixtures/book-records.ts';
import { fillEveryTable } from '../helper/fixtures/every-table.ts';
import { eachNewBook } from '../helper/start/books.ts';
import { createDatabase } from '../helper/start/postgres-database.ts';

const ENGINES: readonly Engine[] = ['sqlite', 'postgres'];

async function emptyPlace(t: Test, engine: Engine): Promise<BookPlace> {
  const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-transfer-'));
  t.teardown(() => rmSync(dataDir, { recursive: true, force: true }));
  return { dataDir, databaseUrl: engine === 'sqlite' ? undefined : await createDatabase({ isEmpty: true }) };
}

async function at<Result>(place: BookPlace, use: (book: Book) => Promise<Result>): Promise<Result> {
  const book = await openBook(place, { isPatient: true });
  try {
    return await use(book);
  } finally {
    await book.close();
  }
}

async function backupOf(book: Book): Promise<Buffer> {
  const file = new PassThrough();
  const [content] = await Promise.all([buffer(file), writeBackup(book.dump(), file)]);
  return content;
}

const restore = (place: BookPlace, backup: Buffer, newId = true) =>
  at(place, (book) =>
    book.load(
      readBackup(() => Readable.from([backup])),
      { newId },
    ),
  );

/** All that a book has but the time of reading it, and its identity; rows of text keys in the order of neither engine. */
async function contentOf(book: Book): Promise<unknown> {
  const content: Record<string, unknown> = {};
  for await (const part of book.dump()) {
    if ('end' in part && part.end !== 'identity') content[part.end] = [part.sum, part.lastId];
  }
  return content;
}

const textOf = (backup: Buffer) => gunzipSync(backup).toString();
const edited = (backup: Buffer, edit: (text: string) => string) => gzipSync(edit(textOf(backup)));

eachNewBook('every table survives a backup and a restore, to either engine', async (t, book, { run }) => {
  const { account, key } = await fillEveryTable(book, run);
  await book.createTestAlert(account.id, key.id, micro(1), NOW);
  for (const table of TABLES) t.not((await run(`select 1 from ${table}`)).length, 0, table);
  const backup = await backupOf(book);
  // What the world may have gone past since the backup.
  for (const over of ['sessions', 'one_time_links', "alerts where state = 'queued'"])
    await run(`delete from ${over}`);
  const content = await contentOf(book);
  for (const engine of ENGINES) {
    const place = await emptyPlace(t, engine);
    const { rows } = await restore(place, backup);
    t.same([Object.keys(rows), rows.ledger], [TABLES, 1201]);
    await at(place, async (restored) => {
      t.same(await contentOf(restored), content);
      t.not(restored.id, book.id);
      t.equal(restored.secret, book.secret);
      t.same(await restored.account(account.id), account);
      t.same(await restored.keyByHash(key.hash), await book.keyByHash(key.hash));
      for await (const { balance, ledgerSum, lastBalanceAfter } of restored.reconcile())
        t.same([balance, lastBalanceAfter], [ledgerSum, ledgerSum]);
      const next = await restored.createAccount(newAccount(), newKey(), null, NOW);
      t.same([next.account.id, next.key.id], [account.id + 1, key.id + 1], 'ids go on');
    });
  }
});

eachNewBook('ids of rows that are gone are not given out again', async (t, book, { run }) => {
  const { account, key } = await fillEveryTable(book, run);
  await run('delete from deliveries');
  await run('delete from alerts');
  const next = Number((await book.createTestAlert(account.id, key.id, micro(1), NOW)) + 1);
  await run('delete from alerts');
  const backup = await backupOf(book);
  for (const engine of ENGINES) {
    const place = await emptyPlace(t, engine);
    await restore(place, backup);
    await at(place, async (restored) => {
      t.equal(await restored.createTestAlert(account.id, key.id, micro(1), NOW), next);
    });
  }
});

eachNewBook(
  'a table that had no row yet, but an insert of none, is copied to either engine',
  async (t, book) => {
    const { account, key } = await stored(book);
    await book.createTestAlert(account.id, key.id, micro(1), NOW);
    // Without a receiver, it gets no deliveries.
    for (const alert of await book.queuedAlerts(10)) await book.claimAlert(alert, NOW);
    const backup = await backupOf(book);
    for (const engine of ENGINES) {
      const { rows } = await restore(await emptyPlace(t, engine), backup);
      t.match(rows, { alerts: 1, deliveries: 0 }, engine);
    }
  },
);

eachNewBook('a copy of a book keeps its identity', async (t, book, { run }) => {
  await fillEveryTable(book, run);
  const place = await emptyPlace(t, 'postgres');
  await at(place, (target) => target.load(book.dump(), { newId: false }));
  await at(place, async (copy) => {
    t.equal(copy.id, book.id);
    t.same(await contentOf(copy), await contentOf(book));
  });
});

eachNewBook('a backup is of one moment, beside writers', async (t, book, { open }) => {
  const { account } = await stored(book);
  const reader = await open({ readOnly: true });
  const rows: Record<string, number> = {};
  for await (const part of reader.dump()) {
    // After the first read, before the table is read.
    if ('table' in part && part.table === 'accounts')
      await book.post([entry(account.id, { credits: micro(-5) })]);
    if ('end' in part) rows[part.end] = part.sum.rows;
  }
  t.match(rows, { accounts: 1, ledger: 0, spend_days: 0 });
  t.equal((await book.ledger({ accountId: account.id, limit: 10 })).length, 1);
});

for (const engine of ENGINES) {
  void test(`a book with records is not overwritten (${engine})`, async (t) => {
    const place = await emptyPlace(t, engine);
    const backup = await at(place, async (book) => {
      const made = await backupOf(book);
      await stored(book);
      return made;
    });
    const before = await at(place, contentOf);
    const error = await rejection(restore(place, backup));
    t.type(error, CannotLoad);
    t.match(error, { message: /has records \(in accounts\)/ });
    t.same(await at(place, contentOf), before);
  });

  void test(`what is damaged or cut off leaves an empty book, which then takes the whole (${engine})`, async (t) => {
    const source = await emptyPlace(t, 'sqlite');
    const backup = await at(source, async (book) => {
      await stored(book);
      return await backupOf(book);
    });
    const lines = textOf(backup).trimEnd().split('\n');
    const damaged = {
      'cut off': backup.subarray(0, backup.length - 20),
      'without its end': edited(backup, () => `${lines.slice(0, -1).join('\n')}\n`),
      'without a table': edited(backup, (text) =>
        text.replace(/\{"table":"audit"[\s\S]*?\{"end":"audit".*\n/, ''),
      ),
      'a row without its last value': edited(backup, (text) => text.replace(/,[^,\]]+\]\]\}/, ']]}')),
      'a changed amount': edited(backup, (text) => text.replace('"100000000"', '"900000000"')),
      'a row twice': edited(backup, (text) => text.replace(/(\{"rows":\[\["100000000".*\n)/, '$1$1')),
      'a foreign table': edited(backup, (text) => text.replaceAll('"grants"', '"gateways"')),
      'no backup': Buffer.from('SQLite format 3'),
      'another program’s': gzipSync('{}\n'),
      'of a newer version': edited(backup, (text) =>
        text.replace('"0001_initial"', '"0001_initial","9999_new"'),
      ),
    };
    const place = await emptyPlace(t, engine);
    for (const [name, content] of Object.entries(damaged)) {
      const error = await rejection(restore(place, content));
      t.not(error, undefined, name);
      t.notMatch(String(error), '\n', name);
      t.equal(await at(place, async (book) => (await book.accounts(0, 1)).length), 0, name);
    }
    await restore(place, backup);
    t.same(await at(place, contentOf), await at(source, contentOf));
  });

  void test(`a backup of an older version is migrated (${engine})`, async (t) => {
    const source = await emptyPlace(t, 'sqlite');
    const { backup, account } = await at(source, async (book) => {
      const made = await stored(book);
      return { backup: await backupOf(book), account: made.account };
    });
    const place = await emptyPlace(t, engine);
    await restore(place, edited(backup, withoutPeople));
    await at(place, async (book) => {
      t.same(await book.account(account.id), account);
      t.equal((await book.createAccount(newAccount(), newKey(), null, NOW)).account.id, account.id + 1);
      t.same(await book.auditEntries({ limit: 10 }).then((all) => all.length), 2, 'with tables of today');
    });
  });
}

/** A backup without what migration 0008_people adds. */
function withoutPeople(text: string): string {
  const added: Readonly<Record<string, string>> = { accounts: 'name', keys: 'restrictions_locked' };
  const gone = /^(persons|identities|memberships|invitations|sessions|one_time_links|known_addresses|audit)$/;
  const lines: object[] = [];
  let table = '';
  let at = -1;
  let digest = 0n;
  for (const line of text.trimEnd().split('\n')) {
    const part = JSON.parse(line) as Parsed;
    if (part.migrations) lines.push({ ...part, migrations: part.migrations.filter((name) => name < '0008') });
    else if (part.complete) lines.push(part);
    if (part.table) {
      table = part.table;
      at = part.columns?.indexOf(added[table] ?? '') ?? -1;
      digest = 0n;
    }
    if (gone.test(table)) continue;
    const without = <Cell>(cells: readonly Cell[]) => cells.filter((_, index) => index !== at);
    if (part.columns) lines.push({ table, columns: without(part.columns) });
    if (part.rows) {
      const rows = part.rows.map(without);
      for (const row of rows) digest += hash('sha256', JSON.stringify(row), 'buffer').readBigUInt64BE();
      lines.push({ rows });
    }
    if (part.end)
      lines.push({ ...part, sum: { ...part.sum, digest: BigInt.asUintN(64, digest).toString(16) } });
  }
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}

interface Parsed {
  readonly migrations?: readonly string[];
  readonly table?: string;
  readonly columns?: readonly string[];
  readonly rows?: readonly (readonly unknown[])[];
  readonly end?: string;
  readonly sum?: object;
  readonly complete?: true;
}

void test('a database on which a gateway runs is not filled, but once it has left', async (t) => {
  const place = await emptyPlace(t, 'postgres');
  const backup = await at(place, async (book) => {
    await book.noteGateway({ id: 'one', redis: 'r', address: 'redis.internal:6379' });
    return await backupOf(book);
  });
  const error = await rejection(restore(place, backup));
  t.match(error, { name: 'CannotLoad', message: /A gateway runs on this database.+redis\.internal:6379/ });
  await at(place, (book) => book.forgetGateway('one'));
  await restore(place, backup);
});

void test('a folder in which a gateway runs is not filled', async (t) => {
  const place = await emptyPlace(t, 'sqlite');
  await at(place, async (book) => {
    t.match(await rejection(restore(place, await backupOf(book))), { name: 'DataFolderInUse' });
  });
});
