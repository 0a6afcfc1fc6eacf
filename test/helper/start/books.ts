import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { t as suite, type Test, test } from 'tap';
import type { Book } from '../../../src/book/book.ts';
import { type BookPlace, openBook } from '../../../src/book/open-book.ts';
import type { Engine } from '../../../src/book/schema.ts';
import { createDatabase, execute } from './postgres-database.ts';

/** A database, and books on it that are closed when the test ends. */
export interface BookFixture {
  readonly engine: Engine;
  readonly place: BookPlace;
  /** Another book on the same database. SQLite allows only one that is not read-only. */
  open(options?: { readOnly?: boolean }): Promise<Book>;
  /** Runs SQL behind the book's back, on a separate connection. */
  run(sql: string): Promise<unknown[]>;
}

type Database = Omit<BookFixture, 'open'>;
type BookTest = (t: Test, book: Book, fixture: BookFixture) => Promise<void>;

/**
 * Runs a test on SQLite and on PostgreSQL, with an open book that has no records. The tests of a process share a
 * database and an open book of each engine.
 */
export function eachBook(name: string, body: BookTest): void {
  void test(`${name} (SQLite)`, (t) => onShared(t, 'sqlite', body));
  void test(`${name} (PostgreSQL)`, (t) => onShared(t, 'postgres', body));
}

/** Runs a test on PostgreSQL only, with the book that `eachBook` shares. */
export function onPostgres(name: string, body: (t: Test, fixture: BookFixture) => Promise<void>): void {
  void test(`${name} (PostgreSQL)`, (t) => onShared(t, 'postgres', (t, _book, fixture) => body(t, fixture)));
}

/** Runs a test on a new database of each engine, for tests that change the schema or depend on the planner. */
export function eachNewBook(name: string, body: BookTest): void {
  onNewSqlite(name, async (t, fixture) => body(t, await fixture.open(), fixture));
  onNewPostgres(name, async (t, fixture) => body(t, await fixture.open(), fixture));
}

/** Runs a test in a new folder, without a book. */
export function onNewSqlite(name: string, body: (t: Test, fixture: BookFixture) => Promise<void>): void {
  void test(`${name} (SQLite)`, async (t) => {
    const database = sqliteFolder();
    t.teardown(() => rmSync(database.place.dataDir, { recursive: true, force: true }));
    await body(t, { ...database, open: opener(t, database.place) });
  });
}

/** Runs a test on a new database, without tables. */
export function onNewPostgres(name: string, body: (t: Test, fixture: BookFixture) => Promise<void>): void {
  void test(`${name} (PostgreSQL)`, async (t) => {
    const database = onServer(await createDatabase({ isEmpty: true }));
    await body(t, { ...database, open: opener(t, database.place) });
  });
}

async function onShared(t: Test, engine: Engine, body: BookTest): Promise<void> {
  const { book, database } = await takeBook(t, engine);
  await body(t, book, { ...database, open: opener(t, database.place) });
}

interface Shared {
  readonly database: Database;
  /** Undefined after a test closed it. */
  book: Book | undefined;
  isTaken: boolean;
}

const shared: Shared[] = [];

/** Lends an open book without records to a test, which may close it. Later tests of the process use its database again. */
export async function takeBook(t: Test, engine: Engine): Promise<{ book: Book; database: Database }> {
  const its =
    shared.find((each) => !each.isTaken && each.database.engine === engine) ?? (await startShared(engine));
  its.isTaken = true;
  t.teardown(() => {
    its.isTaken = false;
  });
  await empty(its.database);
  its.book ??= await openBook(its.database.place);
  const { close, ...parts } = its.book;
  const book = {
    ...parts,
    close: async () => {
      its.book = undefined;
      await close();
    },
  };
  return { book, database: its.database };
}

async function startShared(engine: Engine): Promise<Shared> {
  const database = engine === 'sqlite' ? sqliteFolder() : onServer(await createDatabase());
  const its: Shared = { database, book: await openBook(database.place), isTaken: true };
  shared.push(its);
  suite.teardown(async () => {
    await its.book?.close();
    if (engine === 'sqlite') rmSync(database.place.dataDir, { recursive: true, force: true });
  });
  return its;
}

/** Deletes every record, and begins ids at 1 again. The schema and the book's id stay. */
async function empty({ engine, place, run }: Database): Promise<void> {
  if (engine === 'postgres') {
    await run(EMPTY_POSTGRES);
    return;
  }
  const db = new DatabaseSync(join(place.dataDir, 'book.sqlite'), {
    timeout: 5_000,
    enableForeignKeyConstraints: false,
  });
  const tables = db.prepare("select name from sqlite_master where type = 'table'").all();
  const records = tables.filter(({ name }) => !/^(?:kysely|identity)/.test(String(name)));
  db.exec(['begin', ...records.map(({ name }) => `delete from ${name}`), 'commit'].join(';'));
  db.close();
}

const EMPTY_POSTGRES = `
  set session_replication_role = replica;
  do $$ declare name text; begin
    for name in select tablename from pg_tables where schemaname = 'public'
        and tablename !~ '^(kysely|identity)' loop
      execute format('delete from %I', name);
    end loop;
    for name in select sequencename from pg_sequences where schemaname = 'public' loop
      perform setval(name::regclass, 1, false);
    end loop;
  end $$`;

function sqliteFolder(): Database & { place: { dataDir: string } } {
  const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-book-'));
  const run = async (sql: string) => {
    const db = new DatabaseSync(join(dataDir, 'book.sqlite'), { timeout: 5000 });
    try {
      return db.prepare(sql).all();
    } finally {
      db.close();
    }
  };
  return { engine: 'sqlite', place: { databaseUrl: undefined, dataDir }, run };
}

function onServer(databaseUrl: string): Database {
  const place = { databaseUrl, dataDir: join(tmpdir(), 'no-such-folder') };
  return { engine: 'postgres', place, run: (sql) => execute(databaseUrl, sql) };
}

function opener(t: Test, place: BookPlace): BookFixture['open'] {
  const books: Book[] = [];
  t.teardown(async () => {
    for (const book of books) await book.close();
  });
  return async (options = {}) => {
    const book = await openBook(place, options);
    books.push(book);
    return book;
  };
}
