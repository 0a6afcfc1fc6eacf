import type { FastifyInstance, FastifySchema } from 'fastify';
import type { Book } from '../../book/book.ts';
import { BookUnavailable } from '../../book/store.ts';
import type { Actor } from '../../domain/actor.ts';
import { type ErrorCode, GatewayError } from '../../domain/errors.ts';
import type { KeyRecord } from '../../domain/key.ts';
import { newKeyValue } from '../../domain/key-value.ts';
import { parseRotation, Rotation } from '../../domain/rotation.ts';
import { LedgerUnavailable } from '../../ledger/ledger.ts';
import { changingKey, keyNotFound, placeForTheBody, type WriteParts } from '../http/callers.ts';
import { refuseUnknownParameters } from '../http/query.ts';
import { refuseTooOften } from '../http/rates.ts';
import { BODY_REFUSALS, BY_KEY, KEY_REFUSALS } from '../openapi/operation.ts';
import { keyViewNow } from './key-list.ts';
import { KeyChangeHeaders, ROTATED_KEY_EXAMPLE, ROTATION_EXAMPLES, RotatedOrEnded } from './key-schema.ts';
import { type RotatedKeyView, rotatedKeyView } from './key-view.ts';
import {
  ifMatch,
  type KeyChange,
  type KeyChangeDeps,
  type KeyChangeRoutes,
  type KeyCommandDeps,
  keyIdOf,
  mayOf,
  refuseConflict,
} from './keys.ts';
import { requireOwn } from './own-keys.ts';

type KeyAtVersion = Omit<KeyChange, 'settings' | 'action'>;

/**
 * Gives a key a new value and keeps the previous one for `graceS` seconds of Redis' clock (specification section 2,
 * "Rotate"). Resolves with the response, the only place that shows the value, once every gateway uses the new record.
 * Throws `key_not_found`, `version_conflict` and `service_unavailable`.
 *
 *  1 ask Redis for the time    if it doesn't answer, nothing changes
 *  2 commit to the book
 *  3 publish to Redis          if that fails, undo the rotation: other gateways might still accept a value that has
 *                              ended, and the owner, who never got the new value, would lose the one in use, because
 *                              a repeat ends the oldest
 */
export async function rotateKey(
  deps: KeyCommandDeps,
  { accountId, keyId, ifVersion, actor }: KeyAtVersion,
  graceS: number,
): Promise<RotatedKeyView> {
  const { book, ledger, config } = deps;
  const startsAt = await ledger.time(accountId);
  const { value, prefix, hash } = newKeyValue(config.keyPrefix);
  const previousValidUntil = graceS === 0 ? null : startsAt + graceS * 1_000;
  const rotated = await book
    .rotateKey(accountId, keyId, { hash, prefix, previousValidUntil }, Date.now(), ifVersion, actor)
    .catch(refuseConflict)
    .catch(refuseTooOften);
  if (rotated === undefined) throw keyNotFound();
  const { before, key, endedHash } = rotated;
  try {
    await ledger.publishRotatedKey(key, endedHash);
  } catch (cause) {
    throw await undone(deps, before, hash, actor, cause);
  }
  return rotatedKeyView(key, value);
}

/** Undoes a rotation that couldn't be published; resolves with the refusal. */
async function undone(
  { book, ledger }: KeyCommandDeps,
  before: KeyRecord,
  hash: string,
  actor: Actor,
  cause: unknown,
): Promise<GatewayError> {
  const restored = await withdrawn(book, before, hash, actor);
  // Redis may have the rotated record. If this publication fails too, the sweep of any gateway that reaches
  // Redis repeats it.
  if (restored) await ledger.publishKey(restored).catch(() => undefined);
  const message = restored
    ? 'The key was not rotated because its new value could not be activated. Try again shortly.'
    : 'The key may or may not have been rotated. Rotate it again and use the value in that response.';
  return new GatewayError('service_unavailable', message, null, undefined, { cause });
}

/** The key with its earlier values; undefined if the book is unreachable or the key has been rotated again. */
async function withdrawn(
  book: Book,
  before: KeyRecord,
  hash: string,
  actor: Actor,
): Promise<KeyRecord | undefined> {
  try {
    return await book.withdrawRotation(before, hash, Date.now(), actor);
  } catch (error) {
    if (error instanceof BookUnavailable) return undefined;
    throw error;
  }
}

