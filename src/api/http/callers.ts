import type { FastifyRequest, onRequestAsyncHookHandler } from 'fastify';
import type { Book } from '../../book/book.ts';
import type { Actor } from '../../domain/actor.ts';
import { GatewayError } from '../../domain/errors.ts';
import { type Action, OF_ANY_KEY, type Reach, reachOf, rolesThatMay } from '../../domain/roles.ts';
import type { CheckedKey, CompiledKey } from '../../domain/rules.ts';
import type { Gatekeeper } from '../../gateway/gatekeeper.ts';
import { presentsKey } from '../../gateway/presented-key.ts';
import type { Membership, SignedIn, SignedInKey, SignedInPerson } from '../../people/signed-in.ts';
import type { Pools } from '../../shares/pools.ts';
import { BODY_LIMIT_BYTES } from './json-routes.ts';
import { requireOwnOrigin } from './own-origin.ts';
import { refuseUnknownParameters } from './query.ts';
import type { Seen } from './seen.ts';

/** The caller of an account's route: one of its keys, by its value or a session, or a person with a session. */
export interface AccountCaller {
  readonly accountId: number;
  /** How far it may do what it was asked for. */
  readonly reach: Reach;
  readonly actor: Actor;
  /** Undefined: a person. */
  readonly key: CheckedKey | undefined;
  /** `key` with its restrictions. */
  readonly compiled: CompiledKey | undefined;
  /** True for the previous value of a rotated key, in its grace: it may only read. */
  readonly isPrevious: boolean;
  /** Undefined: a key. */
  readonly member: Membership | undefined;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set once the caller is known. */
    accountCaller?: AccountCaller;
    /** The key, person or operator that sent the request, once known, allowed or not. */
    actor?: Actor;
    accountOfActor?: number;
  }
}

export interface SessionsOfRequests {
  /** Finds the session of a request by its cookie; undefined: none, or it has ended. */
  of(request: FastifyRequest): Promise<SignedIn | undefined>;
  /** Ends the session of a key that has ended. */
  endOf(session: SignedInKey): Promise<void>;
}

export interface CallerParts {
  readonly gatekeeper: Gatekeeper;
  readonly sessions: SessionsOfRequests;
}

/** The cookie of a session (people/sessions.ts). */
const SESSION_COOKIE = /(?:^|; *)(?:__Host-)?tollgate=/;

export function notSignedIn(): GatewayError {
  return new GatewayError('not_signed_in', 'Sign in first: the request has no session, or it has ended.');
}

/** Actions that change nothing, which the previous value of a key may do too. */
const isReading = (action: Action) => action.startsWith('read') || action === 'explain calls';

/**
 * The caller of an account's route, who may do `action`, one of several. A request with a key is that of the key
 * alone; a session of a key is as good as the key. Throws the errors of checks 1–8, or of the session, then 403, then
 * `invalid_field` for unknown query parameters.
 */
export async function callerOf(
  parts: CallerParts,
  request: FastifyRequest,
  ...actions: readonly [Action, ...Action[]]
): Promise<AccountCaller> {
  const signedIn = await sessionOf(parts, request);
  const caller =
    signedIn?.by === 'person'
      ? personCaller(parts, request, signedIn, actions)
      : keyCaller(request, await keyOf(parts, request, signedIn), actions);
  request.accountCaller = caller;
  refuseUnknownParameters(request);
  return caller;
}

/** The session of a request without a key. Throws `not_signed_in` for one that has ended. */
async function sessionOf({ sessions }: CallerParts, request: FastifyRequest): Promise<SignedIn | undefined> {
  const { cookie = '' } = request.headers;
  if (presentsKey(request.headers)) return undefined;
  const signedIn = await sessions.of(request);
  if (!signedIn && SESSION_COOKIE.test(cookie)) throw notSignedIn();
  return signedIn;
}

