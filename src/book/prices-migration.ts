import { type Kysely, sql } from 'kysely';
import type { Engine } from './schema.ts';

/** The sums that tables had before. */
const OLD_SUMS = [
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

const NEW_SUMS = [
  'cache_write_1h',
  'input_audio',
  'cached_input_audio',
  'output_audio',
  'input_image',
  'cached_input_image',
  'output_image',
  'web_searches',
  'cost',
  'costed',
] as const;

/**
 * What a call was charged at, in its ledger row, and sums of it. Columns are added without a walk over the rows in either
 * engine: absent in the ledger, 0 in the sums.
 */
export async function addPrices(db: Kysely<unknown>, engine: Engine): Promise<void> {
  await db.schema.alterTable('ledger').addColumn('call', 'text').execute();
  for (const table of ['spend_days', 'spend_key_months']) {
    for (const name of NEW_SUMS) {
      await db.schema
        .alterTable(table)
        .addColumn(name, 'bigint', (column) => column.notNull().defaultTo(0))
        .execute();
    }
  }
  await tellUpstreamsApart(db, engine);
}

/** The upstream comes into the primary key of spend_model_days, which SQLite can only do in a new table; it is "" before. */
async function tellUpstreamsApart(db: Kysely<unknown>, engine: Engine): Promise<void> {
  let table = db.schema
    .createTable('spend_upstream_days')
    .addColumn('account_id', 'bigint', (column) => column.notNull().references('accounts.id'))
    .addColumn('day', 'integer', (column) => column.notNull())
    .addColumn('model', 'text', (column) => column.notNull())
    .addColumn('upstream', 'text', (column) => column.notNull());
  for (const name of [...OLD_SUMS, ...NEW_SUMS]) {
    const type = name.endsWith('_seconds') ? 'double precision' : 'bigint';
    table = table.addColumn(name, type, (column) => column.notNull().defaultTo(0)) as typeof table;
  }
  if (engine === 'sqlite') table = table.modifyEnd(sql`without rowid`);
  await table
    .addPrimaryKeyConstraint('spend_upstream_days_place', ['account_id', 'day', 'model', 'upstream'])
    .execute();
  const columns = sql.raw(['account_id', 'day', 'model', ...OLD_SUMS].join(', '));
  await sql`insert into spend_upstream_days (${columns}, upstream)
    select ${columns}, '' from spend_model_days`.execute(db);
  await db.schema.dropTable('spend_model_days').execute();
  await db.schema.alterTable('spend_upstream_days').renameTo('spend_model_days').execute();
}
