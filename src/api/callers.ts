import type { FastifyRequest, onRequestAsyncHookHandler } from 'fastify';
import type { Book } from '../book/book.ts';
import { GatewayError } from '../domain/errors.ts';
import type { CheckedKey } from '../domain/rules.ts';
import type { Gatekeeper } from '../gateway/gatekeeper.ts';
import { keyNotFound } from './keys.ts';
import { integerParam, type Query, refuseUnknownParameters } from './query.ts';

/** The calling key. Throws the errors of checks 1–8, then `invalid_field` for a query that the route does not take. */
export async function callingKey(gatekeeper: Gatekeeper, request: FastifyRequest): Promise<CheckedKey> {
  const { key } = await gatekeeper.authorise(request);
  refuseUnknownParameters(request);
  return key;
}

/** The calling key, which may manage. Throws 403 `management_not_allowed` otherwise, before the query is checked. */
export async function managingCaller(gatekeeper: Gatekeeper, request: FastifyRequest): Promise<CheckedKey> {
  const { key } = await gatekeeper.authorise(request);
  if (!key.canManage) {
    throw new GatewayError(
      'management_not_allowed',
      'This key may not manage keys or the account. Use a key whose can_manage is true.',
    );
  }
  refuseUnknownParameters(request);
  return key;
}

/**
 * Hook that refuses callers who may not manage before their body is read, so that strangers cannot make the gateway
 * parse it and learn nothing from its errors. The handler authorises again, because a key may be revoked while its body
 * comes slowly.
 */
export function beforeTheBody(gatekeeper: Gatekeeper): onRequestAsyncHookHandler {
  return async (request) => {
    await managingCaller(gatekeeper, request);
  };
}

/**
 * Scope of a read of entries and sums: a whole account, or one key of it (specification section 2, "What a key sees").
 */
export interface Reader {
  readonly accountId: number;
  /** The only key whose entries may be read, without balances; undefined where all of the account may be read. */
  readonly onlyKeyId: number | undefined;
}

/** Scope of a calling key: its account if it can manage, else itself only. */
export function readerOf({ id, accountId, canManage }: CheckedKey): Reader {
  return { accountId, onlyKeyId: canManage ? undefined : id };
}

/**
 * The key that a query is about: its `key_id`, else the only key that the reader may see, else undefined for all keys.
 * Rejects with `key_not_found` for a key that the reader may not see, and for one that the account does not have.
 */
export async function keyAsked(
  book: Pick<Book, 'key'>,
  query: Query,
  { accountId, onlyKeyId }: Reader,
): Promise<number | undefined> {
  const asked = integerParam(query, 'key_id', { min: 1, max: Number.MAX_SAFE_INTEGER });
  if (asked === undefined || asked === onlyKeyId) return onlyKeyId;
  if (onlyKeyId !== undefined || !(await book.key(accountId, asked))) throw keyNotFound();
  return asked;
}
