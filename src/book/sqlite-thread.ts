import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { BookUnavailable } from './book.ts';
import type { SqliteFailure, SqliteFiles, SqliteReply, SqliteRequest } from './sqlite-worker.ts';

/** A statement that SQLite refused, with its extended result code. */
export class SqliteError extends Error {
  readonly errcode: number | undefined;

  constructor(failure: SqliteFailure) {
    super(failure.message);
    this.name = 'SqliteError';
    this.errcode = failure.errcode;
  }
}

/** Thrown where the file that locks out other gateways could not be locked. */
export class LockFailed extends SqliteError {}

export interface SqliteRows {
  readonly rows: readonly unknown[];
  readonly changes: bigint;
}

/** The id of the worker's first reply, which says whether the files are open. */
const OPENING = 0;

interface PendingReply {
  resolve(rows: SqliteRows): void;
  reject(error: Error): void;
}

/**
 * The gateway's side of the worker thread that has SQLite. States: opening (until reply 0) → open → closed. It keeps the
 * process alive only while a reply is outstanding.
 */
export class SqliteThread {
  readonly #worker: Worker;
  readonly #pending = new Map<number, PendingReply>();
  #lastId = OPENING;
  #closed = false;

  private constructor(files: SqliteFiles) {
    // The same folder holds the worker as .ts in the sources and as .js in the build.
    const extension = import.meta.url.endsWith('.ts') ? '.ts' : '.js';
    this.#worker = new Worker(new URL(`./sqlite-worker${extension}`, import.meta.url), { workerData: files });
    this.#worker.on('message', (reply: SqliteReply) => this.#settle(reply));
    this.#worker.on('error', (cause) => this.#fail(cause));
    this.#worker.on('exit', () => this.#fail());
  }

  /** Resolves when the worker has opened the files. Rejects with LockFailed or SqliteError. */
  static async open(files: SqliteFiles): Promise<SqliteThread> {
    const thread = new SqliteThread(files);
    await new Promise<SqliteRows>((resolve, reject) => thread.#pending.set(OPENING, { resolve, reject }));
    return thread;
  }

  /** Runs a statement. Rejects with SqliteError, or BookUnavailable where the files cannot be used now. */
  query(sql: string, parameters: readonly unknown[]): Promise<SqliteRows> {
    return this.#ask((id) => ({ id, sql, parameters }));
  }

  /** Runs a statement once with each row of a JSON array of rows. Rejects like `query`. */
  runEach(sql: string, rows: string): Promise<SqliteRows> {
    return this.#ask((id) => ({ id, sql, rows }));
  }

  #ask(requestOf: (id: number) => SqliteRequest): Promise<SqliteRows> {
    if (this.#closed) return Promise.reject(new BookUnavailable('The book is closed.'));
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      if (this.#pending.size === 0) this.#worker.ref();
      this.#pending.set(id, { resolve, reject });
      this.#post(requestOf(id));
    });
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#worker.ref();
    const exited = once(this.#worker, 'exit');
    this.#post({ id: ++this.#lastId, close: true });
    await exited;
  }

  #post(request: SqliteRequest): void {
    this.#worker.postMessage(request);
  }

  #settle(reply: SqliteReply): void {
    const waiting = this.#pending.get(reply.id);
    this.#pending.delete(reply.id);
    if (this.#pending.size === 0 && !this.#closed) this.#worker.unref();
    if (!('failure' in reply)) waiting?.resolve({ rows: reply.rows, changes: BigInt(reply.changes) });
    else waiting?.reject(reply.id === OPENING ? openingError(reply.failure) : queryError(reply.failure));
  }

  #fail(cause?: unknown): void {
    this.#closed = true;
    for (const { reject } of this.#pending.values()) {
      reject(
        new BookUnavailable('The thread that owns the book has ended. Start the gateway again.', { cause }),
      );
    }
    this.#pending.clear();
  }
}

function openingError(failure: SqliteFailure): Error {
  return failure.locking ? new LockFailed(failure) : new SqliteError(failure);
}

/** Primary result codes of a file that cannot be used now: busy, locked, read-only, I/O error, full, cannot open, protocol. */
const UNUSABLE = new Set([5, 6, 8, 10, 13, 14, 15]);

function queryError(failure: SqliteFailure): Error {
  const primary = (failure.errcode ?? 0) & 0xff;
  if (!UNUSABLE.has(primary)) return new SqliteError(failure);
  return new BookUnavailable(`The book cannot be used now: ${failure.message}.`);
}
