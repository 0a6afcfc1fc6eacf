import { Kysely, sql } from 'kysely';
import { accountErasureQueries } from './account-erasure.ts';
import { accountSumQueries } from './account-sums.ts';
import { accountQueries } from './accounts.ts';
import { alertQueries } from './alerts.ts';
import { attentionQueries } from './attention.ts';
import { auditQueries } from './audit.ts';
import type { Book } from './book.ts';
import { callQueries } from './calls.ts';
import { callsSummary } from './calls-summary.ts';
import { erasureQueries } from './erasure.ts';
import { gatewayQueries } from './gateways.ts';
import { grantQueries } from './grants.ts';
import { identityQueries } from './identities.ts';
import { invitationQueries } from './invitations.ts';
import { keyQueries } from './keys.ts';
import { ledgerQueries } from './ledger.ts';
import { memberQueries } from './members.ts';
import { isCurrent, migrate, requireCurrentSchema } from './migrations.ts';
import { nameQueries } from './names.ts';
import { linkQueries } from './one-time-links.ts';
import { personQueries } from './persons.ts';
import { postQueries } from './post.ts';
import { publicationQueries } from './publication.ts';
import { refusalQueries } from './refusals.ts';
import { resourceQueries } from './resources.ts';
import { retentionQueries } from './retention.ts';
import { rotationQueries } from './rotation.ts';
import type { BookSchema } from './schema.ts';
import { sessionQueries } from './sessions.ts';
import { snapshotQueries } from './snapshot.ts';
import type { SqliteAccess } from './sqlite.ts';
import { BookReadOnly, BookUnavailable, CannotOpenBook, DataFolderInUse, Store } from './store.ts';
import { transferQueries } from './transfer.ts';
import { usageQueries } from './usage.ts';

export interface BookPlace {
  /** `postgres://…`; undefined: SQLite in the data folder. */
  readonly databaseUrl: string | undefined;
  /** Absolute path, created if missing. */
  readonly dataDir: string;
}

const STATEMENT_TIMEOUT_MS = 5000;
const MAX_CONNECTIONS = 10;
const MIN_POSTGRES = 150_000;

/**
 * Opens the database of record, after creating or migrating its tables. With `readOnly` it takes no lock, changes
 * nothing and may be slow: for reports beside a running gateway. With `isPatient` it may be slow, too.
 *
 * Throws CannotOpenBook (DataFolderInUse if another gateway has the folder) or BookUnavailable; both messages are one
 * line for the operator, without a password.
 */
export async function openBook(
  place: BookPlace,
  { readOnly = false, isPatient = readOnly }: { readOnly?: boolean; isPatient?: boolean } = {},
): Promise<Book> {
  return place.databaseUrl === undefined
    ? openInFolder(place.dataDir, readOnly ? 'read' : 'own')
    : openOnServer(place.databaseUrl, readOnly, isPatient).catch(namingItsSetting);
}

/** Opens the book to change it, also beside a running gateway, which has migrated it. Throws as `openBook`. */
export async function openBookBeside(place: BookPlace): Promise<Book> {
  return openBook(place).catch((error: unknown) => {
    if (error instanceof DataFolderInUse) return openInFolder(place.dataDir, 'write');
    throw error;
  });
}

/** What to do about refusals of the server, by SQLSTATE. */
const CURES: Readonly<Record<string, string>> = {
  '08P01': 'PgBouncer needs ignore_startup_parameters: see docs/operating.md.',
  '3F000': 'Give the user of DATABASE_URL a schema: create schema tollgate authorization <user>',
  '42501': 'Give the user of DATABASE_URL the right: grant usage, create on schema public to <user>',
};

/** Names the setting to check in an error, so a refused start explains itself in one line, as for Redis. */
function namingItsSetting(error: unknown): never {
  const cause = error instanceof BookUnavailable ? error.cause : error;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  const cure = CURES[code];
  if (error instanceof BookUnavailable) {
    const what = cure ?? 'Check DATABASE_URL and that the server is running.';
    throw new BookUnavailable(`${error.message} ${what}`, { cause: error });
  }
  if (cure === undefined) throw error;
  throw new CannotOpenBook(`The database refuses: ${(error as Error).message}. ${cure}`);
}

/** Opens the SQLite book. Its driver is loaded only if used. */
async function openInFolder(dataDir: string, access: SqliteAccess): Promise<Book> {
  const { openSqlite } = await import('./sqlite.ts');
  const db = new Kysely<BookSchema>({ dialect: await openSqlite(dataDir, access) });
  return orDestroy(db, async () => {
    await (access === 'own' ? migrate(db, 'sqlite') : requireCurrentSchema(db, 'sqlite'));
    return await sqlBook(new Store(db, 'sqlite'));
  });
}

