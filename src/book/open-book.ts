import { Kysely, sql } from 'kysely';
import { type Book, BookUnavailable } from './book.ts';
import { CannotOpenBook } from './errors.ts';
import { migrate, requireCurrentSchema } from './migrate.ts';
import type { BookSchema } from './schema.ts';
import { sqlBook } from './sql-book.ts';
import { Store } from './store.ts';

export interface BookPlace {
  /** `postgres://…`; undefined: SQLite in the data folder. */
  readonly databaseUrl: string | undefined;
  /** Absolute path; made if it is missing. */
  readonly dataDir: string;
}

const STATEMENT_TIMEOUT_MS = 5000;
const MAX_CONNECTIONS = 10;
const MIN_POSTGRES = 150_000;

/**
 * Opens the database of record, creating or migrating its tables first. With `readOnly` it takes no lock, changes
 * nothing and may be slow: for reports beside a running gateway.
 *
 * Throws CannotOpenBook (DataFolderInUse where another gateway has the folder) or BookUnavailable; both messages are
 * one line for the operator and hold no password.
 */
export async function openBook(place: BookPlace, options: { readOnly?: boolean } = {}): Promise<Book> {
  const readOnly = options.readOnly ?? false;
  return place.databaseUrl === undefined
    ? openInFolder(place.dataDir, readOnly)
    : openOnServer(place.databaseUrl, readOnly).catch(namingItsSetting);
}

/** Adds to an error what to look at, so that the one line of a refused start says so, as it does for Redis. */
function namingItsSetting(error: unknown): never {
  if (!(error instanceof BookUnavailable)) throw error;
  const message = `${error.message} Check DATABASE_URL and that the server is running.`;
  throw new BookUnavailable(message, { cause: error });
}

/** The store of the database that is configured. Its driver is loaded only where it is used. */
async function openInFolder(dataDir: string, readOnly: boolean): Promise<Book> {
  const { openSqlite } = await import('./sqlite.ts');
  const db = new Kysely<BookSchema>({ dialect: await openSqlite(dataDir, readOnly) });
  return orDestroy(db, async () => {
    await (readOnly ? requireCurrentSchema(db, 'sqlite') : migrate(db, 'sqlite'));
    return await sqlBook(new Store(db, 'sqlite'));
  });
}

async function openOnServer(databaseUrl: string, readOnly: boolean): Promise<Book> {
  if (!readOnly) await migrateServer(databaseUrl);
  const { postgresDialect } = await import('./postgres.ts');
  // A report sums whole ledgers: it may take its time, on one connection.
  const dialect = postgresDialect(databaseUrl, {
    readOnly,
    statementTimeoutMs: readOnly ? 0 : STATEMENT_TIMEOUT_MS,
    maxConnections: readOnly ? 1 : MAX_CONNECTIONS,
  });
  const db = new Kysely<BookSchema>({ dialect });
  return orDestroy(db, async () => {
    if (readOnly) await requireCurrentSchema(db, 'postgres');
    return await sqlBook(new Store(db, 'postgres'));
  });
}

/** Migrates on a connection of its own: a migration, or the wait for another gateway's, may take longer than a statement. */
async function migrateServer(databaseUrl: string): Promise<void> {
  const { postgresDialect } = await import('./postgres.ts');
  const dialect = postgresDialect(databaseUrl, { readOnly: false, statementTimeoutMs: 0, maxConnections: 1 });
  const db = new Kysely<BookSchema>({ dialect });
  try {
    await requirePostgres15(db);
    await migrate(db, 'postgres');
  } finally {
    await db.destroy();
  }
}

async function requirePostgres15(db: Kysely<BookSchema>): Promise<void> {
  const { rows } = await sql<{ server_version_num: string }>`show server_version_num`.execute(db);
  const version = Number(rows[0]?.server_version_num);
  if (version >= MIN_POSTGRES) return;
  throw new CannotOpenBook(
    `The database is PostgreSQL ${Math.floor(version / 10_000)}; Tollgate needs PostgreSQL 15 or newer.`,
  );
}

/** Opens the book on a store, which is closed again where that fails. */
async function orDestroy(db: Kysely<BookSchema>, open: () => Promise<Book>): Promise<Book> {
  try {
    return await open();
  } catch (error) {
    await db.destroy();
    throw error;
  }
}
