import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ErrorCode, GatewayError, invalidField } from '../../domain/errors.ts';
import { hashKey, isWellFormed, pastedValue } from '../../domain/key-value.ts';
import { CALLER_CHECKS, type CompiledKey } from '../../domain/rules.ts';
import type { SignedIn } from '../../people/signed-in.ts';
import { keyNotFound, keyOfSession } from '../http/callers.ts';
import { keySessionView, OPERATOR_SESSION, type SessionView, sessionView } from './person-view.ts';
import type { SessionDeps } from './session-caller.ts';

/** Codes of a key that can't be used from here or now, or not at all. */
const CHECKS: readonly ErrorCode[] = CALLER_CHECKS.map(({ code }) => code);

/** Codes of a sign-in with a key or the operator's token. */
export const CREDENTIAL_REFUSALS: readonly ErrorCode[] = [
  'invalid_api_key',
  'invalid_admin_token',
  ...CHECKS,
];

/** Codes of the session of a key that can't be used from here or now. */
export const RESTRICTED: readonly ErrorCode[] = CHECKS.filter(
  (code) => !['inactive_api_key', 'inactive_account', 'expired_api_key'].includes(code),
);

/**
 * Signs in with an API key or ADMIN_TOKEN, and sets the cookie. Throws what a request with it as a bearer token gets: the
 * errors of checks 1–8, `invalid_admin_token`, and 429 after too many wrong tokens. A failure goes into the audit log.
 */
export async function signInWithCredential(
  deps: SessionDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  given: string,
): Promise<SessionView> {
  const value = pastedValue(given);
  if (value === '') throw invalidField('key', 'key is empty: send an API key or the operator token.');
  try {
    if (isWellFormed(value, deps.gatekeeper.keyPrefix)) {
      const keyHash = hashKey(value);
      const { key } = await deps.gatekeeper.authorize(request, keyHash);
      await deps.sessions.startWith(request, reply, { by: 'key', keyId: key.id, keyHash });
      return await keyView(deps, key);
    }
    if (!deps.operatorTokens.isOperator(request, value)) throw wrongValue(deps, value);
  } catch (error) {
    if (error instanceof GatewayError && NOTED.has(error.statusCode)) await noteFailure(deps, request, error);
    throw error;
  }
  await deps.sessions.startWith(request, reply, { by: 'operator' });
  return OPERATOR_SESSION;
}

/** The 401 that a bearer token gets which is neither a key nor ADMIN_TOKEN. */
function wrongValue({ gatekeeper }: SessionDeps, value: string): GatewayError {
  return new GatewayError(
    value.startsWith(gatekeeper.keyPrefix) ? 'invalid_api_key' : 'invalid_admin_token',
    'This is neither an API key nor the operator token. Check that you copied all of it.',
  );
}

/** A session as its holder sees it. Throws `not_signed_in` if its key has ended, and the errors of checks 5–8. */
export async function viewOf(
  deps: SessionDeps,
  request: FastifyRequest,
  signedIn: SignedIn,
): Promise<SessionView> {
  if (signedIn.by === 'person') return await sessionView(deps, signedIn.person);
  if (signedIn.by === 'operator') return OPERATOR_SESSION;
  return await keyView(deps, (await keyOfSession(deps, request, signedIn)).key);
}

async function keyView({ book }: SessionDeps, { accountId, id }: CompiledKey['key']): Promise<SessionView> {
  const key = await book.key(accountId, id);
  if (!key) throw keyNotFound();
  return keySessionView(key);
}

const NOTED = new Set([401, 403]);

/** Records a sign-in that failed, without what was sent. */
async function noteFailure(
  { refusedChanges, gatekeeper }: SessionDeps,
  request: FastifyRequest,
  { code }: GatewayError,
): Promise<void> {
  await refusedChanges.add({
    by: { type: 'system', id: null, ip: gatekeeper.addressOf(request), requestId: request.id },
    action: 'session.fail',
    accountId: null,
    target: { type: 'key', id: null },
    after: { code },
  });
}
