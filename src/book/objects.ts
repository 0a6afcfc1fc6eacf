import type { Insertable, Selectable } from 'kysely';
import type { JournalEntry, Kept } from '../domain/ledger-entry.ts';
import type { Book, StoredObject } from './book.ts';
import type { ObjectsTable } from './schema.ts';
import type { Store, Trx } from './store.ts';

/** Rows of a statement, at ten parameters each: below the limit of either engine. */
const MAX_ROWS = 500;

type Objects = Pick<Book, 'objects' | 'object' | 'forgetObject'>;

export function objectQueries({ db }: Store): Objects {
  return {
    async objects(accountId, upstream, ids) {
      const found = [];
      for (let from = 0; from < ids.length; from += MAX_ROWS) {
        const rows = await db
          .selectFrom('objects')
          .selectAll()
          .where('account_id', '=', accountId)
          .where('upstream', '=', upstream)
          .where('id', 'in', ids.slice(from, from + MAX_ROWS))
          .where('deleted_at', 'is', null)
          .execute();
        found.push(...rows.map(storedObject));
      }
      return found;
    },

    async object(accountId, kind, id) {
      const row = await db
        .selectFrom('objects')
        .selectAll()
        .where('account_id', '=', accountId)
        .where('id', '=', id)
        .where('kind', '=', kind)
        .where('deleted_at', 'is', null)
        .orderBy('created_at', 'desc')
        .limit(1)
        .executeTakeFirst();
      return row && storedObject(row);
    },

    async forgetObject({ accountId, upstream, id }, now) {
      await db
        .updateTable('objects')
        .set({ deleted_at: now })
        .where('account_id', '=', accountId)
        .where('upstream', '=', upstream)
        .where('id', '=', id)
        .execute();
    },
  };
}

/** What entries of the journal carry. A row that is there stays as it is: what was deleted stays deleted. */
export async function noteObjects(trx: Trx, posted: readonly JournalEntry[]): Promise<void> {
  const objects = posted.flatMap(({ id, job, kept, accountId, keyId, model, createdAt }): StoredObject[] => {
    if (keyId === null || model === null) return [];
    const owner = { accountId, keyId, model, createdAt, chargeId: id };
    return [...(job ? [{ ...job, ...owner, tokens: null }] : []), ...(kept ? keptObjects(kept, owner) : [])];
  });
  await insertObjects(trx, objects);
}

/** What is kept of an answer, as the book has it. */
function keptObjects(
  { upstream, kind, ids, tokens }: Kept,
  owner: Pick<StoredObject, 'accountId' | 'keyId' | 'model' | 'createdAt' | 'chargeId'>,
): StoredObject[] {
  return ids.map((id, index) => ({
    ...owner,
    upstream,
    id,
    kind,
    tokens: tokens ? tokens[index === 0 ? 0 : 1] : null,
  }));
}

async function insertObjects(db: Store['db'], objects: readonly StoredObject[]): Promise<void> {
  for (let from = 0; from < objects.length; from += MAX_ROWS) {
    await db
      .insertInto('objects')
      .values(objects.slice(from, from + MAX_ROWS).map(objectRow))
      .onConflict((conflict) => conflict.columns(['account_id', 'upstream', 'id']).doNothing())
      .execute();
  }
}

function objectRow(object: StoredObject): Insertable<ObjectsTable> {
  return {
    account_id: object.accountId,
    upstream: object.upstream,
    id: object.id,
    kind: object.kind,
    key_id: object.keyId,
    model: object.model,
    tokens: object.tokens,
    created_at: object.createdAt,
    charge_id: object.chargeId ?? null,
    deleted_at: null,
  };
}

function storedObject(row: Selectable<ObjectsTable>): StoredObject {
  return {
    accountId: row.account_id,
    upstream: row.upstream,
    id: row.id,
    kind: row.kind,
    keyId: row.key_id,
    model: row.model,
    tokens: row.tokens,
    createdAt: row.created_at,
    ...(row.charge_id !== null && { chargeId: row.charge_id }),
  };
}
