import type { Kysely, SelectQueryBuilder, Transaction } from 'kysely';
import type { BookSchema, Engine } from './schema.ts';

/** Thrown if the database cannot be reached or does not answer in time. */
export class BookUnavailable extends Error {}

export type Trx = Transaction<BookSchema>;

/** Serialization failure and deadlock: PostgreSQL has rolled the transaction back and asks for it once more. */
const REPEATABLE = new Set(['40001', '40P01']);
const MAX_ATTEMPTS = 5;

/** A database that holds the book, with the few things in which the two engines differ. */
export class Store {
  readonly db: Kysely<BookSchema>;
  readonly engine: Engine;

  constructor(db: Kysely<BookSchema>, engine: Engine) {
    this.db = db;
    this.engine = engine;
  }

  /**
   * Runs the body in a transaction, and again if it lost against another one. A body does nothing but queries on its
   * `trx`, so that a rolled-back run leaves nothing behind and repeating it is safe.
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
   * Runs queries of one transaction, one after the other. SQLite's thread is sent them together: to wait for each would wake
   * both threads for each, which was 3 % of a busy gateway's CPU.
   */
  async inOrder(queries: readonly (() => Promise<void>)[]): Promise<void> {
    if (this.engine === 'sqlite') await Promise.all(queries.map((query) => query()));
    else for (const query of queries) await query();
  }

  /**
   * Locks the rows that a query selects until its transaction ends. SQLite needs no row locks: its transactions begin
   * as the only writer. The lock is not FOR UPDATE, which would also stop the foreign key checks of other rows.
   */
  lock<TB extends keyof BookSchema, O>(
    query: SelectQueryBuilder<BookSchema, TB, O>,
  ): SelectQueryBuilder<BookSchema, TB, O> {
    return this.engine === 'postgres' ? query.forNoKeyUpdate() : query;
  }
}

/** True if the write would have made a second row with a value that must be unique. */
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
 * Thrown by `openBook` if waiting would not help: the message is one line for the operator that says what is wrong
 * and what to do (specification section 1, "Refusal to start"). It never holds a password.
 */
export class CannotOpenBook extends Error {
  override readonly name: string = 'CannotOpenBook';
}

/** Thrown if the data folder belongs to another gateway that is running. */
export class DataFolderInUse extends CannotOpenBook {
  override readonly name = 'DataFolderInUse';

  constructor(dataDir: string) {
    super(
      `The data folder ${dataDir} is in use by another gateway. Stop that gateway or set TOLLGATE_DATA to another folder; ` +
        'to run several gateways, use PostgreSQL (DATABASE_URL).',
    );
  }
}
