import type { Kysely } from 'kysely';
import { DEFAULT_MIGRATION_TABLE, Migrator } from 'kysely/migration';
import { BookUnavailable } from './book.ts';
import { CannotOpenBook } from './errors.ts';
import { migrations } from './migrations.ts';
import type { BookSchema, Engine } from './schema.ts';

/**
 * Brings the schema up to this version of the gateway, under the engine's migration lock, so that gateways that start
 * together do it once. Throws CannotOpenBook where a newer version has migrated the book, BookUnavailable, or the engine's
 * error.
 */
export async function migrate(db: Kysely<BookSchema>, engine: Engine): Promise<void> {
  const known = migrations(engine);
  const migrator = new Migrator({ db, provider: { getMigrations: async () => known } });
  const { error } = await migrator.migrateToLatest();
  if (error === undefined) return;
  if (error instanceof BookUnavailable) throw error;
  refuseUnknown(await executed(db), known);
  throw error;
}

/** Checks the schema of a book that is only read: it must be exactly this version's. Throws CannotOpenBook. */
export async function requireCurrentSchema(db: Kysely<BookSchema>, engine: Engine): Promise<void> {
  const known = migrations(engine);
  const names = await executed(db);
  refuseUnknown(names, known);
  if (names.length < Object.keys(known).length) {
    throw new CannotOpenBook(
      'The database has no book for this version of Tollgate yet. Start the gateway with it once, then try again.',
    );
  }
}

function refuseUnknown(names: readonly string[], known: Record<string, unknown>): void {
  const unknown = names.find((name) => !(name in known));
  if (unknown === undefined) return;
  throw new CannotOpenBook(
    `The database was used by a newer version of Tollgate: this version does not know its migration "${unknown}". ` +
      'Run that version, or restore a backup from before the upgrade.',
  );
}

async function executed(db: Kysely<BookSchema>): Promise<string[]> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true });
  if (!tables.some((table) => table.name === DEFAULT_MIGRATION_TABLE)) return [];
  const rows = await db
    .$extendTables<{ [DEFAULT_MIGRATION_TABLE]: { name: string } }>()
    .selectFrom(DEFAULT_MIGRATION_TABLE)
    .select('name')
    .orderBy('name')
    .execute();
  return rows.map((row) => row.name);
}
