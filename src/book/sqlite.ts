import { chmodSync, closeSync, existsSync, openSync } from 'node:fs';
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
  type TransactionSettings,
} from 'kysely';
import { makeFolder } from '../config/make-folder.ts';
import { ThreadEnded, WorkerClient } from '../threads/worker-client.ts';
import { EachRow } from './many-rows.ts';
import type {
  SqliteFailure,
  SqliteFiles,
  SqliteReply,
  SqliteRequest,
  SqliteStatement,
} from './sqlite-worker.ts';
import { BookUnavailable, CannotOpenBook, DataFolderInUse } from './store.ts';

/** `own`: a gateway, of which `<dataDir>/lock.sqlite` excludes a second one. The others take no lock, beside it. */
export type SqliteAccess = 'own' | 'write' | 'read';

/** Opens `<dataDir>/book.sqlite`. Throws DataFolderInUse or CannotOpenBook. */
export async function openSqlite(dataDir: string, access: SqliteAccess): Promise<Dialect> {
  const book = join(dataDir, 'book.sqlite');
  if (access !== 'own' && !existsSync(book)) {
    throw new CannotOpenBook(
      `The data folder ${dataDir} has no book. Set TOLLGATE_DATA to the gateway's data folder.`,
    );
  }
  const lock = join(dataDir, 'lock.sqlite');
  try {
    const isOwn = access === 'own';
    if (isOwn) prepareFolder(dataDir, [book, lock]);
    const files = { book, lock: isOwn ? lock : null, readOnly: access === 'read' };
    return new ThreadDialect(await SqliteThread.open(files));
  } catch (error) {
    const busy = error instanceof SqliteError && error.locking && (error.errcode ?? 0) % 256 === SQLITE_BUSY;
    if (busy) throw new DataFolderInUse(dataDir);
    const reason = error instanceof Error ? error.message : String(error);
    throw new CannotOpenBook(
      `The data folder ${dataDir} can't be used (${reason}). Check it, or set TOLLGATE_DATA to another folder.`,
    );
  }
}

const SQLITE_BUSY = 5;

/**
 * Restricts the files to their owner: the book holds webhook secrets, and any reader of the lock could take it. SQLite
 * gives its side files the same mode. An existing file is not opened: closing it would drop the locks of a book that
 * this process has open.
 */
function prepareFolder(dataDir: string, files: readonly string[]): void {
  makeFolder(dataDir);
  for (const file of files) {
    if (existsSync(file)) chmodSync(file, 0o600);
    else closeSync(openSync(file, 'a', 0o600));
  }
}

/** Kysely's SQLite dialect with a driver for a worker thread. Kysely's own blocks the gateway's thread on the disk. */
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
  /** SQLite rolls DDL back like any other change, so an interrupted migration leaves nothing half done. */
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

/** Driver with one connection. The adapter declares this, so Kysely gives it to one transaction or query at a time. */
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

  /** Transactions begin as the only writer, but for those that read one state of the book beside it. */
  async beginTransaction(connection: DatabaseConnection, { accessMode }: TransactionSettings): Promise<void> {
    const begin = accessMode === 'read only' ? 'begin' : 'begin immediate';
    await connection.executeQuery(CompiledQuery.raw(begin));
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

/** A statement failed in SQLite, with its extended result code, or the lock file could not be locked. */
class SqliteError extends Error {
  readonly errcode: number | undefined;
  readonly locking: boolean;

  constructor({ message, errcode, locking }: SqliteFailure) {
    super(message);
    this.name = 'SqliteError';
    this.errcode = errcode;
    this.locking = locking;
  }
}

interface SqliteRows {
  readonly rows: readonly unknown[];
  readonly changes: bigint;
}

/**
 * Client of the SQLite worker thread. States: opening → open → closed. If the thread ends by itself, the book stays
 * unavailable.
 */
export class SqliteThread {
  readonly #client = new WorkerClient<SqliteRequest, SqliteReply>('sqlite-worker', import.meta.url);
  #closed = false;

  private constructor() {}

  /** Resolves when the worker has opened the files. Rejects with SqliteError. */
  static async open(files: SqliteFiles): Promise<SqliteThread> {
    const thread = new SqliteThread();
    const reply = await thread.#ask({ files });
    if (!('failure' in reply)) return thread;
    await thread.#client.close();
    throw new SqliteError(reply.failure);
  }

  /** Runs a statement. Rejects with SqliteError, or BookUnavailable if the files are unusable now. */
  query(sql: string, parameters: readonly unknown[]): Promise<SqliteRows> {
    return this.#run({ sql, parameters });
  }

  /** Runs a statement once per row of a JSON array of rows. Rejects like `query`. */
  runEach(sql: string, rows: string): Promise<SqliteRows> {
    return this.#run({ sql, rows });
  }

  /** Resolves when all earlier statements are done and the files are closed. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    // A thread that has ended has no open files.
    await this.#client.ask({ close: true }).catch(() => {});
    await this.#client.close();
  }

  async #run(statement: SqliteStatement): Promise<SqliteRows> {
    if (this.#closed) throw new BookUnavailable('The book is closed.');
    const reply = await this.#ask(statement);
    if ('failure' in reply) throw queryError(reply.failure);
    return { rows: reply.rows, changes: BigInt(reply.changes) };
  }

  #ask(request: SqliteRequest): Promise<SqliteReply> {
    return this.#client.ask(request).catch((error: unknown) => {
      if (!(error instanceof ThreadEnded)) throw error;
      const message = 'The thread that owns the book has ended. Start the gateway again.';
      throw new BookUnavailable(message, { cause: error.cause });
    });
  }
}

/**
 * Primary result codes of files that are unusable now: busy, locked, read-only, I/O error, full, cannot open, protocol.
 */
const UNUSABLE = new Set([5, 6, 8, 10, 13, 14, 15]);

function queryError(failure: SqliteFailure): Error {
  const primary = (failure.errcode ?? 0) & 0xff;
  if (!UNUSABLE.has(primary)) return new SqliteError(failure);
  return new BookUnavailable(`The book cannot be used now: ${failure.message}.`);
}
