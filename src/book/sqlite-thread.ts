import { ThreadEnded, WorkerClient } from '../threads/worker-client.ts';
import { BookUnavailable } from './book.ts';
import type {
  SqliteFailure,
  SqliteFiles,
  SqliteReply,
  SqliteRequest,
  SqliteStatement,
} from './sqlite-worker.ts';

/** A statement that SQLite refused, with its extended result code. */
class SqliteError extends Error {
  readonly errcode: number | undefined;

  constructor(failure: SqliteFailure) {
    super(failure.message);
    this.name = 'SqliteError';
    this.errcode = failure.errcode;
  }
}

/** Thrown if the file that locks out other gateways could not be locked. */
export class LockFailed extends SqliteError {}

export interface SqliteRows {
  readonly rows: readonly unknown[];
  readonly changes: bigint;
}

/**
 * The gateway's side of the worker thread that has SQLite. States: opening → open → closed; a thread that ends by
 * itself makes the book unavailable for good.
 */
export class SqliteThread {
  readonly #client = new WorkerClient<SqliteRequest, SqliteReply>('sqlite-worker', import.meta.url);
  #closed = false;

  private constructor() {}

  /** Resolves when the worker has opened the files. Rejects with LockFailed or SqliteError. */
  static async open(files: SqliteFiles): Promise<SqliteThread> {
    const thread = new SqliteThread();
    const reply = await thread.#ask({ files });
    if (!('failure' in reply)) return thread;
    await thread.#client.close();
    throw openingError(reply.failure);
  }

  /** Runs a statement. Rejects with SqliteError, or BookUnavailable if the files cannot be used now. */
  query(sql: string, parameters: readonly unknown[]): Promise<SqliteRows> {
    return this.#run({ sql, parameters });
  }

  /** Runs a statement once with each row of a JSON array of rows. Rejects like `query`. */
  runEach(sql: string, rows: string): Promise<SqliteRows> {
    return this.#run({ sql, rows });
  }

  /** Resolves when the statements that were sent before are done, and the files are closed. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    // A thread that has ended has no file open.
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

function openingError(failure: SqliteFailure): Error {
  return failure.locking ? new LockFailed(failure) : new SqliteError(failure);
}

/** Primary codes of a file that cannot be used now: busy, locked, read-only, I/O error, full, cannot open, protocol. */
const UNUSABLE = new Set([5, 6, 8, 10, 13, 14, 15]);

function queryError(failure: SqliteFailure): Error {
  const primary = (failure.errcode ?? 0) & 0xff;
  if (!UNUSABLE.has(primary)) return new SqliteError(failure);
  return new BookUnavailable(`The book cannot be used now: ${failure.message}.`);
}
