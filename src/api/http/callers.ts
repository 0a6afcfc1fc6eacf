import type { FastifyRequest, onRequestAsyncHookHandler } from 'fastify';
import type { Book } from '../../book/book.ts';
import { GatewayError } from '../../domain/errors.ts';
import type { CheckedKey } from '../../domain/rules.ts';
import type { Gatekeeper } from '../../gateway/gatekeeper.ts';
import type { Pools } from '../../shares/pools.ts';
import { keyNotFound } from '../keys/keys.ts';
import { BODY_LIMIT_BYTES } from './json-routes.ts';
import { refuseUnknownParameters } from './query.ts';

/** Returns the calling key. Throws the errors of checks 1–8, then `invalid_field` for unknown query parameters. */
export async function callingKey(gatekeeper: Gatekeeper, request: FastifyRequest): Promise<CheckedKey> {
  const { key } = await gatekeeper.authorize(request);
  refuseUnknownParameters(request);
  return key;
}

/** A key that may manage. */
interface ManagingKey extends CheckedKey {
  /** True if the request uses the key's previous value, in its grace: read-only. */
  readonly isPrevious: boolean;
}

/** Returns the calling key if it may manage; else throws 403 `management_not_allowed`, before checking the query. */
export async function managingReader(gatekeeper: Gatekeeper, request: FastifyRequest): Promise<ManagingKey> {
  const { key, valueEndsAt } = await gatekeeper.authorize(request);
  if (!key.canManage) {
    throw new GatewayError(
      'management_not_allowed',
      "This key can't manage keys or the account. Use a key that has can_manage set to true.",
    );
  }
  refuseUnknownParameters(request);
  return { ...key, isPrevious: valueEndsAt !== undefined };
}

/**
 * Returns the calling key if it may make changes. Throws 403 `management_not_allowed` for a key that may not manage,
 * and for the previous value of a rotated key: after a leak, another holder of that value must not keep control.
 */
export async function managingCaller(gatekeeper: Gatekeeper, request: FastifyRequest): Promise<CheckedKey> {
  const key = await managingReader(gatekeeper, request);
  if (!key.isPrevious) return key;
  throw new GatewayError(
    'management_not_allowed',
    "This is the key's previous value. Until its grace period ends, it can call models and " +
      "read, but not change anything: use the key's new value.",
  );
}

export interface WriteParts {
  readonly gatekeeper: Gatekeeper;
  readonly pools: Pick<Pools, 'writes'>;
}

/**
 * Hook that refuses callers before their body is read, so that strangers cannot make the gateway parse it and learn
 * nothing from its errors: those whom `check` refuses, by default those who may not make changes. The others wait until
 * their account has a place among the writes under way. The handler authorizes again, because a key may be revoked
 * while its request waits, or its body comes slowly.
 */
export function beforeTheBody(
  { gatekeeper, pools }: WriteParts,
  check: typeof managingCaller | typeof managingReader = managingCaller,
): onRequestAsyncHookHandler {
  return async (request, reply) => {
    const { accountId } = await check(gatekeeper, request);
    const share = await pools.writes.acquire(accountId, bodyBytes(request));
    if (reply.raw.closed) share.release();
    else reply.raw.once('close', () => share.release());
  };
}

/** Maximum memory for reading a body, in bytes. */
function bodyBytes({ headers }: FastifyRequest): number {
  if (headers['transfer-encoding'] !== undefined) return BODY_LIMIT_BYTES;
  return Math.min(Number(headers['content-length'] ?? 0), BODY_LIMIT_BYTES);
}

/**
 * Read scope for entries and sums: a whole account, or one of its keys (specification section 2, "What a key sees").
 */
export interface Reader {
  readonly accountId: number;
  /** The only readable key, without balances; undefined for the whole account. */
  readonly onlyKeyId: number | undefined;
  /** Whom the answer's share of pools counts for: the account, or `OPERATOR`. */
  readonly owner: number;
}

/** Scope of a calling key: its account if it can manage, else only itself. */
export function readerOf({ id, accountId, canManage }: CheckedKey): Reader {
  return { accountId, onlyKeyId: canManage ? undefined : id, owner: accountId };
}

/**
 * Resolves the key of a query: the one `asked` for, else the only key that the reader may see, else undefined for all keys.
 * Rejects with `key_not_found` for a key that the reader may not see or the account doesn't have.
 */
export async function keyAsked(
  book: Pick<Book, 'key'>,
  asked: number | undefined,
  { accountId, onlyKeyId }: Reader,
): Promise<number | undefined> {
  if (asked === undefined || asked === onlyKeyId) return onlyKeyId;
  if (onlyKeyId !== undefined || !(await book.key(accountId, asked))) throw keyNotFound();
  return asked;
}
