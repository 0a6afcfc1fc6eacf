import { closeSync, existsSync, openSync } from 'node:fs';
import { join } from 'node:path';
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import { makeFolder } from '../config/make-folder.ts';
import { CannotOpenBook, DataFolderInUse } from './errors.ts';
import { EachRow } from './many-rows.ts';
import { LockFailed, SqliteThread } from './sqlite-thread.ts';

/**
 * The book in `<dataDir>/book.sqlite`; `<dataDir>/lock.sqlite` keeps a second gateway out. With `readOnly` no lock is
 * taken and nothing can be written, so that it may be read beside a running gateway.
 * Throws DataFolderInUse or CannotOpenBook.
 */
export async function openSqlite(dataDir: string, readOnly: boolean): Promise<Dialect> {
  const book = join(dataDir, 'book.sqlite');
  if (readOnly && !existsSync(book)) {
    throw new CannotOpenBook(
      `The data folder ${dataDir} has no book. Set TOLLGATE_DATA to the gateway's data folder.`,
    );
  }
  try {
    if (!readOnly) prepareFolder(dataDir, book);
    return new ThreadDialect(
      await SqliteThread.open({ book, lock: readOnly ? null : join(dataDir, 'lock.sqlite') }),
    );
  } catch (error) {
    const busy = error instanceof LockFailed && (error.errcode ?? 0) % 256 === SQLITE_BUSY;
    if (busy) throw new DataFolderInUse(dataDir);
    const reason = error instanceof Error ? error.message : String(error);
    throw new CannotOpenBook(
      `The data folder ${dataDir} can't be used (${reason}). Check it, or set TOLLGATE_DATA to another folder.`,
    );
  }
}

const SQLITE_BUSY = 5;

/**
 * The book holds webhook secrets, so only its owner may read it; SQLite gives the files beside it the same mode.
 * An existing file is not opened: closing it again would drop the locks of a book that this process has open.
 */
function prepareFolder(dataDir: string, book: string): void {
  makeFolder(dataDir);
  if (!existsSync(book)) closeSync(openSync(book, 'a', 0o600));
}

/** Kysely's SQLite dialect with a driver of ours: Kysely's own waits for the disk in the gateway's thread. */
class ThreadDialect implements Dialect {
  readonly #thread: SqliteThread;

  constructor(thread: SqliteThread) {
    this.#thread = thread;
  }

  createDriver = (): Driver => new ThreadDriver(this.#thread);
  createQueryCompiler = (): SqliteQueryCompiler => new SqliteQueryCompiler();
  createAdapter = (): SqliteAdapter => new Adapter();
  createIntrospector: Dialect['createIntrospector'] = (db) => new SqliteIntrospector(db);
}

class Adapter extends SqliteAdapter {
  /** SQLite rolls DDL back like any other change, so a migration that was cut off leaves nothing half done. */
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

/** A driver with one connection. As the adapter says so, Kysely gives it to one transaction or query at a time. */
class ThreadDriver implements Driver {
  readonly #thread: SqliteThread;
  readonly #connection: DatabaseConnection;

  constructor(thread: SqliteThread) {
    this.#thread = thread;
    this.#connection = new ThreadConnection(thread);
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    return this.#connection;
  }

  async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'));
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('commit'));
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('rollback'));
  }

  async releaseConnection(): Promise<void> {}

  async destroy(): Promise<void> {
    await this.#thread.close();
  }
}

class ThreadConnection implements DatabaseConnection {
  readonly #thread: SqliteThread;

  constructor(thread: SqliteThread) {
    this.#thread = thread;
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const [first] = query.parameters;
    const { rows, changes } =
      first instanceof EachRow
        ? await this.#thread.runEach(query.sql, first.json)
        : await this.#thread.query(query.sql, query.parameters);
    return { rows: rows as R[], numAffectedRows: changes };
  }

  streamQuery(): never {
    throw new Error('The book is read in pages, not in streams.');
  }
}
