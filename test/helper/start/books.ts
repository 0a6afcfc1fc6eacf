import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Test, test } from 'tap';
import type { Book } from '../../../src/book/book.ts';
import { type BookPlace, openBook } from '../../../src/book/open-book.ts';
import type { Engine } from '../../../src/book/schema.ts';
import { createDatabase, execute } from './postgres-database.ts';

/** A fresh database, and books on it that are closed when the test ends. */
export interface BookFixture {
  readonly engine: Engine;
  readonly place: BookPlace;
  /** Another book on the same database. SQLite allows only one that is not read-only. */
  open(options?: { readOnly?: boolean }): Promise<Book>;
  /** Runs SQL behind the book's back, on a separate connection. */
  run(sql: string): Promise<unknown[]>;
}

/** Runs a test on SQLite and on PostgreSQL, each with a fresh database and an open book on it. */
export function eachBook(
  name: string,
  body: (t: Test, book: Book, fixture: BookFixture) => Promise<void>,
): void {
  onSqlite(name, async (t, fixture) => body(t, await fixture.open(), fixture));
  onPostgres(name, async (t, fixture) => body(t, await fixture.open(), fixture));
}

export function onSqlite(name: string, body: (t: Test, fixture: BookFixture) => Promise<void>): void {
  void test(`${name} (SQLite)`, async (t) => {
    const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-book-'));
    const run = async (sql: string) => {
      const db = new DatabaseSync(join(dataDir, 'book.sqlite'), { timeout: 5000 });
      try {
        return db.prepare(sql).all();
      } finally {
        db.close();
      }
    };
    t.teardown(() => rm(dataDir, { recursive: true, force: true }));
    const place = { databaseUrl: undefined, dataDir };
    await body(t, { engine: 'sqlite', place, run, open: opener(t, place) });
  });
}

export function onPostgres(name: string, body: (t: Test, fixture: BookFixture) => Promise<void>): void {
  void test(`${name} (PostgreSQL)`, async (t) => {
    const databaseUrl = await createDatabase();
    const place = { databaseUrl, dataDir: join(tmpdir(), 'no-such-folder') };
    const run = (sql: string) => execute(databaseUrl, sql);
    await body(t, { engine: 'postgres', place, run, open: opener(t, place) });
  });
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
