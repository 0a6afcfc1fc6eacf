import type { ColumnDefinitionBuilder, Kysely } from 'kysely';
import { index } from './initial-schema.ts';

const required = (column: ColumnDefinitionBuilder): ColumnDefinitionBuilder => column.notNull();

/**
 * Adds what bounds the book: error messages outside the ledger, which are removed after a time; the times of changes
 * that an account may make only so often; and the reason of a failed delivery.
 */
export async function boundRecords(db: Kysely<unknown>): Promise<void> {
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
