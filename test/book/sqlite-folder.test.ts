import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Test } from 'tap';
import { openBook } from '../../src/book/open-book.ts';
import { BookUnavailable, CannotOpenBook, DataFolderInUse } from '../../src/book/store.ts';
import { rejection } from '../helper/check/rejection.ts';
import { NOW, newKey, stored } from '../helper/fixtures/book-records.ts';
import { onNewSqlite } from '../helper/start/books.ts';

async function otherProcess(t: Test, dataDir: string, ...options: string[]): Promise<ChildProcess> {
  const script = join(import.meta.dirname, '../helper/start/hold-book.ts');
  const child = spawn(process.execPath, [script, dataDir, ...options], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return child;
}

onNewSqlite(
  'a data folder that another process has open is refused, in one clear line',
  async (t, { place, open }) => {
    await otherProcess(t, place.dataDir);
    const error = await rejection(open());
    t.type(error, DataFolderInUse);
    t.match(String(error), place.dataDir);
    t.match(String(error), 'TOLLGATE_DATA');
    t.notMatch(String(error), '\n');
  },
);

onNewSqlite(
  'a gateway that was killed leaves its folder free and all it was answered',
  async (t, { place, open }) => {
    const other = await otherProcess(t, place.dataDir);
    other.kill('SIGKILL');
    await once(other, 'exit');
    const book = await open();
    t.equal((await book.accounts(0, 10)).length, 1);
    t.match(await book.pendingGrants(NOW + 1, 10), [{ id: 'g', amount: 1 }]);
  },
);

onNewSqlite('a folder that this process has open already is refused too', async (t, { open }) => {
  const book = await open();
  t.type(await rejection(open()), DataFolderInUse);
  await t.resolves(book.ping(), 'the one that is open stays so');
});

onNewSqlite('a refused open does not free the folder for others', async (t, { place, open }) => {
  await open();
  await rejection(open());
  t.type(await rejection(open()), DataFolderInUse);
  t.type(await rejection(openBook(place)), DataFolderInUse);
});

onNewSqlite('an open book does not keep its process alive', async (t, { place }) => {
  const other = await otherProcess(t, place.dataDir, 'leave');
  const [code] = other.exitCode === null ? await once(other, 'exit') : [other.exitCode];
  t.equal(code, 0);
});

onNewSqlite('a book that was closed opens again with what it held', async (t, { open }) => {
  const first = await open();
  const { account, key } = await stored(first);
  await first.close();
  const again = await open();
  t.same(await again.account(account.id), account);
  t.same(await again.keys(account.id), [key]);
});

onNewSqlite('a closed book answers that it is unavailable', async (t, { open }) => {
  const book = await open();
  await book.close();
  await t.rejects(book.ping());
  await t.resolves(book.close(), 'closing twice is harmless');
});

onNewSqlite('a read-only book reads beside the one that is open', async (t, { open }) => {
  const book = await open();
  const reader = await open({ readOnly: true });
  const { account } = await stored(book);
  t.same(await reader.account(account.id), account);
  await reader.close();
  t.equal((await stored(book)).account.id, account.id + 1, 'and leaves it as it was');
});

onNewSqlite('a read-only book takes no lock', async (t, { open }) => {
  await (await open()).close();
  await open({ readOnly: true });
  await t.resolves(open());
});

onNewSqlite('a folder without a book cannot be read', async (t, { place }) => {
  const error = await rejection(openBook(place, { readOnly: true }));
  t.type(error, CannotOpenBook);
  t.match(String(error), place.dataDir);
});

onNewSqlite('a missing folder is made, for its owner alone', async (t, { place }) => {
  const dataDir = join(place.dataDir, 'a', 'b');
  const book = await openBook({ databaseUrl: undefined, dataDir });
  t.teardown(() => book.close());
  t.equal(statSync(dataDir).mode & 0o777, 0o700);
  for (const file of ['book.sqlite', 'book.sqlite-wal']) {
    t.equal(statSync(join(dataDir, file)).mode & 0o077, 0, `${file} is readable by its owner only`);
  }
});

onNewSqlite('other users of the machine can no longer hold the lock', async (t, { place, open }) => {
  const lock = join(place.dataDir, 'lock.sqlite');
  await (await open()).close();
  t.equal(statSync(lock).mode & 0o077, 0);
  chmodSync(lock, 0o644);
  await open();
  t.equal(statSync(lock).mode & 0o077, 0, 'also of a folder that an earlier version made');
});

onNewSqlite('a folder that cannot be used is refused, in one clear line', async (t, { place }) => {
  const dataDir = join(place.dataDir, 'file');
  writeFileSync(dataDir, '');
  const error = await rejection(openBook({ databaseUrl: undefined, dataDir }));
  t.type(error, CannotOpenBook);
  t.match(String(error), dataDir);
});

onNewSqlite('a file that is no database is refused and left alone', async (t, { place, open }) => {
  const file = join(place.dataDir, 'book.sqlite');
  const text = 'not a database, but long enough to have a header of its own'.repeat(20);
  writeFileSync(file, text);
  t.type(await rejection(open()), CannotOpenBook);
  t.equal(statSync(file).size, text.length);
});

onNewSqlite('a write that fails in a transaction takes no other write with it', async (t, { open }) => {
  const book = await open();
  const { account } = await stored(book, { account: { email: 'taken@example.com' } });
  const [refused, made] = await Promise.allSettled([
    stored(book, { account: { email: 'taken@example.com' } }),
    book.createKey(account.id, newKey(), NOW),
  ]);
  t.match([refused.status, made.status], ['rejected', 'fulfilled']);
  t.equal((await book.keys(account.id)).length, 2);
});

onNewSqlite(
  'a database that another program keeps locked is unavailable, not wrong',
  async (t, { place, open, run }) => {
    const book = await open();
    const other = new DatabaseSync(join(place.dataDir, 'book.sqlite'));
    other.exec('begin immediate');
    t.type(await rejection(stored(book)), BookUnavailable);
    other.exec('rollback');
    other.close();
    await stored(book);
    t.same(await run('select count(*) as count from accounts'), [{ count: 1 }]);
  },
);
