import type { FastifyRequest } from 'fastify';
import type { Book } from '../../book/book.ts';
import { clientNetwork } from '../../domain/addresses.ts';
import { GatewayError } from '../../domain/errors.ts';
import type { Gatekeeper } from '../../gateway/gatekeeper.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Passwords } from '../../people/passwords.ts';
import type { Sessions } from '../../people/sessions.ts';
import type { SignIn } from '../../people/sign-in.ts';
import type { SignedInPerson } from '../../people/signed-in.ts';
import type { RefusedChanges } from '../audit/refused-changes.ts';
import { notSignedIn } from '../http/callers.ts';
import type { OperatorTokens } from '../http/operator-token.ts';
import { requireOwnOrigin } from '../http/own-origin.ts';
import { refuseUnknownParameters } from '../http/query.ts';
import type { WaysView } from './person-view.ts';

/** Collaborators of the routes by which people sign in. */
export interface SessionDeps {
  readonly book: Book;
  readonly ledger: Ledger;
  readonly gatekeeper: Gatekeeper;
  readonly operatorTokens: Pick<OperatorTokens, 'isOperator'>;
  readonly sessions: Sessions;
  readonly signIn: SignIn;
  readonly passwords: Passwords;
  readonly ways: WaysView;
  readonly refusedChanges: Pick<RefusedChanges, 'add'>;
}

/**
 * The session of a person. Throws `not_signed_in`, `not_permitted` for sessions of keys and of the operator's token, for
 * unsafe methods `unsupported_media_type` and `cross_site`, and `invalid_field` for unknown query parameters.
 */
export async function signedInCaller(
  { sessions }: Pick<SessionDeps, 'sessions'>,
  request: FastifyRequest,
): Promise<SignedInPerson> {
  const signedIn = await sessions.of(request);
  if (!signedIn) throw notSignedIn();
  if (signedIn.by !== 'person') throw personNeeded();
  request.actor = sessions.actorOf(request, signedIn.person.id);
  requireOwnOrigin(request);
  refuseUnknownParameters(request);
  return signedIn;
}

/** For what only a person has, in a session of a key or of the operator's token. */
export function personNeeded(): GatewayError {
  return new GatewayError(
    'not_permitted',
    'This session is that of a key or of the operator token. Sign in as a person.',
  );
}

/** Hook that refuses requests without a session before their body is read. The handler asks again. */
export function beforeTheBodyOfPerson(deps: Pick<SessionDeps, 'sessions'>) {
  return async (request: FastifyRequest): Promise<void> => {
    await signedInCaller(deps, request);
  };
}

/** Hook of routes that anybody may use to sign in, from their own origin. */
export async function fromOwnOrigin(request: FastifyRequest): Promise<void> {
  requireOwnOrigin(request);
  refuseUnknownParameters(request);
}

/** How long after a sign-in a person can add a way to sign in. */
const RECENT_MS = 10 * 60_000;

/** Throws `sign_in_again` unless the person signed in within 10 minutes. `purpose`: such as `set a password`. */
export function requireRecent({ signedInAt }: SignedInPerson, purpose: string): void {
  if (Date.now() - signedInAt <= RECENT_MS) return;
  throw new GatewayError('sign_in_again', `Sign in again, then ${purpose} within 10 minutes.`);
}

/** Throws `use_provider` if people sign in by identity providers only. */
export function requirePasswords({ ways }: { readonly ways: Pick<WaysView, 'passwords'> }): void {
  if (ways.passwords) return;
  throw new GatewayError('use_provider', 'People sign in with an identity provider here. Use one of them.');
}

/** The network that counts as one client for passwords. */
export function networkOf({ gatekeeper }: Pick<SessionDeps, 'gatekeeper'>, request: FastifyRequest): string {
  return clientNetwork(gatekeeper.addressOf(request));
}

/**
 * Checks a password. A failure goes into the audit log, under the address that it came from. Throws
 * `invalid_credentials` and `rate_limit_exceeded`.
 */
export async function checkPassword(
  deps: SessionDeps,
  request: FastifyRequest,
  credentials: { readonly email: string; readonly password: string },
) {
  const ip = deps.gatekeeper.addressOf(request);
  const attempt = { ...credentials, network: networkOf(deps, request) };
  return await deps.signIn.check(attempt, (personId) =>
    deps.refusedChanges.add({
      by: { type: 'system', id: null, ip, requestId: request.id },
      action: 'session.fail',
      accountId: null,
      target: { type: 'person', id: personId },
    }),
  );
}
