import type { Kysely, SelectQueryBuilder, Transaction } from 'kysely';
import type { BookSchema, Engine } from './schema.ts';

/** The database can't be reached or doesn't answer in time. */
export class BookUnavailable extends Error {}

/** The database answers and takes no writes: a standby, or read-only by its settings. */
export class BookReadOnly extends BookUnavailable {}

export type Trx = Transaction<BookSchema>;

/** Serialization failure and deadlock: PostgreSQL has rolled the transaction back and expects a retry. */
const REPEATABLE = new Set(['40001', '40P01']);
const MAX_ATTEMPTS = 5;

/** Database of the book, with the few differences between the two engines. */
export class Store {
  readonly db: Kysely<BookSchema>;
  readonly engine: Engine;

  constructor(db: Kysely<BookSchema>, engine: Engine) {
    this.db = db;
    this.engine = engine;
  }

  /**
   * Runs the body in a transaction, and retries it after a conflict. A body only runs queries on its `trx`, so a
   * rolled-back run leaves nothing behind and a retry is safe.
   */
  async transaction<T>(body: (trx: Trx) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.db.transaction().execute(body);
      } catch (error) {
        if (attempt === MAX_ATTEMPTS || !REPEATABLE.has(sqlState(error) ?? '')) throw error;
      }
    }
  }

  /**
   * Runs queries of one transaction in order. SQLite's thread receives them together: waiting for each would wake both
   * threads each time, which took 3 % of a busy gateway's CPU.
   */
  async inOrder(queries: readonly (() => Promise<void>)[]): Promise<void> {
    if (this.engine === 'postgres') {
      for (const query of queries) await query();
      return;
    }
    // All of them, because one that is sent after the rollback of another's failure would stay.
    const results = await Promise.allSettled(queries.map((query) => query()));
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  }

  /**
   * Locks the selected rows until the transaction ends. SQLite needs no row locks: its transactions begin as the only
   * writer. Avoids FOR UPDATE, which would also block foreign key checks of other rows.
   */
  lock<TB extends keyof BookSchema, O>(
    query: SelectQueryBuilder<BookSchema, TB, O>,
  ): SelectQueryBuilder<BookSchema, TB, O> {
    return this.engine === 'postgres' ? query.forNoKeyUpdate() : query;
  }
}

/** Whether the write violated a unique constraint. */
export function isUniqueViolation(error: unknown): boolean {
  return sqlState(error) === '23505' || sqliteCode(error) === SQLITE_CONSTRAINT_UNIQUE;
}

const SQLITE_CONSTRAINT_UNIQUE = 2067;

function sqlState(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

function sqliteCode(error: unknown): number | undefined {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number'
    ? error.errcode
    : undefined;
}

/**
 * `openBook` failed and waiting would not help. The message is one line for the operator with the problem and the
 * remedy (specification section 1, "Refusal to start"). It never contains a password.
 */
export class CannotOpenBook extends Error {
  override readonly name: string = 'CannotOpenBook';
}

/** A running gateway uses the data folder. */
export class DataFolderInUse extends CannotOpenBook {
  override readonly name = 'DataFolderInUse';

  constructor(dataDir: string) {
    super(
      `The data folder ${dataDir} is in use by another gateway. Stop that gateway or set TOLLGATE_DATA to another folder; ` +
        'to run several gateways, use PostgreSQL (DATABASE_URL).',
    );
  }
}
