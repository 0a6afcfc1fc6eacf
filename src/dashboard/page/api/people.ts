import type { LimitView } from '../../../api/keys/limit-view.ts';
import type { Role } from '../../../domain/roles.ts';
import type { WireLimit } from '../../../domain/spending-limits.ts';
import type { SignedIn } from '../session/person.ts';
import { ask, askRaw, made } from './request.ts';

/** Ways to sign in that the gateway is set up for: with a password, and the names of its providers. */
export interface Ways {
  readonly passwords: boolean;
  readonly oidc: readonly string[];
}

export interface NewPerson {
  readonly email: string;
  readonly name: string;
  readonly password: string;
}

/** An invitation, as whoever has its link sees it. */
export interface InvitationLook {
  readonly account: { readonly id: number; readonly name: string };
  readonly role: Role;
  readonly email: string | null;
  readonly expires_at: string;
}

export interface Member {
  readonly person: { readonly id: number; readonly email: string; readonly name: string };
  readonly role: Role;
  readonly is_active: boolean;
  readonly can_create_keys: boolean;
  readonly spending_limits: readonly WireLimit[];
  readonly limits: readonly LimitView[];
  readonly active_keys: number;
  readonly created_at: string;
}

export type MemberChanges = Partial<
  Pick<Member, 'role' | 'is_active' | 'can_create_keys' | 'spending_limits'>
>;

export interface Invitation {
  readonly id: number;
  readonly role: Role;
  readonly email: string | null;
  readonly expires_at: string;
}

/** A new invitation, with its link, which is shown once. */
export interface CreatedInvitation extends Invitation {
  readonly link: string;
  readonly mailed: boolean;
}

/** A session of the person. */
export interface OpenSession {
  readonly id: number;
  readonly created_at: string;
  readonly seen_at: string;
  readonly ip: string | null;
  readonly user_agent: string | null;
  readonly is_current: boolean;
}

/** An account at a provider by which the person signs in. */
export interface Identity {
  readonly id: number;
  readonly issuer: string;
  readonly name?: string;
  readonly email?: string | null;
}

const optional = (signal: AbortSignal | undefined) => (signal === undefined ? {} : { signal });

export function readSession(signal?: AbortSignal): Promise<SignedIn> {
  return ask('GET', '/api/session/', optional(signal));
}

export function readWays(signal: AbortSignal): Promise<Ways> {
  return ask('GET', '/api/session/ways/', { signal });
}

export function signInWith(email: string, password: string): Promise<SignedIn> {
  return ask('POST', '/api/session/', { body: { email, password } });
}

export function endSession(): Promise<unknown> {
  return done('DELETE', '/api/session/');
}

export function setUp(code: string, person: NewPerson): Promise<unknown> {
  return done('POST', '/api/setup/', { code, ...person });
}

export function lookAtInvitation(secret: string, signal: AbortSignal): Promise<InvitationLook> {
  return ask('POST', '/api/invitations/look/', { body: { secret }, signal });
}

/** Accepts an invitation as the person who is signed in, or as a new one. */
export function acceptInvitation(secret: string, person?: NewPerson): Promise<unknown> {
  return done('POST', '/api/invitations/accept/', { secret, ...person });
}

/** The address at a provider at which an invitation is accepted, or an identity linked. */
export async function providerAddress(
  name: string,
  body: { readonly secret: string } | { readonly link: true },
): Promise<string> {
  const { location } = await ask<{ location: string }>(
    'POST',
    `/api/session/oidc/${encodeURIComponent(name)}/`,
    {
      body,
    },
  );
  return location;
}

export function resetPassword(secret: string, password: string): Promise<unknown> {
  return done('POST', '/api/session/reset/', { secret, password });
}

export function changePerson(changes: {
  readonly name?: string;
  readonly password?: string;
  readonly current_password?: string;
}): Promise<unknown> {
  return done('PATCH', '/api/session/person/', changes);
}

export async function readSessions(signal: AbortSignal): Promise<readonly OpenSession[]> {
  const { sessions } = await ask<{ sessions: OpenSession[] }>('GET', '/api/session/sessions/', { signal });
  return sessions;
}

/** Ends a session of the person; without an id all, this one too. */
export function endSessions(id?: number): Promise<unknown> {
  return done('DELETE', `/api/session/sessions/${id === undefined ? '' : `${id}/`}`);
}

export async function readIdentities(signal: AbortSignal): Promise<readonly Identity[]> {
  const { identities } = await ask<{ identities: Identity[] }>('GET', '/api/session/identities/', { signal });
  return identities;
}

export function removeIdentity(id: number): Promise<unknown> {
  return done('DELETE', `/api/session/identities/${id}/`);
}

export async function readMembers(signal: AbortSignal): Promise<readonly Member[]> {
  const { members } = await ask<{ members: Member[] }>('GET', '/api/account/members/', { signal });
  return members;
}

export function changeMember(id: number, changes: MemberChanges): Promise<unknown> {
  return done('PATCH', `/api/account/members/${id}/`, changes);
}

export function removeMember(id: number): Promise<unknown> {
  return done('DELETE', `/api/account/members/${id}/`);
}

export async function readInvitations(signal: AbortSignal): Promise<readonly Invitation[]> {
  const { invitations } = await ask<{ invitations: Invitation[] }>('GET', '/api/account/invitations/', {
    signal,
  });
  return invitations;
}

/** Invites to the account; `email` is "" for a link that anyone can use. Rejects with `answer_lost`. */
export function invite(role: Role, email: string): Promise<CreatedInvitation> {
  const body = { role, ...(email !== '' && { email }) };
  return made('invitation', ask('POST', '/api/account/invitations/', { body }));
}

export function withdrawInvitation(id: number): Promise<unknown> {
  return done('DELETE', `/api/account/invitations/${id}/`);
}

/** Makes a change whose answer, which may have no body, is not read. */
function done(method: string, path: string, body?: unknown): Promise<unknown> {
  return askRaw(method, path, body === undefined ? {} : { body });
}
