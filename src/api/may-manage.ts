import type { FastifyRequest, onRequestAsyncHookHandler } from 'fastify';
import { GatewayError } from '../domain/errors.ts';
import type { KeySettings } from '../domain/key.ts';
import { carriesRestriction } from '../domain/key-settings.ts';
import type { JudgedKey } from '../domain/rules.ts';
import type { Gatekeeper } from '../gateway/gatekeeper.ts';
import { refuseUnknownParameters } from './query.ts';

/** The calling key. Throws the errors of checks 1–8, then `invalid_field` for a query that the route does not take. */
export async function callingKey(gatekeeper: Gatekeeper, request: FastifyRequest): Promise<JudgedKey> {
  const { key } = await gatekeeper.authorise(request);
  refuseUnknownParameters(request);
  return key;
}

/** The same of a key that may manage: else 403 `management_not_allowed`, before the query is looked at. */
export async function managingCaller(gatekeeper: Gatekeeper, request: FastifyRequest): Promise<JudgedKey> {
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
 * Judges who calls before the body is read: a stranger's bytes are not worth parsing, and what is wrong with them is not
 * what a stranger is told. The handler judges again, because a key may be revoked while its body comes slowly.
 */
export function beforeTheBody(gatekeeper: Gatekeeper): onRequestAsyncHookHandler {
  return async (request) => {
    await managingCaller(gatekeeper, request);
  };
}

/**
 * Whether a key that another key, or the operator, creates may manage (specification section 2, "Who may manage"): as the request says,
 * else only without restrictions. So a key that is handed out with limits cannot lift them.
 */
export function managesOnCreation(said: boolean | undefined, settings: Partial<KeySettings>): boolean {
  return said ?? !carriesRestriction(settings);
}

/**
 * What a PATCH does to `canManage` beside what it says: a restriction that *another* key, or the operator, sets takes it away; one
 * that a key sets on itself does not, so that no owner locks themselves out.
 */
export function managesAfterPatch(
  change: Partial<KeySettings>,
  /** Whether a key changes itself. */
  { isOwn }: { readonly isOwn: boolean },
): { readonly canManage?: boolean } {
  const loses = change.canManage === undefined && !isOwn && carriesRestriction(change);
  return loses ? { canManage: false } : {};
}
