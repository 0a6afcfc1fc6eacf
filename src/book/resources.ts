import type { Insertable, Selectable } from 'kysely';
import type { JournalEntry, ResourceIds } from '../domain/ledger-entry.ts';
import type { ResourcesTable } from './schema.ts';
import type { Store, Trx } from './store.ts';

/**
 * An object that a provider stores for a call. It belongs to the account that first made a call that got it
 * (specification section 4).
 */
export interface ProviderResource {
  readonly accountId: number;
  /** Upstream name in the configuration; ids are unique only within one. */
  readonly upstream: string;
  readonly id: string;
  /** The endpoint's term, such as `response`. */
  readonly kind: string;
  readonly keyId: number;
  readonly model: string;
  /** Further tokens that a call which names it reads, if known. */
  readonly tokens: number | null;
  readonly createdAt: number;
  /** Ledger id of the call that created it. */
  readonly chargeId: string;
}

/** Tracks the owners of provider resources. */
export interface BookResources {
  /**
   * Resources among these ids at the upstreams that the account owns, unordered; others are omitted, like unknown ones.
   */
  resources(
    accountId: number,
    upstreams: readonly string[],
    ids: readonly string[],
  ): Promise<ProviderResource[]>;
  /** The account's resource of that kind and id; the newest, if two upstreams share the id. */
  resource(accountId: number, kind: string, id: string): Promise<ProviderResource | undefined>;
  /** Ends the ownership for good, after the provider has deleted the resource. */
  releaseResource(
    resource: Pick<ProviderResource, 'accountId' | 'upstream' | 'id'>,
    now: number,
  ): Promise<void>;
}

/** Rows per statement, at ten parameters each: below the limit of either engine. */
const MAX_ROWS = 500;

export function resourceQueries({ db }: Store): BookResources {
  return {
    async resources(accountId, upstreams, ids) {
      const found = [];
      for (let from = 0; from < ids.length; from += MAX_ROWS) {
        const rows = await db
          .selectFrom('resources')
          .selectAll()
          .where('account_id', '=', accountId)
          .where('upstream', 'in', upstreams)
          .where('id', 'in', ids.slice(from, from + MAX_ROWS))
          .where('deleted_at', 'is', null)
          .execute();
        found.push(...rows.map(providerResource));
      }
      return found;
    },

    async resource(accountId, kind, id) {
      const row = await db
        .selectFrom('resources')
        .selectAll()
        .where('account_id', '=', accountId)
        .where('id', '=', id)
        .where('kind', '=', kind)
        .where('deleted_at', 'is', null)
        .orderBy('created_at', 'desc')
        .limit(1)
        .executeTakeFirst();
      return row && providerResource(row);
    },

    async releaseResource({ accountId, upstream, id }, now) {
      await db
        .updateTable('resources')
        .set({ deleted_at: now })
        .where('account_id', '=', accountId)
        .where('upstream', '=', upstream)
        .where('id', '=', id)
        .execute();
    },
  };
}

/**
 * Records the jobs and ids in journal entries. Existing rows are unchanged, so deleted resources stay deleted, and an id
 * that another account has at the upstream stays with that account.
 */
export async function recordResources(trx: Trx, posted: readonly JournalEntry[]): Promise<void> {
  const resources = posted.flatMap(
    ({ id, job, storedIds, accountId, keyId, model, createdAt }): ProviderResource[] => {
      if (keyId === null || model === null) return [];
      const owner = { accountId, keyId, model, createdAt, chargeId: id };
      return [
        ...(job ? [{ ...job, ...owner, tokens: null }] : []),
        ...(storedIds ? resourcesOf(storedIds, owner) : []),
      ];
    },
  );
  for (let from = 0; from < resources.length; from += MAX_ROWS) {
    await trx
      .insertInto('resources')
      .values(resources.slice(from, from + MAX_ROWS).map(resourceRow))
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
}

/** Rows for the ids of an answer: the first id is the answer's, the others those of its parts. */
function resourcesOf(
  { upstream, kind, ids, tokens }: ResourceIds,
  owner: Pick<ProviderResource, 'accountId' | 'keyId' | 'model' | 'createdAt' | 'chargeId'>,
): ProviderResource[] {
  return ids.map((id, index) => ({
    ...owner,
    upstream,
    id,
    kind,
    tokens: tokens ? tokens[index === 0 ? 0 : 1] : null,
  }));
}

function resourceRow(resource: ProviderResource): Insertable<ResourcesTable> {
  return {
    account_id: resource.accountId,
    upstream: resource.upstream,
    id: resource.id,
    kind: resource.kind,
    key_id: resource.keyId,
    model: resource.model,
    tokens: resource.tokens,
    created_at: resource.createdAt,
    charge_id: resource.chargeId,
    deleted_at: null,
  };
}

function providerResource(row: Selectable<ResourcesTable>): ProviderResource {
  return {
    accountId: row.account_id,
    upstream: row.upstream,
    id: row.id,
    kind: row.kind,
    keyId: row.key_id,
    model: row.model,
    tokens: row.tokens,
    createdAt: row.created_at,
    chargeId: row.charge_id,
  };
}
