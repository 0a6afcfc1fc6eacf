import { randomBytes } from 'node:crypto';
import { type Kysely, sql } from 'kysely';

const SECRET_BYTES = 32;

/**
 * Gives each object of an upstream to one account: the one that got its id first. Adds the secret that decides which
 * conversation has which target.
 */
export async function addOwners(db: Kysely<unknown>): Promise<void> {
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
  const secret = randomBytes(SECRET_BYTES).toString('base64url');
  await sql`update identity set secret = ${secret}`.execute(db);
}
