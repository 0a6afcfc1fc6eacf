import {
  type ColumnDefinitionBuilder,
  type CreateTableBuilder,
  type Kysely,
  type RawBuilder,
  type SqlBool,
  sql,
} from 'kysely';
import { FIRST_SUMS, index, withSums } from './initial-schema.ts';
import type { Engine } from './schema.ts';

const required = (column: ColumnDefinitionBuilder): ColumnDefinitionBuilder => column.notNull();
const from0 = (column: ColumnDefinitionBuilder): ColumnDefinitionBuilder => column.notNull().defaultTo(0);

/** Adds the record of calls (specification section 14): ledger columns, refusals, their sums, and hourly sums. */
export async function addCalls(db: Kysely<unknown>, engine: Engine): Promise<void> {
  await extendLedger(db, engine);
  await indexCalls(db);
  await createRefusals(db, engine);
  for (const table of ['spend_model_days', 'spend_key_months']) {
    await db.schema.alterTable(table).addColumn('failed', 'bigint', from0).execute();
    await db.schema.alterTable(table).addColumn('refused', 'bigint', from0).execute();
  }
  await splitSumsByUpstream(db);
  await createHours(db, engine);
}

/** Adds the upstream to the daily sums' keys; earlier sums have none. */
async function splitSumsByUpstream(db: Kysely<unknown>): Promise<void> {
  const table = db.schema
    .createTable('spend_days_by_upstream')
    .addColumn('account_id', 'bigint', (column) => column.notNull().references('accounts.id'))
    .addColumn('key_id', 'bigint', required)
    .addColumn('model', 'text', required)
    .addColumn('day', 'integer', required)
    .addColumn('upstream', 'text', required);
  await withEnds(withSums(table))
    .addPrimaryKeyConstraint('spend_days_place', ['account_id', 'key_id', 'model', 'day', 'upstream'])
    .execute();
  const columns = sql.raw(['account_id', 'key_id', 'model', 'day', ...FIRST_SUMS].join(', '));
  await sql`
    insert into spend_days_by_upstream (${columns}, upstream) select ${columns}, '' from spend_days`.execute(
    db,
  );
  await db.schema.dropTable('spend_days').execute();
  await db.schema.alterTable('spend_days_by_upstream').renameTo('spend_days').execute();
  await index(db, 'spend_days_by_day', 'spend_days', ['account_id', 'day']);
}

/** Sums by hour, from this version on: at most a row per call, and mostly far fewer. */
async function createHours(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const table = db.schema
    .createTable('spend_hours')
    .addColumn('account_id', 'bigint', (column) => column.notNull().references('accounts.id'))
    .addColumn('hour', 'integer', required)
    .addColumn('key_id', 'bigint', required)
    .addColumn('model', 'text', required)
    .addColumn('upstream', 'text', required);
  const whole = withEnds(withSums(table)).addPrimaryKeyConstraint('spend_hours_place', [
    'account_id',
    'hour',
    'key_id',
    'model',
    'upstream',
  ]);
  await (engine === 'sqlite' ? whole.modifyEnd(sql`without rowid`) : whole).execute();
}

function withEnds<TB extends string, C extends string>(table: CreateTableBuilder<TB, C>) {
  return table.addColumn('failed', 'bigint', from0).addColumn('refused', 'bigint', from0);
}

/** `started_at`: time the call was received; null for entries other than calls. */
async function extendLedger(db: Kysely<unknown>, engine: Engine): Promise<void> {
  await db.schema.alterTable('ledger').addColumn('started_at', 'bigint').execute();
  await db.schema.alterTable('ledger').addColumn('code', 'text').execute();
  await db.schema.alterTable('ledger').addColumn('upstream', 'text').execute();
  const field = (name: string) =>
    engine === 'sqlite'
      ? sql`json_extract(call, ${sql.lit(`$.${name}`)})`
      : sql`(call::json ->> ${sql.lit(name)})`;
  await sql`update ledger set upstream = ${field('upstream')} where call is not null`.execute(db);
  await sql`
    update ledger set started_at = created_at - coalesce(cast(${field('durationMs')} as bigint), 0)
    where type in ('charge', 'expired_hold')`.execute(db);
}

/** Each filter of the list of calls has an index in list order. Few calls fail, so those indexes are small. */
async function indexCalls(db: Kysely<unknown>): Promise<void> {
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
  const table = db.schema.createTable('refusals');
  const counted =
    engine === 'sqlite'
      ? table.addColumn('n', 'integer', (column) => column.primaryKey().autoIncrement())
      : table.addColumn('n', 'bigint', (column) => column.primaryKey().generatedAlwaysAsIdentity());
  await counted
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
