import { randomBytes } from 'node:crypto';
import {
  type ColumnDefinitionBuilder,
  type CreateTableBuilder,
  type Kysely,
  type RawBuilder,
  type SqlBool,
  sql,
} from 'kysely';
import type { Engine } from './schema.ts';

/** Creates the tables and indexes of 0.2.0, the first release (schema.ts). migrations.ts has what came later. */
export async function createSchema(db: Kysely<unknown>, engine: Engine): Promise<void> {
  await createIdentity(db);
  await createAccounts(db, engine);
  await createKeys(db, engine);
  await createGrants(db);
  await createLedger(db);
  await createRefusals(db, engine);
  await createSpendSums(db, engine);
  await createAlerts(db, engine);
  await createResources(db);
}

const required = (column: ColumnDefinitionBuilder): ColumnDefinitionBuilder => column.notNull();
const startsAt = (value: number) => (column: ColumnDefinitionBuilder) => column.notNull().defaultTo(value);
const ofAccount = (column: ColumnDefinitionBuilder): ColumnDefinitionBuilder =>
  column.notNull().references('accounts.id');

/** Auto-incremented integer key, never reused. */
export function withId<TB extends string, Name extends string = 'id'>(
  table: CreateTableBuilder<TB>,
  engine: Engine,
  name = 'id' as Name,
): CreateTableBuilder<TB, Name> {
  return engine === 'sqlite'
    ? table.addColumn(name, 'integer', (column) => column.primaryKey().autoIncrement())
    : table.addColumn(name, 'bigint', (column) => column.primaryKey().generatedAlwaysAsIdentity());
}

/** Creates an index, of rows matching `where` if given. */
export async function index(
  db: Kysely<unknown>,
  name: string,
  table: string,
  columns: readonly string[],
  where?: RawBuilder<SqlBool>,
): Promise<void> {
  const all = db.schema
    .createIndex(name)
    .on(table)
    .columns([...columns]);
  await (where === undefined ? all : all.where(where)).execute();
}

/** Table of the book's id, which distinguishes it from every other book (Book.id). */
async function createIdentity(db: Kysely<unknown>): Promise<void> {
  await db.schema.createTable('identity').addColumn('id', 'text', required).execute();
  await sql`insert into identity (id) values (${newBookId()})`.execute(db);
}

export function newBookId(): string {
  return randomBytes(6).toString('base64url');
}

/**
 * `last_entry_hour` repeats `last_entry_at` for an index. Every batch would change an index on the time itself, and
 * PostgreSQL would rewrite the account's other indexes with it; the hour changes once an hour.
 */
async function createAccounts(db: Kysely<unknown>, engine: Engine): Promise<void> {
  await withId(db.schema.createTable('accounts'), engine)
    .addColumn('email', 'text', required)
    .addColumn('email_key', 'text', (column) => column.notNull().unique())
    .addColumn('alert_threshold', 'bigint', required)
    .addColumn('overdraft', 'bigint', startsAt(0))
    .addColumn('rpm_limit', 'bigint')
    .addColumn('tpm_limit', 'bigint')
    .addColumn('max_parallel_requests', 'bigint')
    .addColumn('is_active', 'integer', required)
    .addColumn('webhook_secret', 'text', required)
    .addColumn('balance', 'bigint', startsAt(0))
    .addColumn('seq', 'bigint', startsAt(0))
    .addColumn('epoch', 'bigint', startsAt(0))
    .addColumn('version', 'bigint', startsAt(1))
    .addColumn('published_version', 'bigint', startsAt(0))
    .addColumn('last_entry_at', 'bigint')
    .addColumn('last_entry_hour', 'bigint')
    .addColumn('created_at', 'bigint', required)
    .addColumn('updated_at', 'bigint', required)
    .execute();
  await index(db, 'accounts_unpublished', 'accounts', ['id'], sql<SqlBool>`published_version < version`);
  await index(db, 'accounts_updated', 'accounts', ['updated_at']);
  await index(db, 'accounts_last_entry', 'accounts', ['last_entry_hour']);
}

