import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest, onRequestAsyncHookHandler } from 'fastify';
import type { Book } from '../../book/book.ts';
import { GatewayError } from '../../domain/errors.ts';
import type { CheckedKey } from '../../domain/rules.ts';
import type { Gatekeeper } from '../../gateway/gatekeeper.ts';
import type { Pools } from '../../shares/pools.ts';
import { keyNotFound } from '../keys/keys.ts';
import { BODY_LIMIT_BYTES } from './json-routes.ts';
import { integerParam, type Query, refuseUnknownParameters } from './query.ts';

/** The calling key. Throws the errors of checks 1–8, then `invalid_field` for a query that the route does not take. */
export async function callingKey(gatekeeper: Gatekeeper, request: FastifyRequest): Promise<CheckedKey> {
  const { key } = await gatekeeper.authorize(request);
  refuseUnknownParameters(request);
  return key;
}

/** A key that may manage. */
interface ManagingKey extends CheckedKey {
  /** Whether the presented value is the key's previous one, in its grace: it reads, and changes nothing. */
  readonly isPrevious: boolean;
}

/** The calling key, which may manage. Throws 403 `management_not_allowed` otherwise, before the query is checked. */
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
 * The calling key, which may make changes. Throws 403 `management_not_allowed` for a key that may not manage, and for
 * the previous value of a rotated key: after a leak, whoever else has that value must not outlive the new one.
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
 * their account has a place among the writes under way. The handler authorizes again, because a key may be revoked while
 * its request waits, or its body comes slowly.
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

/** Bytes of memory that a body may take while it is read. */
function bodyBytes({ headers }: FastifyRequest): number {
  if (headers['transfer-encoding'] !== undefined) return BODY_LIMIT_BYTES;
  return Math.min(Number(headers['content-length'] ?? 0), BODY_LIMIT_BYTES);
}

/**
 * Scope of a read of entries and sums: a whole account, or one key of it (specification section 2, "What a key sees").
 */
export interface Reader {
  readonly accountId: number;
  /** The only key whose entries may be read, without balances; undefined if all of the account may be read. */
  readonly onlyKeyId: number | undefined;
  /** Owner of the answer's share of pools: the account, or `OPERATOR`. */
  readonly owner: number;
}

/** Scope of a calling key: its account if it can manage, else itself only. */
export function readerOf({ id, accountId, canManage }: CheckedKey): Reader {
  return { accountId, onlyKeyId: canManage ? undefined : id, owner: accountId };
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

/**
 * Makes a check that is true for requests with the operator's token, `Authorization: Bearer <ADMIN_TOKEN>`. It compares
 * digests, which all have one length, so that the time it takes does not show how much of a guess is right.
 */
export function adminTokenCheck(token: string): (request: FastifyRequest) => boolean {
  const expected = sha256(token);
  return (request) => {
    const [, sent] = /^bearer +(\S+) *$/i.exec(request.headers.authorization ?? '') ?? [];
    return sent !== undefined && timingSafeEqual(sha256(sent), expected);
  };
}

/** The refusal of a request that needs the operator's token and has another one or none. */
export function invalidAdminToken(): GatewayError {
  return new GatewayError(
    'invalid_admin_token',
    'This route requires the operator token. Send it as "Authorization: Bearer <ADMIN_TOKEN>".',
  );
}

/** The refusal on the operator's routes if ADMIN_TOKEN is not set: that of an unknown route. */
export function noSuchRoute(): GatewayError {
  return new GatewayError('unknown_endpoint', 'This endpoint does not exist.');
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
