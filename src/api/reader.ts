import type { JudgedKey } from '../domain/rules.ts';
import { keyNotFound } from './key-path.ts';
import { integerParam, type Query } from './query.ts';

/** Who reads the entries and sums of an account (specification section 2, "What a key sees"). */
export interface Reader {
  readonly accountId: number;
  /** The one key that is seen, without any balance; undefined: all of the account. */
  readonly onlyKeyId: number | undefined;
}

/** A key that cannot manage sees itself only. */
export function readerOf({ id, accountId, canManage }: JudgedKey): Reader {
  return { accountId, onlyKeyId: canManage ? undefined : id };
}

/** The key that a query is about: its `key_id`, else the only one that is seen. Throws `key_not_found` for another's. */
export function keyAsked(query: Query, { onlyKeyId }: Reader): number | undefined {
  const asked = integerParam(query, 'key_id', { min: 1, max: Number.MAX_SAFE_INTEGER });
  if (onlyKeyId !== undefined && asked !== undefined && asked !== onlyKeyId) throw keyNotFound();
  return onlyKeyId ?? asked;
}