/** The index by account includes the size of the settings, so summing them reads no rows. */
async function createKeys(db: Kysely<unknown>, engine: Engine): Promise<void> {
  await withId(db.schema.createTable('keys'), engine)
    .addColumn('account_id', 'bigint', ofAccount)
    .addColumn('hash', 'text', (column) => column.notNull().unique())
    .addColumn('prefix', 'text', required)
    .addColumn('previous_hash', 'text')
    .addColumn('previous_valid_until', 'bigint')
    .addColumn('name', 'text', required)
    .addColumn('description', 'text', required)
    .addColumn('is_active', 'integer', required)
    .addColumn('can_manage', 'integer', required)
    .addColumn('expires_at', 'bigint')
    .addColumn('allowed_models', 'text', required)
    .addColumn('allowed_categories', 'text', required)
    .addColumn('spending_limit', 'bigint')
    .addColumn('spending_period', 'text', required)
    .addColumn('rpm_limit', 'bigint')
    .addColumn('tpm_limit', 'bigint')
    .addColumn('max_parallel_requests', 'bigint')
    .addColumn('active_hours', 'text', required)
    .addColumn('allowed_ips', 'text', required)
    .addColumn('allowed_origins', 'text', required)
    .addColumn('blocked_countries', 'text', required)
    .addColumn('webhook_url', 'text', required)
    .addColumn('bytes', 'bigint', required)
    .addColumn('version', 'bigint', startsAt(1))
    .addColumn('published_version', 'bigint', startsAt(0))
    .addColumn('created_at', 'bigint', required)
    .addColumn('updated_at', 'bigint', required)
    .execute();
  await index(db, 'keys_account', 'keys', ['account_id', 'id', 'bytes']);
  await db.schema.createIndex('keys_previous').on('keys').column('previous_hash').unique().execute();
  await index(db, 'keys_unpublished', 'keys', ['id'], sql<SqlBool>`published_version < version`);
  await index(db, 'keys_updated', 'keys', ['updated_at']);
  await index(
    db,
    'keys_country_rule',
    'keys',
    ['id'],
    sql<SqlBool>`is_active = 1 and blocked_countries <> '[]'`,
  );
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
  await index(db, 'grants_pending', 'grants', ['created_at'], sql<SqlBool>`state = 'pending'`);
}

/**
 * `key_id` is no foreign key: spend must reach the ledger even if a restored book lacks the key. Without an index,
 * listing one model or type would read an account's whole ledger; non-charges are few, so their index is small. Each
 * filter of the list of calls has an index in list order; few calls fail, so those indexes are small, too.
 */
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
    .addColumn('call', 'text')
    .addColumn('started_at', 'bigint')
    .addColumn('code', 'text')
    .addColumn('upstream', 'text')
    .addPrimaryKeyConstraint('ledger_pkey', ['account_id', 'seq'])
    .execute();
  await index(db, 'ledger_key', 'ledger', ['account_id', 'key_id', 'seq']);
  await index(db, 'ledger_model', 'ledger', ['account_id', 'model', 'seq']);
  await index(db, 'ledger_type', 'ledger', ['account_id', 'type', 'seq'], sql<SqlBool>`type <> 'charge'`);
  const add = (name: string, columns: readonly string[], where?: RawBuilder<SqlBool>) =>
    index(db, `ledger_calls${name}`, 'ledger', [...columns, 'started_at'], where);
  await add('', ['account_id']);
  await add('_of_key', ['account_id', 'key_id']);
  await add('_of_model', ['account_id', 'model']);
  await add('_of_endpoint', ['account_id', 'endpoint']);
  await add('_of_all', []);
  await add('_of_upstream', ['upstream']);
  const failed = sql<SqlBool>`outcome is null or outcome <> 'complete'`;
  await add('_failed', ['account_id'], failed);
  await add('_failed_of_all', [], failed);
  await add('_by_code', ['account_id', 'code'], sql<SqlBool>`code is not null`);
}

/**
 * `n` increments, so removing the oldest rows and bounding their number needs no count. `is_rest`: the one entry for
 * all calls of a key, code and minute beyond the first ones.
 */
async function createRefusals(db: Kysely<unknown>, engine: Engine): Promise<void> {
  await withId(db.schema.createTable('refusals'), engine, 'n')
    .addColumn('id', 'text', (column) => column.notNull().unique())
    .addColumn('account_id', 'bigint', required)
    .addColumn('key_id', 'bigint', required)
    .addColumn('created_at', 'bigint', required)
    .addColumn('minute', 'bigint', required)
    .addColumn('is_rest', 'integer', required)
    .addColumn('repeated', 'bigint', required)
    .addColumn('model', 'text')
    .addColumn('category', 'text')
    .addColumn('endpoint', 'text', required)
    .addColumn('streamed', 'integer')
    .addColumn('status', 'integer', required)
    .addColumn('code', 'text', required)
    .addColumn('told', 'text', required)
    .execute();
  const add = (name: string, columns: string[]) => index(db, `refusals_${name}`, 'refusals', columns);
  await add('account', ['account_id', 'created_at']);
  await add('key', ['account_id', 'key_id', 'created_at']);
  await add('code', ['account_id', 'code', 'created_at']);
  await add('model', ['account_id', 'model', 'created_at']);
  await add('endpoint', ['account_id', 'endpoint', 'created_at']);
  await add('all', ['created_at']);
  await add('minute', ['key_id', 'code', 'minute', 'is_rest']);
  const rest = db.schema.createIndex('refusals_rest').on('refusals').columns(['key_id', 'code', 'minute']);
  await rest.unique().where(sql<SqlBool>`is_rest = 1`).execute();
}

