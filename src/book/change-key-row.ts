import { sql, type Updateable } from 'kysely';
import { VersionConflict } from './book-keys.ts';
import type { KeyRow, KeysTable } from './schema.ts';
import type { Store, Trx } from './store.ts';

/** A key, and the version that it must be at; undefined: any. */
export interface KeyAtVersion {
  readonly accountId: number;
  readonly keyId: number;
  readonly ifVersion: number | undefined;
}

/**
 * Changes the row of a key to what `changeOf` makes of it, in one transaction with the row locked; its version grows by one,
 * unless every column has that value already (then nothing is written) or `changeOf` says which version it keeps.
 * Resolves with the row before and after; undefined: the account has no such key. Throws VersionConflict, and what `check`
 * throws of the rows before and after; then nothing is changed.
 */
export function changeKeyRow(
  store: Store,
  { accountId, keyId, ifVersion }: KeyAtVersion,
  now: number,
  changeOf: (row: KeyRow) => Updateable<KeysTable> | undefined,
  check?: (trx: Trx, before: KeyRow, after: KeyRow) => Promise<void>,
): Promise<{ readonly before: KeyRow; readonly after: KeyRow } | undefined> {
  return store.transaction(async (trx) => {
    const found = trx
      .selectFrom('keys')
      .selectAll()
      .where('id', '=', keyId)
      .where('account_id', '=', accountId);
    const before = await store.lock(found).executeTakeFirst();
    if (!before) return undefined;
    if (ifVersion !== undefined && before.version !== ifVersion) throw new VersionConflict(before.version);
    const change = changeOf(before);
    if (!change) return undefined;
    if (isAlready(before, change)) return { before, after: before };
    const after = await trx
      .updateTable('keys')
      .set({ version: sql<number>`version + 1`, updated_at: now, ...change })
      .where('id', '=', keyId)
      .returningAll()
      .executeTakeFirstOrThrow();
    await check?.(trx, before, after);
    return { before, after };
  });
}

function isAlready(row: KeyRow, change: Updateable<KeysTable>): boolean {
  return Object.entries(change).every(([column, value]) => row[column as keyof KeyRow] === value);
}