/** The key of a request, by its value or its session. Throws the errors of checks 1–8, or of the session. */
export async function callingKey(parts: CallerParts, request: FastifyRequest): Promise<CompiledKey> {
  return await keyOf(parts, request, await sessionOf(parts, request));
}

/** The key of a request that changes the key itself. Throws also `management_not_allowed` for its previous value. */
export async function changingKey(parts: CallerParts, request: FastifyRequest): Promise<CompiledKey> {
  const compiled = await callingKey(parts, request);
  if (compiled.valueEndsAt !== undefined) throw previousValue();
  return compiled;
}

async function keyOf(
  parts: CallerParts,
  request: FastifyRequest,
  signedIn: SignedIn | undefined,
): Promise<CompiledKey> {
  const session = signedIn?.by === 'key' ? signedIn : undefined;
  const compiled = session
    ? await keyOfSession(parts, request, session)
    : await parts.gatekeeper.authorize(request);
  request.actor = actorOf('key', compiled.key.id, request, parts.gatekeeper);
  request.accountOfActor = compiled.key.accountId;
  if (session) requireOwnOrigin(request);
  return compiled;
}

/** A key that is as good as ended, as opposed to one that can't be used from here or now. */
const ENDED = new Set<string>(['invalid_api_key', 'inactive_api_key', 'expired_api_key', 'inactive_account']);

/** The key of a session. A key that has ended ends the session. Throws `not_signed_in`, and the errors of checks 5–8. */
export async function keyOfSession(
  { gatekeeper, sessions }: CallerParts,
  request: FastifyRequest,
  session: SignedInKey,
): Promise<CompiledKey> {
  try {
    return await gatekeeper.authorize(request, session.keyHash);
  } catch (error) {
    if (!(error instanceof GatewayError) || !ENDED.has(error.code)) throw error;
    await sessions.endOf(session);
    throw notSignedIn();
  }
}

/** 403 for a key without `can_manage`. */
export function managementNotAllowed(): GatewayError {
  return new GatewayError(
    'management_not_allowed',
    "This key can't manage keys or the account. Use a key that has can_manage set to true.",
  );
}

function previousValue(): GatewayError {
  return new GatewayError(
    'management_not_allowed',
    "This is the key's previous value. Until its grace period ends, it can call models and " +
      "read, but not change anything: use the key's new value.",
  );
}

function keyCaller(
  { actor }: FastifyRequest,
  compiled: CompiledKey,
  actions: readonly Action[],
): AccountCaller {
  const { key, valueEndsAt } = compiled;
  const isPrevious = valueEndsAt !== undefined;
  const isOfAny = actions.some((action) => OF_ANY_KEY.has(action));
  if (!key.canManage && !isOfAny) {
    throw managementNotAllowed();
  }
  // After a leak, another holder of that value must not keep control.
  if (isPrevious && !actions.some(isReading)) throw previousValue();
  return {
    accountId: key.accountId,
    reach: key.canManage ? 'all' : 'own',
    actor: actor as Actor,
    key,
    compiled,
    isPrevious,
    member: undefined,
  };
}

function personCaller(
  { gatekeeper }: CallerParts,
  request: FastifyRequest,
  { person, memberships }: SignedInPerson,
  actions: readonly Action[],
): AccountCaller {
  const actor = actorOf('person', person.id, request, gatekeeper);
  request.actor = actor;
  requireOwnOrigin(request);
  const member = membershipAsked(request, memberships);
  request.accountOfActor = member.accountId;
  const reaches = actions.map((action) => reachOf(member.role, action));
  const reach = reaches.includes('all') ? 'all' : reaches.find((one) => one !== undefined);
  if (reach === undefined) throw notPermitted(member, actions[0] as Action);
  return {
    accountId: member.accountId,
    reach,
    actor,
    key: undefined,
    compiled: undefined,
    isPrevious: false,
    member,
  };
}

/** The header that names the account of a request with a session. */
export const ACCOUNT_HEADER = 'tollgate-account';

