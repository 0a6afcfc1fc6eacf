import type { Kysely } from 'kysely';
import { chunks } from './many-rows.ts';
import type { BookSchema } from './schema.ts';
import type { Store } from './store.ts';

/** Names of a key. */
export interface KeyNames {
  readonly name: string;
  /** The person whose key it is; null: it is the account's. */
  readonly member: { readonly id: number; readonly name: string } | null;
}

/** Finds the names behind ids. */
export interface BookNames {
  /** Names of keys and their persons, by key id, including inactive keys; unknown ids are omitted. */
  namesOfKeys(ids: readonly number[]): Promise<ReadonlyMap<number, KeyNames>>;
}

export function nameQueries({ db }: Store): BookNames {
  return { namesOfKeys: (ids) => namesOfKeys(db, ids) };
}

export async function namesOfKeys(
  db: Kysely<BookSchema>,
  ids: readonly number[],
): Promise<Map<number, KeyNames>> {
  const found = new Map<number, KeyNames>();
  for (const chunk of chunks([...new Set(ids)])) {
    const rows = await db
      .selectFrom('keys')
      .leftJoin('persons', 'persons.id', 'keys.person_id')
      .select(['keys.id', 'keys.name', 'keys.person_id', 'persons.name as person_name'])
      .where('keys.id', 'in', chunk)
      .execute();
    for (const { id, name, person_id, person_name } of rows) {
      const member = person_id === null ? null : { id: person_id, name: person_name ?? '' };
      found.set(id, { name, member });
    }
  }
  return found;
}
