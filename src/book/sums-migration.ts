import { type CreateTableBuilder, type Kysely, sql } from 'kysely';
import type { Engine } from './schema.ts';

/**
 * Sums that stay few, and indexes for what a start asks. With 100 keys and 3 models, a year of usage took 250 to 500 ms
 * to sum from spend_days (110,000 rows, on SQLite's one thread), and more for each key that was added.
 */
export async function addSums(db: Kysely<unknown>, engine: Engine): Promise<void> {
  await createSums(db, engine);
  await fillSums(db, engine);
  await createIndexes(db);
  await addLastEntryHour(db);
}

const SUMS = [
  'calls',
  'credits',
  'input',
  'output',
  'cached_input',
  'cache_write',
  'characters',
  'images',
  'audio_seconds',
  'video_seconds',
] as const;

async function createSums(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const byModel = db.schema
    .createTable('spend_model_days')
    .addColumn('account_id', 'bigint', (column) => column.notNull().references('accounts.id'))
    .addColumn('day', 'integer', (column) => column.notNull())
    .addColumn('model', 'text', (column) => column.notNull());
  await withSums(byModel, engine)
    .addPrimaryKeyConstraint('spend_model_days_place', ['account_id', 'day', 'model'])
    .execute();
  const byKey = db.schema
    .createTable('spend_key_months')
    .addColumn('account_id', 'bigint', (column) => column.notNull().references('accounts.id'))
    .addColumn('month', 'integer', (column) => column.notNull())
    .addColumn('key_id', 'bigint', (column) => column.notNull());
  await withSums(byKey, engine)
    .addPrimaryKeyConstraint('spend_key_months_place', ['account_id', 'month', 'key_id'])
    .execute();
}

/** SQLite then keeps the rows themselves in the order of the key, and reads a span of time from pages that adjoin. */
function withSums<TB extends string, C extends string>(
  table: CreateTableBuilder<TB, C>,
  engine: Engine,
): CreateTableBuilder<TB, C> {
  let wider: CreateTableBuilder<TB, string> = table;
  for (const name of SUMS) {
    const type = name.endsWith('_seconds') ? 'double precision' : 'bigint';
    wider = wider.addColumn(name, type, (column) => column.notNull());
  }
  return (engine === 'sqlite' ? wider.modifyEnd(sql`without rowid`) : wider) as CreateTableBuilder<TB, C>;
}

async function fillSums(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const sums = sql.raw(SUMS.map((name) => `sum(${name})`).join(', '));
  const month =
    engine === 'sqlite'
      ? sql`cast(unixepoch(day * 86400, 'unixepoch', 'start of month') / 86400 as integer)`
      : sql`cast(date_trunc('month', date '1970-01-01' + day) as date) - date '1970-01-01'`;
  await sql`insert into spend_model_days select account_id, day, model, ${sums} from spend_days
    group by account_id, day, model`.execute(db);
  await sql`insert into spend_key_months select account_id, ${month}, key_id, ${sums} from spend_days
    group by account_id, ${month}, key_id`.execute(db);
}

/**
 * Starts, and every return of Redis, read all keys and accounts. Pages of one type or model read an account's whole
 * ledger where there are few such entries; an account's few entries that are no charges have an index of their own.
 */
async function createIndexes(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createIndex('ledger_type')
    .on('ledger')
    .columns(['account_id', 'type', 'seq'])
    .where(sql<boolean>`type <> 'charge'`)
    .execute();
  await db.schema.createIndex('ledger_model').on('ledger').columns(['account_id', 'model', 'seq']).execute();
  await db.schema.createIndex('keys_updated').on('keys').column('updated_at').execute();
  await db.schema.createIndex('accounts_updated').on('accounts').column('updated_at').execute();
  await db.schema
    .createIndex('keys_country_rule')
    .on('keys')
    .column('id')
    .where(sql<boolean>`is_active = 1 and blocked_countries <> '[]'`)
    .execute();
}

/**
 * The hour of last_entry_at. An index of that itself would be written with every batch of every account, and PostgreSQL
 * would write each of the account's other indexes along with it; the hour changes once an hour.
 */
async function addLastEntryHour(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('accounts').addColumn('last_entry_hour', 'bigint').execute();
  await sql`update accounts set last_entry_hour = last_entry_at / 3600000`.execute(db);
  await db.schema.createIndex('accounts_last_entry').on('accounts').column('last_entry_hour').execute();
}