/** The membership that a request names, or the only one. Throws `account_required` and `account_not_found`. */
function membershipAsked(request: FastifyRequest, memberships: readonly Membership[]): Membership {
  const asked = request.headers[ACCOUNT_HEADER];
  const [only] = memberships;
  if (asked === undefined && memberships.length === 1 && only) return only;
  if (asked === undefined) {
    const why = only ? 'You are a member of several accounts.' : 'You are a member of no account.';
    throw new GatewayError('account_required', `${why} Name one in the header Tollgate-Account.`);
  }
  const found = memberships.find(({ accountId }) => String(accountId) === asked);
  if (!found) throw new GatewayError('account_not_found', 'You are a member of no account with this id.');
  return found;
}

/** 403 for what a role may not do; the message names the roles that may. */
export function notPermitted({ role }: Pick<Membership, 'role'>, action: Action): GatewayError {
  const roles = rolesThatMay(action).join(', ');
  return new GatewayError('not_permitted', `The role ${role} may not ${action}. Roles that may: ${roles}.`);
}

export function actorOf(
  type: Actor['type'],
  id: number | null,
  request: FastifyRequest,
  gatekeeper: Pick<Gatekeeper, 'addressOf'>,
): Actor {
  return { type, id, ip: gatekeeper.addressOf(request), requestId: request.id };
}

/** The operator, by token or session, on one of the operator's routes. */
export function operatorOf({ actor }: FastifyRequest): Actor {
  if (!actor) throw new Error('not a route of the operator');
  return actor;
}

export interface WriteParts extends CallerParts {
  readonly pools: Pick<Pools, 'writes'>;
}

/**
 * Hook that refuses callers before their body is read, so that strangers cannot make the gateway parse it and learn
 * nothing from its errors. The others wait until their account has a place among the writes under way. The handler
 * authorizes again, because a key may be revoked while its request waits, or its body comes slowly.
 */
export function beforeTheBody(
  parts: WriteParts,
  ...actions: readonly [Action, ...Action[]]
): onRequestAsyncHookHandler {
  return placeForTheBody(parts, async (request) => (await callerOf(parts, request, ...actions)).accountId);
}

/** `beforeTheBody` for callers that `accountOf` authorizes. */
export function placeForTheBody(
  parts: WriteParts,
  accountOf: (request: FastifyRequest) => Promise<number>,
): onRequestAsyncHookHandler {
  return async (request, reply) => {
    const accountId = await accountOf(request);
    const share = await parts.pools.writes.acquire(accountId, bodyBytes(request));
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
 * Read scope for entries and sums: a whole account, one of its keys, or those of a person (specification section 2, "What
 * a key sees").
 */
export interface Reader extends Seen {
  readonly accountId: number;
  /** Whom the answer's share of pools counts for: the account, or `OPERATOR`. */
  readonly owner: number;
}

/** Scope of a caller. */
export function readerOf({ accountId, reach, key, member }: AccountCaller): Reader {
  const isOwn = reach === 'own';
  return {
    accountId,
    onlyKeyId: isOwn ? key?.id : undefined,
    onlyPersonId: isOwn ? member?.personId : undefined,
    owner: accountId,
  };
}

/** Same error for an unknown id and for another account's key (specification section 2). */
export function keyNotFound(): GatewayError {
  return new GatewayError('key_not_found', 'The account has no key with this id.');
}

/**
 * Resolves the key of a query: the one `asked` for, else the only key that the reader may see, else undefined for all keys.
 * Rejects with `key_not_found` for a key that the reader may not see or the account doesn't have.
 */
export async function keyAsked(
  book: Pick<Book, 'key'>,
  asked: number | undefined,
  { accountId, onlyKeyId, onlyPersonId }: Reader,
): Promise<number | undefined> {
  if (asked === undefined || asked === onlyKeyId) return onlyKeyId;
  const key = onlyKeyId === undefined ? await book.key(accountId, asked) : undefined;
  if (!key || (onlyPersonId !== undefined && key.personId !== onlyPersonId)) throw keyNotFound();
  return asked;
}
