import type { ColumnDefinitionBuilder, Kysely } from 'kysely';
import { index, withId } from './initial-schema.ts';
import type { Engine } from './schema.ts';

const required = (column: ColumnDefinitionBuilder): ColumnDefinitionBuilder => column.notNull();
const startsAt = (value: number) => (column: ColumnDefinitionBuilder) => column.notNull().defaultTo(value);
const unique = (column: ColumnDefinitionBuilder): ColumnDefinitionBuilder => column.notNull().unique();
const of = (table: string) => (column: ColumnDefinitionBuilder) => column.notNull().references(`${table}.id`);

/** Adds people with their memberships, ways to sign in and sessions, and the audit log (schema.ts). */
export async function addPeople(db: Kysely<unknown>, engine: Engine): Promise<void> {
  await db.schema.alterTable('accounts').addColumn('name', 'text').execute();
  await db.schema.alterTable('keys').addColumn('restrictions_locked', 'integer', startsAt(0)).execute();
  await withId(db.schema.createTable('persons'), engine)
    .addColumn('email', 'text', required)
    .addColumn('email_key', 'text', unique)
    .addColumn('name', 'text', required)
    .addColumn('password_hash', 'text')
    .addColumn('is_operator', 'integer', required)
    .addColumn('is_active', 'integer', required)
    .addColumn('created_at', 'bigint', required)
    .addColumn('last_seen_at', 'bigint')
    .execute();
  await withId(db.schema.createTable('identities'), engine)
    .addColumn('person_id', 'bigint', of('persons'))
    .addColumn('issuer', 'text', required)
    .addColumn('subject', 'text', required)
    .addColumn('email', 'text')
    .addColumn('created_at', 'bigint', required)
    .addUniqueConstraint('identities_subject', ['issuer', 'subject'])
    .execute();
  await withId(db.schema.createTable('memberships'), engine)
    .addColumn('account_id', 'bigint', of('accounts'))
    .addColumn('person_id', 'bigint', of('persons'))
    .addColumn('role', 'text', required)
    .addColumn('is_active', 'integer', required)
    .addColumn('can_create_keys', 'integer', required)
    .addColumn('spending_limits', 'text', required)
    .addColumn('issuer', 'text')
    .addColumn('created_at', 'bigint', required)
    .addUniqueConstraint('memberships_person', ['account_id', 'person_id'])
    .execute();
  await index(db, 'memberships_by_person', 'memberships', ['person_id']);
  await withId(db.schema.createTable('invitations'), engine)
    .addColumn('account_id', 'bigint', of('accounts'))
    .addColumn('role', 'text', required)
    .addColumn('email', 'text')
    .addColumn('name', 'text')
    .addColumn('can_create_keys', 'integer', required)
    .addColumn('spending_limits', 'text', required)
    .addColumn('secret_hash', 'text', unique)
    .addColumn('created_at', 'bigint', required)
    .addColumn('expires_at', 'bigint', required)
    .addColumn('ended_at', 'bigint')
    .execute();
  await index(db, 'invitations_by_account', 'invitations', ['account_id']);
  await withId(db.schema.createTable('sessions'), engine)
    .addColumn('secret_hash', 'text', unique)
    .addColumn('person_id', 'bigint', (column) => column.references('persons.id'))
    .addColumn('key_id', 'bigint', (column) => column.references('keys.id'))
    .addColumn('credential_hash', 'text')
    .addColumn('created_at', 'bigint', required)
    .addColumn('seen_at', 'bigint', required)
    .addColumn('ip', 'text')
    .addColumn('user_agent', 'text')
    .execute();
  await index(db, 'sessions_by_person', 'sessions', ['person_id']);
  await index(db, 'sessions_by_key', 'sessions', ['key_id']);
  await db.schema
    .createTable('one_time_links')
    .addColumn('secret_hash', 'text', (column) => column.primaryKey())
    .addColumn('kind', 'text', required)
    .addColumn('person_id', 'bigint')
    .addColumn('email', 'text')
    .addColumn('expires_at', 'bigint', required)
    .execute();
  await db.schema
    .createTable('known_addresses')
    .addColumn('person_id', 'bigint', of('persons'))
    .addColumn('ip', 'text', required)
    .addColumn('seen_at', 'bigint', required)
    .addPrimaryKeyConstraint('known_addresses_pkey', ['person_id', 'ip'])
    .execute();
  await withId(db.schema.createTable('audit'), engine)
    .addColumn('at', 'bigint', required)
    .addColumn('account_id', 'bigint')
    .addColumn('actor_type', 'text', required)
    .addColumn('actor_id', 'bigint')
    .addColumn('action', 'text', required)
    .addColumn('target_type', 'text', required)
    .addColumn('target_id', 'text')
    .addColumn('before', 'text')
    .addColumn('after', 'text')
    .addColumn('ip', 'text')
    .addColumn('request_id', 'text')
    .execute();
  await index(db, 'audit_by_account', 'audit', ['account_id', 'id']);
  await index(db, 'audit_at', 'audit', ['at']);
}