/**
 * Ends the previous value; resolves once it has ended at every gateway. Throws `key_not_found`, `version_conflict`, and
 * LedgerUnavailable if the change is in the book but not yet in Redis; repeating it is harmless.
 */
async function endGrace(
  { book, ledger }: KeyCommandDeps,
  { accountId, keyId, ifVersion, actor }: KeyAtVersion,
): Promise<KeyRecord> {
  const redisNow = await ledger.time(accountId).catch(unknownTime);
  const key = await book
    .endGrace(accountId, keyId, Date.now(), ifVersion, redisNow, actor)
    .catch(refuseConflict);
  if (key === undefined) throw keyNotFound();
  await ledger.publishKey(key);
  return key;
}

/** Time to assume if Redis doesn't answer. At 0 no grace is over, so the previous value is certain to be ended. */
function unknownTime(error: unknown): number {
  if (error instanceof LedgerUnavailable) return 0;
  throw error;
}

/** Registers `POST …/rotate/` of a key (specification sections 2 and 7). */
export function rotateRoute(app: FastifyInstance, deps: KeyChangeDeps, routes: KeyChangeRoutes): void {
  const refusals: readonly ErrorCode[] = [...routes.refusals, 'key_not_found'];
  const schema: FastifySchema = {
    ...routes.docs,
    ...routes.rotate,
    ...described(refusals, mayOf(routes)),
  };
  const hook = routes.onRequest === undefined ? {} : { onRequest: routes.onRequest };
  app.post(`${routes.path}rotate/`, { schema, ...hook }, async (request) => {
    const { accountId, actor, caller } = await routes.changerOf(request);
    const keyId = keyIdOf(request);
    const asked = parseRotation(request.body);
    const which = { accountId, keyId, ifVersion: ifMatch(request), actor };
    if (caller?.reach === 'own') requireOwn(caller, await deps.book.key(accountId, keyId));
    return await answerTo(asked, deps, which);
  });
}

/** Registers `POST /api/key/rotate/`, by which any key rotates itself. */
export function rotateOwnRoute(app: FastifyInstance, deps: KeyChangeDeps & WriteParts): void {
  const schema: FastifySchema = {
    tags: ['Keys'],
    security: BY_KEY,
    operationId: 'rotateOwnKey',
    summary: 'Rotate the calling key',
    description:
      'Gives the calling key a new value, also if it may not manage or is locked, as `POST /api/keys/{key_id}/rotate/` does. ' +
      'The session of a key serves as the key, and ends with its value. The previous value, in its grace, can do neither.',
    ...described([...KEY_REFUSALS, 'management_not_allowed', 'invalid_field'], {}),
  };
  const onRequest = placeForTheBody(
    deps,
    async (request) => (await changingKey(deps, request)).key.accountId,
  );
  app.post('/api/key/rotate/', { schema, onRequest }, async (request) => {
    const {
      key: { id: keyId, accountId },
    } = await changingKey(deps, request);
    refuseUnknownParameters(request);
    const asked = parseRotation(request.body);
    const actor = request.actor as Actor;
    return await answerTo(asked, deps, { accountId, keyId, ifVersion: ifMatch(request), actor });
  });
}

async function answerTo(asked: ReturnType<typeof parseRotation>, deps: KeyChangeDeps, which: KeyAtVersion) {
  if (asked.endGrace) return await keyViewNow(deps, await endGrace(deps, which));
  return await rotateKey(deps, which, asked.graceSeconds ?? 0);
}

function described(refusals: readonly ErrorCode[], may: ReturnType<typeof mayOf>): FastifySchema {
  return {
    headers: KeyChangeHeaders,
    body: Rotation.schema,
    response: { 200: RotatedOrEnded },
    'x-docs': {
      ...may,
      refusals: [...refusals, 'version_conflict', 'rate_limit_exceeded', ...BODY_REFUSALS],
      isBodyOptional: true,
      requests: ROTATION_EXAMPLES,
      answer: ROTATED_KEY_EXAMPLE,
    },
  };
}
