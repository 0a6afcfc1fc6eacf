import type { Kysely } from 'kysely';
import type { AccountRecord, KeyRecord } from '../domain/key.ts';
import { accountRecord } from './accounts.ts';
import { keyRecord } from './key-row.ts';
import { chunks, valueRows } from './many-rows.ts';
import type { BookSchema } from './schema.ts';
import type { Store } from './store.ts';

/** Tracks the key and account versions that Redis holds. */
export interface BookPublication {
  /**
   * Keys and accounts whose last change is not confirmed as published to Redis, of each at most `limit` with ids above
   * `after`, by id ascending.
   */
  unpublished(
    limit: number,
    after?: { readonly key: number; readonly account: number },
  ): Promise<{ keys: KeyRecord[]; accounts: AccountRecord[] }>;
  /** Keys and accounts changed, or first published in this version, at or after `since`. */
  changedSince(since: number): Promise<{ keys: KeyRecord[]; accounts: AccountRecord[] }>;
  /** Records that Redis holds these versions, since `now`. Never lowers a version. */
  published(
    what: {
      keys?: readonly { id: number; version: number }[];
      accounts?: readonly { id: number; version: number }[];
    },
    now: number,
  ): Promise<void>;
}

interface Noted {
  readonly id: number;
  readonly version: number;
}

export function publicationQueries(store: Store): BookPublication {
  const { db } = store;
  return {
    async unpublished(limit, after = { key: 0, account: 0 }) {
      const keys = await db
        .selectFrom('keys')
        .selectAll()
        .whereRef('published_version', '<', 'version')
        .where('id', '>', after.key)
        .orderBy('id')
        .limit(limit)
        .execute();
      const accounts = await db
        .selectFrom('accounts')
        .selectAll()
        .whereRef('published_version', '<', 'version')
        .where('id', '>', after.account)
        .orderBy('id')
        .limit(limit)
        .execute();
      return { keys: keys.map(keyRecord), accounts: accounts.map(accountRecord) };
    },

    async changedSince(since) {
      const keys = await db.selectFrom('keys').selectAll().where('updated_at', '>=', since).execute();
      const accounts = await db.selectFrom('accounts').selectAll().where('updated_at', '>=', since).execute();
      return { keys: keys.map(keyRecord), accounts: accounts.map(accountRecord) };
    },

    published: ({ keys = [], accounts = [] }, now) =>
      // In a transaction, which retries after a deadlock: another gateway may update these rows in another order.
      store.transaction(async (trx) => {
        for (const chunk of chunks(newest(keys))) await note(trx, 'keys', chunk, now);
        for (const chunk of chunks(newest(accounts))) await note(trx, 'accounts', chunk, now);
      }),
  };
}

/** The highest version per id: an update with several values for a row would use any of them. */
function newest(noted: readonly Noted[]): Noted[] {
  const byId = new Map<number, Noted>();
  for (const one of noted) {
    if (one.version > (byId.get(one.id)?.version ?? 0)) byId.set(one.id, one);
  }
  return [...byId.values()];
}

async function note(
  db: Kysely<BookSchema>,
  table: 'keys' | 'accounts',
  noted: readonly Noted[],
  now: number,
): Promise<void> {
  await db
    .with('noted(id, version)', () => valueRows<Noted>(noted.map(({ id, version }) => [id, version])))
    .updateTable(table)
    .from('noted')
    // A record committed long before its publication counts as changed now: only now can a Redis lose it.
    .set((eb) => ({ published_version: eb.ref('noted.version'), updated_at: now }))
    .whereRef(`${table}.id`, '=', 'noted.id')
    .whereRef(`${table}.published_version`, '<', 'noted.version')
    .execute();
}
