import type { FastifyRequest, onRequestAsyncHookHandler } from 'fastify';
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

/** The calling key where it may manage; else throws 403 `management_not_allowed`, before the query is looked at. */
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
 * A hook that refuses callers who may not manage before the body is read: a stranger's bytes are not worth parsing, and
 * what is wrong with them is not what a stranger is told. The handler authorises again, because a key may be revoked while
 * its body comes slowly.
 */
export function beforeTheBody(gatekeeper: Gatekeeper): onRequestAsyncHookHandler {
  return async (request) => {
    await managingCaller(gatekeeper, request);
  };
}

/** Scope of a read of entries and sums: a whole account, or one key of it (specification section 2, "What a key sees"). */
export interface Reader {
  readonly accountId: number;
  /** The one key that is seen, without any balance; undefined: all of the account. */
  readonly onlyKeyId: number | undefined;
}

/** A key that cannot manage sees itself only. */
export function readerOf({ id, accountId, canManage }: CheckedKey): Reader {
  return { accountId, onlyKeyId: canManage ? undefined : id };
}

/** The key that a query is about: its `key_id`, else the only one that is seen. Throws `key_not_found` for another's. */
export function keyAsked(query: Query, { onlyKeyId }: Reader): number | undefined {
  const asked = integerParam(query, 'key_id', { min: 1, max: Number.MAX_SAFE_INTEGER });
  if (onlyKeyId !== undefined && asked !== undefined && asked !== onlyKeyId) throw keyNotFound();
  return onlyKeyId ?? asked;
}