const SUMS = [
  'calls',
  'failed',
  'refused',
  'credits',
  'input',
  'output',
  'cached_input',
  'cache_write',
  'characters',
  'images',
  'audio_seconds',
  'video_seconds',
  'cache_write_1h',
  'input_audio',
  'cached_input_audio',
  'output_audio',
  'input_image',
  'cached_input_image',
  'output_image',
  'web_searches',
  'web_search_previews',
  'cost',
  'costed',
];

/**
 * Sums by key, model, upstream and day, and by hour, with at most a row per call and mostly far fewer. Two smaller
 * tables: with 100 keys and 3 models, summing a year from spend_days took 250 to 500 ms (110,000 rows, on SQLite's one
 * thread), and more for each further key.
 */
async function createSpendSums(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const create = (name: string, place: readonly string[], options: { inKeyOrder: boolean }) => {
    let table: CreateTableBuilder<string, string> = db.schema.createTable(name);
    for (const column of place) {
      const type =
        column === 'model' || column === 'upstream'
          ? 'text'
          : ['day', 'hour', 'month'].includes(column)
            ? 'integer'
            : 'bigint';
      table = table.addColumn(column, type, column === 'account_id' ? ofAccount : required);
    }
    for (const column of SUMS) {
      const type = column.endsWith('_seconds') ? 'double precision' : 'bigint';
      table = table.addColumn(column, type, startsAt(0));
    }
    // Makes SQLite store the rows in key order, so a time range occupies adjacent pages.
    if (options.inKeyOrder && engine === 'sqlite') table = table.modifyEnd(sql`without rowid`);
    return table.addPrimaryKeyConstraint(`${name}_place`, [...place]).execute();
  };
  await create('spend_days', ['account_id', 'key_id', 'model', 'day', 'upstream'], { inKeyOrder: false });
  await index(db, 'spend_days_by_day', 'spend_days', ['account_id', 'day']);
  await create('spend_hours', ['account_id', 'hour', 'key_id', 'model', 'upstream'], { inKeyOrder: true });
  await create('spend_model_days', ['account_id', 'day', 'model', 'upstream'], { inKeyOrder: true });
  await create('spend_key_months', ['account_id', 'month', 'key_id'], { inKeyOrder: true });
}

/** Partial indexes find each account's next alert, and its latest tests, without reading its other alerts. */
async function createAlerts(db: Kysely<unknown>, engine: Engine): Promise<void> {
  await withId(db.schema.createTable('alerts'), engine)
    .addColumn('account_id', 'bigint', ofAccount)
    .addColumn('entry_id', 'text', (column) => column.unique())
    .addColumn('created_at', 'bigint', required)
    .addColumn('credits_balance', 'bigint', required)
    .addColumn('test', 'integer', required)
    .addColumn('key_id', 'bigint')
    .addColumn('state', 'text', required)
    .addColumn('claimed_at', 'bigint')
    .execute();
  await index(db, 'alerts_account', 'alerts', ['account_id', 'id']);
  await index(db, 'alerts_queued', 'alerts', ['id'], sql<SqlBool>`state = 'queued'`);
  await index(db, 'alerts_due', 'alerts', ['account_id', 'test', 'id'], sql<SqlBool>`state = 'queued'`);
  await index(db, 'alerts_tests', 'alerts', ['account_id', 'created_at'], sql<SqlBool>`test = 1`);
  await withId(db.schema.createTable('deliveries'), engine)
    .addColumn('alert_id', 'bigint', (column) => column.notNull().references('alerts.id'))
    .addColumn('key_id', 'bigint', required)
    .addColumn('url', 'text', required)
    .addColumn('status', 'text', required)
    .addColumn('http_status', 'integer')
    .addColumn('duration_ms', 'bigint')
    .addColumn('attempted_at', 'bigint', required)
    .execute();
  await index(db, 'deliveries_alert', 'deliveries', ['alert_id']);
}

/**
 * The primary key starts with the account, because two upstreams, or one that counts from 1, may reuse an id. Jobs are
 * found by id alone. A deleted resource keeps its row, so a late charge can't bring it back.
 */
async function createResources(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('resources')
    .addColumn('account_id', 'bigint', ofAccount)
    .addColumn('upstream', 'text', required)
    .addColumn('id', 'text', required)
    .addColumn('kind', 'text', required)
    .addColumn('key_id', 'bigint', required)
    .addColumn('model', 'text', required)
    .addColumn('tokens', 'bigint')
    .addColumn('created_at', 'bigint', required)
    .addColumn('charge_id', 'text', required)
    .addColumn('deleted_at', 'bigint')
    .addPrimaryKeyConstraint('resources_pkey', ['account_id', 'upstream', 'id'])
    .execute();
  await index(db, 'resources_by_id', 'resources', ['account_id', 'id']);
}