async function openOnServer(databaseUrl: string, readOnly: boolean, isPatient: boolean): Promise<Book> {
  if (!readOnly) await prepareServer(databaseUrl);
  const { postgresDialect, tookTooLong } = await import('./postgres.ts');
  // A report sums whole ledgers, and a copy writes them: it may run long, on one connection.
  const dialect = postgresDialect(databaseUrl, {
    readOnly,
    statementTimeoutMs: isPatient ? 0 : STATEMENT_TIMEOUT_MS,
    maxConnections: isPatient ? 1 : MAX_CONNECTIONS,
    isPatient,
  });
  const db = new Kysely<BookSchema>({ dialect });
  return orDestroy(db, async () => {
    if (readOnly) await requireCurrentSchema(db, 'postgres');
    const open = () => sqlBook(new Store(db, 'postgres'));
    // The server has just answered, so one slow connection must not refuse the start.
    return await open().catch((error: unknown) => {
      if (!tookTooLong(error)) throw error;
      return open();
    });
  });
}

/**
 * Requires a usable server, and migrates it if it needs that. On connections of their own: those of the book are less
 * patient, and a migration, or the wait for another gateway's, may exceed their statement timeout.
 */
async function prepareServer(databaseUrl: string): Promise<void> {
  const isReady = await onServer(databaseUrl, STATEMENT_TIMEOUT_MS, async (db) => {
    await requirePostgres15(db);
    await requireUsable(db);
    return isCurrent(db, 'postgres');
  });
  if (!isReady) await onServer(databaseUrl, 0, (db) => migrate(db, 'postgres'));
}

async function onServer<T>(
  databaseUrl: string,
  statementTimeoutMs: number,
  ask: (db: Kysely<BookSchema>) => Promise<T>,
): Promise<T> {
  const { postgresDialect } = await import('./postgres.ts');
  const limits = { readOnly: false, statementTimeoutMs, maxConnections: 1, isPatient: true };
  const db = new Kysely<BookSchema>({ dialect: postgresDialect(databaseUrl, limits) });
  try {
    return await ask(db);
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

/** Whether PostgreSQL takes no writes; for SQLite, only whether it answers. */
async function isReadOnly({ db, engine }: Pick<Store, 'db' | 'engine'>): Promise<boolean> {
  const query =
    engine === 'postgres'
      ? sql<{
          read_only: boolean;
        }>`select pg_is_in_recovery() or current_setting('transaction_read_only')::boolean as read_only`
      : sql<{ read_only: number }>`select 0 as read_only`;
  const { rows } = await query.execute(db);
  return rows[0]?.read_only === true;
}

/** Throws CannotOpenBook for a database that can't hold a book, whatever the gateway does. */
async function requireUsable(db: Kysely<BookSchema>): Promise<void> {
  const { rows } = await sql<{ server_encoding: string }>`show server_encoding`.execute(db);
  const encoding = rows[0]?.server_encoding;
  if (encoding !== 'UTF8') {
    throw new CannotOpenBook(
      `The database has the encoding ${encoding}; Tollgate needs UTF8. Create it with: create database … encoding 'UTF8' template template0`,
    );
  }
  if (await isReadOnly({ db, engine: 'postgres' })) {
    throw new CannotOpenBook(
      'The database is read-only: a standby, or default_transaction_read_only. DATABASE_URL must name the primary.',
    );
  }
}

/** Opens the book on a store, and closes the store on failure. */
async function orDestroy(db: Kysely<BookSchema>, open: () => Promise<Book>): Promise<Book> {
  try {
    return await open();
  } catch (error) {
    await db.destroy();
    throw error;
  }
}

/** Builds the book on a database with the current schema. The book owns the store: `close` closes it. */
export async function sqlBook(store: Store): Promise<Book> {
  const { id, secret } = await store.db.selectFrom('identity').selectAll().executeTakeFirstOrThrow();
  return {
    id,
    secret,
    async ping() {
      if (await isReadOnly(store)) throw new BookReadOnly('The database is read-only.');
    },
    close: () => store.db.destroy(),
    ...accountQueries(store),
    ...accountSumQueries(store),
    ...attentionQueries(store),
    ...keyQueries(store),
    ...rotationQueries(store),
    ...publicationQueries(store),
    ...grantQueries(store),
    ...postQueries(store),
    ...snapshotQueries(store),
    ...ledgerQueries(store),
    ...usageQueries(store),
    ...alertQueries(store),
    ...auditQueries(store),
    ...resourceQueries(store),
    ...memberQueries(store),
    ...invitationQueries(store),
    ...personQueries(store),
    ...linkQueries(store),
    ...sessionQueries(store),
    ...identityQueries(store),
    ...erasureQueries(store),
    ...accountErasureQueries(store),
    ...refusalQueries(store),
    ...retentionQueries(store),
    ...callQueries(store),
    ...callsSummary(store),
    ...nameQueries(store),
    ...gatewayQueries(store),
    ...transferQueries(store),
  };
}
