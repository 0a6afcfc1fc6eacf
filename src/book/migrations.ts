import { randomBytes } from 'node:crypto';
import { type ColumnDefinitionBuilder, type CreateTableBuilder, type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import { addPrices } from './prices-migration.ts';
import type { Engine } from './schema.ts';
import { addSums } from './sums-migration.ts';

/**
 * Changes of the schema, by name, in the order of the names. A released change is never edited: a new one follows it.
 */
export function migrations(engine: Engine): Record<string, Migration> {
  return {
    '0001_first': { up: (db) => first(db, engine) },
    '0002_identity': { up: createIdentity },
    '0003_objects': { up: createObjects },
    '0004_jobs': { up: addJobs },
    '0005_sums': { up: (db) => addSums(db, engine) },
    '0006_alerts_by_account': { up: indexAlerts },
    '0007_overdraft': { up: addOverdraft },
    '0008_prices': { up: (db) => addPrices(db, engine) },
    '0009_call_limits': { up: addCallLimits },
    '0010_rotation': { up: addRotation },
  };
}

async function first(db: Kysely<unknown>, engine: Engine): Promise<void> {
  await createAccounts(db, engine);
  await createKeys(db, engine);
  await createGrants(db);
  await createLedger(db);
  await createSpendDays(db);
  await createAlerts(db, engine);
}

/** The table of the book's id, which tells it from every other book (Book.id). */
async function createIdentity(db: Kysely<unknown>): Promise<void> {
  await db.schema.createTable('identity').addColumn('id', 'text', required).execute();
  const id = randomBytes(6).toString('base64url');
  await sql`insert into identity (id) values (${id})`.execute(db);
}

const required = (column: ColumnDefinitionBuilder): ColumnDefinitionBuilder => column.notNull();
const startsAt = (value: number) => (column: ColumnDefinitionBuilder) => column.notNull().defaultTo(value);
const ofAccount = (column: ColumnDefinitionBuilder): ColumnDefinitionBuilder =>
  column.notNull().references('accounts.id');

/** A column of an integer key that the database counts up and never gives out twice. */
function withId<TB extends string>(
  table: CreateTableBuilder<TB>,
  engine: Engine,
): CreateTableBuilder<TB, 'id'> {
  return engine === 'sqlite'
    ? table.addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
    : table.addColumn('id', 'bigint', (column) => column.primaryKey().generatedAlwaysAsIdentity());
}

async function createAccounts(db: Kysely<unknown>, engine: Engine): Promise<void> {
  await withId(db.schema.createTable('accounts'), engine)
    .addColumn('email', 'text', required)
    .addColumn('email_key', 'text', (column) => column.notNull().unique())
    .addColumn('alert_threshold', 'bigint', required)
    .addColumn('is_active', 'integer', required)
    .addColumn('webhook_secret', 'text', required)
    .addColumn('balance', 'bigint', startsAt(0))
    .addColumn('seq', 'bigint', startsAt(0))
    .addColumn('epoch', 'bigint', startsAt(0))
    .addColumn('version', 'bigint', startsAt(1))
    .addColumn('published_version', 'bigint', startsAt(0))
    .addColumn('last_entry_at', 'bigint')
    .addColumn('created_at', 'bigint', required)
    .addColumn('updated_at', 'bigint', required)
    .execute();
  await db.schema
    .createIndex('accounts_unpublished')
    .on('accounts')
    .column('id')
    .where(sql<boolean>`published_version < version`)
    .execute();
}

async function createKeys(db: Kysely<unknown>, engine: Engine): Promise<void> {
  await withId(db.schema.createTable('keys'), engine)
    .addColumn('account_id', 'bigint', ofAccount)
    .addColumn('hash', 'text', (column) => column.notNull().unique())
    .addColumn('prefix', 'text', required)
    .addColumn('name', 'text', required)
    .addColumn('description', 'text', required)
    .addColumn('is_active', 'integer', required)
    .addColumn('can_manage', 'integer', required)
    .addColumn('expires_at', 'bigint')
    .addColumn('allowed_models', 'text', required)
    .addColumn('allowed_categories', 'text', required)
    .addColumn('spending_limit', 'bigint')
    .addColumn('spending_period', 'text', required)
    .addColumn('active_hours', 'text', required)
    .addColumn('allowed_ips', 'text', required)
    .addColumn('allowed_origins', 'text', required)
    .addColumn('blocked_countries', 'text', required)
    .addColumn('webhook_url', 'text', required)
    .addColumn('version', 'bigint', startsAt(1))
    .addColumn('published_version', 'bigint', startsAt(0))
    .addColumn('created_at', 'bigint', required)
    .addColumn('updated_at', 'bigint', required)
    .execute();
  await db.schema.createIndex('keys_account').on('keys').columns(['account_id', 'id']).execute();
  await db.schema
    .createIndex('keys_unpublished')
    .on('keys')
    .column('id')
    .where(sql<boolean>`published_version < version`)
    .execute();
}

async function createGrants(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('grants')
    .addColumn('id', 'text', (column) => column.notNull().primaryKey())
    .addColumn('account_id', 'bigint', ofAccount)
    .addColumn('amount', 'bigint', required)
    .addColumn('type', 'text', required)
    .addColumn('note', 'text', required)
    .addColumn('idempotency_key', 'text')
    .addColumn('state', 'text', required)
    .addColumn('balance_after', 'bigint')
    .addColumn('created_at', 'bigint', required)
    .addUniqueConstraint('grants_idempotency', ['account_id', 'idempotency_key'])
    .execute();
  await db.schema
    .createIndex('grants_pending')
    .on('grants')
    .column('created_at')
    .where(sql<boolean>`state = 'pending'`)
    .execute();
}

/** `key_id` is no foreign key: what was spent must reach the ledger also where a restored book lacks the key. */
async function createLedger(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('ledger')
    .addColumn('account_id', 'bigint', ofAccount)
    .addColumn('seq', 'bigint', required)
    .addColumn('id', 'text', (column) => column.notNull().unique())
    .addColumn('epoch', 'bigint', required)
    .addColumn('type', 'text', required)
    .addColumn('created_at', 'bigint', required)
    .addColumn('day', 'integer', required)
    .addColumn('key_id', 'bigint')
    .addColumn('model', 'text')
    .addColumn('category', 'text')
    .addColumn('endpoint', 'text')
    .addColumn('status', 'integer')
    .addColumn('outcome', 'text')
    .addColumn('usage', 'text', required)
    .addColumn('estimated', 'integer', required)
    .addColumn('credits', 'bigint', required)
    .addColumn('balance_after', 'bigint', required)
    .addColumn('note', 'text')
    .addPrimaryKeyConstraint('ledger_place', ['account_id', 'seq'])
    .execute();
  await db.schema.createIndex('ledger_key').on('ledger').columns(['account_id', 'key_id', 'seq']).execute();
}

async function createSpendDays(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('spend_days')
    .addColumn('account_id', 'bigint', ofAccount)
    .addColumn('key_id', 'bigint', required)
    .addColumn('model', 'text', required)
    .addColumn('day', 'integer', required)
    .addColumn('calls', 'bigint', required)
    .addColumn('credits', 'bigint', required)
    .addColumn('input', 'bigint', required)
    .addColumn('output', 'bigint', required)
    .addColumn('cached_input', 'bigint', required)
    .addColumn('cache_write', 'bigint', required)
    .addColumn('characters', 'bigint', required)
    .addColumn('images', 'bigint', required)
    .addColumn('audio_seconds', 'double precision', required)
    .addColumn('video_seconds', 'double precision', required)
    .addPrimaryKeyConstraint('spend_days_place', ['account_id', 'key_id', 'model', 'day'])
    .execute();
  await db.schema.createIndex('spend_days_by_day').on('spend_days').columns(['account_id', 'day']).execute();
}

async function createAlerts(db: Kysely<unknown>, engine: Engine): Promise<void> {
  await withId(db.schema.createTable('alerts'), engine)
    .addColumn('account_id', 'bigint', ofAccount)
    .addColumn('entry_id', 'text', (column) => column.unique())
    .addColumn('created_at', 'bigint', required)
    .addColumn('credits_balance', 'bigint', required)
    .addColumn('test', 'integer', required)
    .addColumn('state', 'text', required)
    .addColumn('claimed_at', 'bigint')
    .execute();
  await db.schema.createIndex('alerts_account').on('alerts').columns(['account_id', 'id']).execute();
  await db.schema
    .createIndex('alerts_queued')
    .on('alerts')
    .column('id')
    .where(sql<boolean>`state = 'queued'`)
    .execute();
  await withId(db.schema.createTable('deliveries'), engine)
    .addColumn('alert_id', 'bigint', (column) => column.notNull().references('alerts.id'))
    .addColumn('key_id', 'bigint', required)
    .addColumn('url', 'text', required)
    .addColumn('status', 'text', required)
    .addColumn('http_status', 'integer')
    .addColumn('duration_ms', 'bigint')
    .addColumn('attempted_at', 'bigint', required)
    .execute();
  await db.schema.createIndex('deliveries_alert').on('deliveries').column('alert_id').execute();
}

/**
 * Creates the table of provider resources. Its primary key begins with the account, because two upstreams, or one that
 * counts from 1, may use an id twice.
 */
async function createObjects(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('objects')
    .addColumn('account_id', 'bigint', ofAccount)
    .addColumn('upstream', 'text', required)
    .addColumn('id', 'text', required)
    .addColumn('kind', 'text', required)
    .addColumn('key_id', 'bigint', required)
    .addColumn('model', 'text', required)
    .addColumn('tokens', 'bigint')
    .addColumn('created_at', 'bigint', required)
    .addPrimaryKeyConstraint('objects_place', ['account_id', 'upstream', 'id'])
    .execute();
}

/**
 * Adds what jobs need: they are found by their id alone, and a deleted one keeps its row, because a charge that comes
 * late must not bring the job back.
 */
async function addJobs(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('objects').addColumn('charge_id', 'text').execute();
  await db.schema.alterTable('objects').addColumn('deleted_at', 'bigint').execute();
  await db.schema.createIndex('objects_by_id').on('objects').columns(['account_id', 'id']).execute();
}

/**
 * Adds indexes by which the next alert of each account, and its latest tests, are found without reading its other
 * alerts.
 */
async function indexAlerts(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createIndex('alerts_due')
    .on('alerts')
    .columns(['account_id', 'test', 'id'])
    .where(sql<boolean>`state = 'queued'`)
    .execute();
  await db.schema
    .createIndex('alerts_tests')
    .on('alerts')
    .columns(['account_id', 'created_at'])
    .where(sql<boolean>`test = 1`)
    .execute();
}

/** Adds the overdraft of accounts. Existing accounts have none: the default in the configuration is for new ones. */
async function addOverdraft(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('accounts').addColumn('overdraft', 'bigint', startsAt(0)).execute();
}

async function addCallLimits(db: Kysely<unknown>): Promise<void> {
  for (const table of ['accounts', 'keys']) {
    for (const column of ['rpm_limit', 'tpm_limit', 'max_parallel_requests']) {
      await db.schema.alterTable(table).addColumn(column, 'bigint').execute();
    }
  }
}

/** Adds the previous value of a key, which is valid until a time after a rotation. A key has one at most. */
async function addRotation(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('keys').addColumn('previous_hash', 'text').execute();
  await db.schema.alterTable('keys').addColumn('previous_valid_until', 'bigint').execute();
  await db.schema.createIndex('keys_previous').on('keys').column('previous_hash').unique().execute();
}
