import { randomBytes } from 'node:crypto';
import { type ColumnDefinitionBuilder, type Kysely, sql } from 'kysely';
import { DEFAULT_MIGRATION_TABLE, type Migration, Migrator } from 'kysely/migration';
import { createSchema, index } from './initial-schema.ts';
import { addPeople } from './people-schema.ts';
import type { BookSchema, Engine } from './schema.ts';
import { BookUnavailable, CannotOpenBook } from './store.ts';

/**
 * Migrates the schema to this version of the gateway. The engine's migration lock makes gateways that start together do
 * it once. Throws CannotOpenBook if a newer version has migrated the book, BookUnavailable, or the engine's error.
 */
export async function migrate(db: Kysely<BookSchema>, engine: Engine): Promise<void> {
  // Without the migrator's lock and queries, a start takes a tenth less processor time.
  if (await isCurrent(db, engine)) return;
  const known = migrations(engine);
  const migrator = new Migrator({ db, provider: { getMigrations: async () => known } });
  const { error } = await migrator.migrateToLatest();
  if (error === undefined) return;
  if (error instanceof BookUnavailable) throw error;
  refuseUnknown(await executed(db), known);
  throw error;
}

/** True if exactly the known migrations have run; false on a new database. Throws BookUnavailable. */
export async function isCurrent(db: Kysely<BookSchema>, engine: Engine): Promise<boolean> {
  const names = await migrationNames(db).catch((error: unknown) => {
    if (error instanceof BookUnavailable) throw error;
    return [];
  });
  return names.join() === Object.keys(migrations(engine)).join();
}

/** Requires exactly this version's schema, for a read-only book. Throws CannotOpenBook. */
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
  return tables.some((table) => table.name === DEFAULT_MIGRATION_TABLE) ? migrationNames(db) : [];
}

async function migrationNames(db: Kysely<BookSchema>): Promise<string[]> {
  const rows = await db
    .$extendTables<{ [DEFAULT_MIGRATION_TABLE]: { name: string } }>()
    .selectFrom(DEFAULT_MIGRATION_TABLE)
    .select('name')
    .orderBy('name')
    .execute();
  return rows.map((row) => row.name);
}

/**
 * Schema changes by name, applied in name order. A released change is never edited; a new one follows it. 0.2.0 applied
 * the first two, whose tables the first now makes; the others change data of 0.2.0.
 */
export function migrations(engine: Engine): Record<string, Migration> {
  return {
    '0001_initial': { up: (db) => createSchema(db, engine) },
    '0002_calls': { up: async () => undefined },
    '0003_bounds': { up: boundRecords },
    '0004_gateways': { up: addGateways },
    '0005_owners': { up: addOwners },
    '0006_spending_limits': { up: addSpendingLimits },
    '0007_member_budgets': { up: addMembersOfKeys },
    '0008_people': { up: (db) => addPeople(db, engine) },
  };
}

const required = (column: ColumnDefinitionBuilder): ColumnDefinitionBuilder => column.notNull();

/**
 * Adds what bounds the book: error messages outside the ledger, which are removed after a time; the times of changes
 * that an account may make only so often; and the reason of a failed delivery.
 */
async function boundRecords(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('call_messages')
    .addColumn('id', 'text', (column) => column.notNull().primaryKey())
    .addColumn('created_at', 'bigint', required)
    .addColumn('message', 'text', required)
    .execute();
  await index(db, 'call_messages_created', 'call_messages', ['created_at']);
  await db.schema
    .createTable('rates')
    .addColumn('account_id', 'bigint', (column) => column.notNull().references('accounts.id'))
    .addColumn('kind', 'text', required)
    .addColumn('times', 'text', required)
    .addPrimaryKeyConstraint('rates_pkey', ['account_id', 'kind'])
    .execute();
  await db.schema.alterTable('keys').addColumn('replaced_hashes', 'text').execute();
  await db.schema.alterTable('deliveries').addColumn('error', 'text').execute();
}

/** Adds the lists of spending limits, and what was spent in the last five hours. */
async function addSpendingLimits(db: Kysely<unknown>): Promise<void> {
  for (const table of ['keys', 'accounts'])
    await db.schema
      .alterTable(table)
      .addColumn('spending_limits', 'text', (column) => column.notNull().defaultTo('[]'))
      .execute();
  await db.schema
    .createTable('spend_five_hours')
    .addColumn('account_id', 'bigint', (column) => column.notNull().references('accounts.id'))
    .addColumn('key_id', 'bigint', required)
    .addColumn('start', 'bigint', required)
    .addColumn('credits', 'bigint', required)
    .addPrimaryKeyConstraint('spend_five_hours_pkey', ['account_id', 'key_id'])
    .execute();
}

/** Adds the person of a key, and the spending limits of the person's membership. */
async function addMembersOfKeys(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('keys').addColumn('person_id', 'bigint').execute();
  await db.schema
    .alterTable('keys')
    .addColumn('member_limits', 'text', (column) => column.notNull().defaultTo('[]'))
    .execute();
  await sql`create index keys_by_person on keys (person_id, account_id) where person_id is not null`.execute(
    db,
  );
}

/** Adds the notes of running gateways. */
async function addGateways(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('gateways')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('redis', 'text', required)
    .addColumn('address', 'text', required)
    .addColumn('seen_at', 'bigint', required)
    .execute();
}

/**
 * Gives each object of an upstream to one account: the one that got its id first. Adds the secret that decides which
 * conversation has which target.
 */
async function addOwners(db: Kysely<unknown>): Promise<void> {
  await sql`
    delete from resources where (account_id, upstream, id) in (
      select account_id, upstream, id from (
        select account_id, upstream, id,
          row_number() over (partition by upstream, id order by created_at, account_id) as place
        from resources
      ) as placed where place > 1
    )`.execute(db);
  await db.schema
    .createIndex('resources_owner')
    .on('resources')
    .columns(['id', 'upstream'])
    .unique()
    .execute();
  await db.schema.dropIndex('resources_by_id').execute();
  await db.schema
    .alterTable('identity')
    .addColumn('secret', 'text', (column) => column.notNull().defaultTo(''))
    .execute();
  const secret = randomBytes(32).toString('base64url');
  await sql`update identity set secret = ${secret}`.execute(db);
}
