import type { FastifyRequest } from 'fastify';
import { GatewayError } from '../../domain/errors.ts';
import { presentsKey } from '../../gateway/presented-key.ts';
import { actorOf, type CallerParts } from './callers.ts';
import type { OperatorTokens } from './operator-token.ts';
import { requireOwnOrigin } from './own-origin.ts';

export interface OperatorParts extends CallerParts {
  readonly operatorTokens: OperatorTokens;
}

/**
 * Requires the operator: ADMIN_TOKEN, or without an Authorization header a session of the token, or of a person who is
 * one. Sets `request.actor`. Throws 401 `invalid_admin_token`, 403 `not_permitted` for other people, those of requireOwnOrigin,
 * and 429.
 */
export async function requireOperator(parts: OperatorParts, request: FastifyRequest): Promise<void> {
  const { authorization } = request.headers;
  const signedIn = presentsKey({ authorization }) ? undefined : await parts.sessions.of(request);
  if (signedIn?.by !== 'person') {
    // A key is no operator, neither by its session.
    if (signedIn?.by !== 'operator') parts.operatorTokens.requireOperator(request);
    request.actor = actorOf('operator', null, request, parts.gatekeeper);
    if (signedIn) requireOwnOrigin(request);
    return;
  }
  request.actor = actorOf('person', signedIn.person.id, request, parts.gatekeeper);
  requireOwnOrigin(request);
  if (!signedIn.person.isOperator)
    throw new GatewayError('not_permitted', 'Only operators may do this. Ask one to make you an operator.');
}
