import type { FastifyReply, FastifyRequest } from 'fastify';
import type { NewPerson } from '../../book/persons.ts';
import { GatewayError } from '../../domain/errors.ts';
import { TYPES } from '../../domain/key-readers.ts';
import { Faults, type Reader } from '../../domain/shape.ts';
import type { Log } from '../../log/log.ts';
import { type Identity, type Oidc, SignInError } from '../../people/oidc.ts';
import { emailAddress } from '../account/account-view.ts';
import type { SessionDeps } from './session-caller.ts';

/** A sign-in that a provider confirmed. */
export interface Confirmed {
  /** Its name in the config file. */
  readonly provider: string;
  readonly identity: Identity;
  /** SHA-256 (hex) of the secret of the invitation to be accepted; undefined: none. */
  readonly invitation: string | undefined;
}

type Deps = SessionDeps & { readonly oidc: Oidc; readonly logger: Log };

/**
 * Signs in the person of an identity, whom it may make. Throws `invitation_gone`, `invitation_email`, `already_member`,
 * `use_provider`, `invalid_credentials` for an inactive person, PersonEmailTaken, and SignInError for an identity of
 * nobody.
 */
export async function signInWith(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  confirmed: Confirmed,
): Promise<void> {
  const { book, ledger, sessions, gatekeeper, logger } = deps;
  const { provider, invitation } = confirmed;
  const { issuer, subject, email, isEmailVerified, roles } = confirmed.identity;
  const { secret, session } = sessions.prepare(request);
  const signIn = {
    provider,
    identity: { issuer, subject, email },
    verifiedEmail: isEmailVerified ? email : null,
    roles,
    stranger: await strangerOf(deps, confirmed),
    invitation,
    session,
  };
  const from = { ip: gatekeeper.addressOf(request), requestId: request.id };
  const { keys, unknownAccounts } = await book.signInByProvider(signIn, from, Date.now());
  if (unknownAccounts.length > 0)
    logger.warn(
      { provider, accounts: unknownAccounts },
      'roles of a provider name accounts that do not exist',
    );
  await Promise.all(keys.map((key) => ledger.publishKey(key)));
  sessions.setSecret(request, reply, secret);
}

/** The new person that an unknown identity becomes, or the reason why it can't. */
async function strangerOf(
  { book, oidc }: Pick<Deps, 'book' | 'oidc'>,
  { provider, identity, invitation }: Confirmed,
): Promise<NewPerson | Error> {
  const email = valid(emailAddress, identity.email);
  const isOwn = email !== undefined && identity.isEmailVerified && oidc.owns(email, provider);
  if (invitation === undefined) {
    if (!isOwn) return new SignInError('identity_unknown', 'the identity is nobody’s');
  } else {
    const invited = await book.invitationOf(invitation, Date.now());
    if (email === undefined) return new SignInError('sign_in_failed', 'the provider gave no e-mail address');
    // The address would be taken from whoever has it at its provider.
    if (invited?.email === null && !isOwn && oidc.owns(email)) return providerNeeded();
  }
  const name = valid(TYPES.name, identity.name) ?? email.split('@')[0] ?? '';
  return { email, name, passwordHash: null, isOperator: false };
}

/** For an e-mail address of the `domains` of a provider, which gives it to people. */
export function providerNeeded(): GatewayError {
  return new GatewayError(
    'use_provider',
    'This e-mail address belongs to an identity provider. Accept the invitation with the provider.',
  );
}

function valid<Value>(read: Reader<Value>, given: string | null): Value | undefined {
  return given === null ? undefined : (read(given, '', new Faults()) as Value | undefined);
}
