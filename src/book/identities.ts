import type { Actor } from '../domain/actor.ts';
import { GatewayError } from '../domain/errors.ts';
import type { KeyRecord } from '../domain/key.ts';
import type { Person } from '../domain/people.ts';
import { ROLES, type Role } from '../domain/roles.ts';
import { writeAudit } from './audit.ts';
import { type Accepts, acceptInvitation } from './invitations.ts';
import { setMemberLimits } from './keys.ts';
import { auditView, type MemberChanger, removeMember, updateMember } from './members.ts';
import { insertMembership, membershipOf } from './membership-row.ts';
import { makePerson, type NewPerson, type Origin, personRecord } from './persons.ts';
import { createSession, type NewSession } from './sessions.ts';
import type { Store, Trx } from './store.ts';

/** An identity at a provider: its issuer and subject, nothing else. */
export interface IdentityName {
  readonly issuer: string;
  readonly subject: string;
}

/** An identity, with the e-mail address that the provider told last, for display. */
export interface NewIdentity extends IdentityName {
  readonly email: string | null;
}

/** An identity of a person. */
export interface IdentityRecord extends NewIdentity {
  readonly id: number;
  readonly createdAt: number;
}

/** A sign-in that a provider confirmed. */
export interface ProviderSignIn {
  /** Its name in the config file: the issuer of memberships by its claim. */
  readonly provider: string;
  readonly identity: NewIdentity;
  /** The identity's e-mail address, if the provider verified it. */
  readonly verifiedEmail: string | null;
  /** Memberships by the claim, at most one an account; null: the claim decides nothing. */
  readonly roles: readonly { readonly account: number; readonly role: Role }[] | null;
  /** The new person that an unknown identity becomes, or the reason why it can't. */
  readonly stranger: NewPerson | Error;
  /** SHA-256 (hex) of the secret of an invitation that is accepted with it. */
  readonly invitation: string | undefined;
  readonly session: Omit<NewSession, 'personId' | 'passwordHash'>;
}

export interface ProviderSignedIn {
  /** Keys that changed with memberships, to be published. */
  readonly keys: readonly KeyRecord[];
  /** Accounts of the claim that don't exist. */
  readonly unknownAccounts: readonly number[];
}

/** What counts as a way to sign in. */
export interface UsableWays {
  readonly passwords: boolean;
  /** Whether people can sign in with identities of an issuer. */
  readonly provides: (issuer: string) => boolean;
}

/** The identity is another person's. */
export class IdentityTaken extends Error {}

/** Identities at OpenID providers, each of one person. */
export interface BookIdentities {
  /** Identities of a person, oldest first. */
  identities(personId: number): Promise<IdentityRecord[]>;
  /**
   * Begins a session of the identity's person, after the invitation is accepted and the memberships follow the claim; all
   * of it or nothing. Throws `stranger` for an identity of nobody, `invalid_credentials` for an inactive person, the errors
   * of acceptInvitation, and PersonEmailTaken.
   */
  signInByProvider(signIn: ProviderSignIn, from: Origin, now: number): Promise<ProviderSignedIn>;
  /** Links an identity to a person, if it is not theirs already. Throws IdentityTaken. */
  linkIdentity(personId: number, identity: NewIdentity, by: Actor, now: number): Promise<void>;
  /** Unlinks one. False: the person has none with this id. Throws `last_way` if no other usable way would be left. */
  unlinkIdentity(personId: number, id: number, ways: UsableWays, by: Actor, now: number): Promise<boolean>;
}

export function identityQueries(store: Store): BookIdentities {
  return {
    async identities(personId) {
      const theirs = store.db.selectFrom('identities').selectAll().where('person_id', '=', personId);
      const rows = await theirs.orderBy('id').execute();
      return rows.map(({ id, issuer, subject, email, created_at }) => ({
        id,
        issuer,
        subject,
        email,
        createdAt: created_at,
      }));
    },

    signInByProvider: (signIn, from, now) =>
      store.transaction((trx) => signInByProvider(store, trx, signIn, from, now)),

    linkIdentity: (personId, identity, by, now) =>
      store.transaction((trx) => linkIdentity(trx, personId, identity, by, now)),

    unlinkIdentity: (personId, id, ways, by, now) =>
      store.transaction(async (trx) => {
        // Locked, so that two can't each count the other's.
        const person = await store
          .lock(trx.selectFrom('persons').select('password_hash').where('id', '=', personId))
          .executeTakeFirst();
        const theirs = trx
          .selectFrom('identities')
          .select(['id', 'issuer'])
          .where('person_id', '=', personId);
        const rows = await theirs.execute();
        const unlinked = rows.find((row) => row.id === id);
        if (!unlinked) return false;
        const hasPassword = ways.passwords && typeof person?.password_hash === 'string';
        const hasOther = rows.some((row) => row.id !== id && ways.provides(row.issuer));
        if (!hasPassword && !hasOther) {
          const message =
            'This is your last way to sign in. Set a password, or link another identity, first.';
          throw new GatewayError('last_way', message);
        }
        await trx.deleteFrom('identities').where('id', '=', id).execute();
        await auditIdentity(trx, 'identity.unlink', id, by, now, { before: { issuer: unlinked.issuer } });
        return true;
      }),
  };
}

async function signInByProvider(
  store: Store,
  trx: Trx,
  signIn: ProviderSignIn,
  from: Origin,
  now: number,
): Promise<ProviderSignedIn> {
  const { provider, identity, verifiedEmail, roles, stranger, invitation } = signIn;
  const known = await personOf(store, trx, identity);
  if (known?.isActive === false) throw new GatewayError('invalid_credentials', 'The person is not active.');
  const who = known ? { person: known } : { newPerson: unlessError(stranger) };
  const { personId, keys } =
    invitation === undefined
      ? {
          personId: 'person' in who ? who.person.id : (await makePerson(trx, who.newPerson, from, now)).id,
          keys: [],
        }
      : await acceptInvitation(
          store,
          trx,
          invitation,
          { ...who, emails: emailsOf(who, verifiedEmail) },
          from,
          now,
        );
  const by: Actor = { type: 'person', id: personId, ...from };
  if (known) await noteEmail(trx, identity);
  else await linkIdentity(trx, personId, identity, by, now);
  const followed = await followClaim(
    store,
    trx,
    { personId, provider, roles: roles ?? undefined },
    from,
    now,
  );
  // After the memberships: the end of the last one ends the sessions that it finds.
  await createSession(store, trx, { ...signIn.session, personId }, by, now);
  return { ...followed, keys: [...keys, ...followed.keys] };
}

/** The person of an identity, locked, so that a deactivation is before or after the whole sign-in. */
async function personOf(
  store: Store,
  trx: Trx,
  { issuer, subject }: IdentityName,
): Promise<Person | undefined> {
  const query = trx
    .selectFrom('persons')
    .innerJoin('identities', 'identities.person_id', 'persons.id')
    .selectAll('persons')
    .where('issuer', '=', issuer)
    .where('subject', '=', subject);
  const row = await store.lock(query).executeTakeFirst();
  return row && personRecord(row);
}

/** A new person's address is theirs only if the provider verified it; a known person's is in any case. */
function emailsOf(who: Accepts, verifiedEmail: string | null): string[] {
  return [...('person' in who ? [who.person.email] : []), ...(verifiedEmail === null ? [] : [verifiedEmail])];
}

function unlessError(stranger: NewPerson | Error): NewPerson {
  if (stranger instanceof Error) throw stranger;
  return stranger;
}

async function noteEmail(trx: Trx, { issuer, subject, email }: NewIdentity): Promise<void> {
  const theirs = trx.updateTable('identities').set({ email }).where('issuer', '=', issuer);
  await theirs.where('subject', '=', subject).execute();
}

async function linkIdentity(
  trx: Trx,
  personId: number,
  { issuer, subject, email }: NewIdentity,
  by: Actor,
  now: number,
): Promise<void> {
  const made = await trx
    .insertInto('identities')
    .values({ person_id: personId, issuer, subject, email, created_at: now })
    .onConflict((conflict) => conflict.columns(['issuer', 'subject']).doNothing())
    .returning('id')
    .executeTakeFirst();
  if (made) {
    await auditIdentity(trx, 'identity.link', made.id, by, now, { after: { issuer } });
    return;
  }
  const linked = trx.selectFrom('identities').select('person_id').where('issuer', '=', issuer);
  const { person_id } = await linked.where('subject', '=', subject).executeTakeFirstOrThrow();
  if (person_id !== personId) throw new IdentityTaken("The identity is another person's.");
}

/**
 * Makes the memberships that the provider's claim gives, and changes and ends those that it gave before. Memberships of
 * other origin stay as they are, deactivated ones stay so, and the last owner stays.
 */
async function followClaim(
  store: Store,
  trx: Trx,
  {
    personId,
    provider,
    roles,
  }: { personId: number; provider: string; roles: ProviderSignIn['roles'] | undefined },
  from: Origin,
  now: number,
): Promise<ProviderSignedIn> {
  if (!roles) return { keys: [], unknownAccounts: [] };
  const before = trx
    .selectFrom('memberships')
    .select(['account_id', 'issuer', 'is_active'])
    .where('person_id', '=', personId);
  const existing = await before.execute();
  const given = new Map(roles.map(({ account, role }) => [account, role]));
  const named = [...new Set([...given.keys(), ...existing.map((row) => row.account_id)])];
  if (named.length === 0) return { keys: [], unknownAccounts: [] };
  // Locked by ascending id, as long as changes of members are made one at a time an account.
  const accounts = await store
    .lock(trx.selectFrom('accounts').select('id').where('id', 'in', named).orderBy('id'))
    .execute();
  const changer: MemberChanger = { by: { type: 'system', id: null, ...from }, roles: new Set(ROLES) };
  const keys: KeyRecord[] = [];
  const idsOf = (isAsked: (accountId: number) => boolean) => accounts.map(({ id }) => id).filter(isAsked);
  // A deactivated membership stays even if the claim no longer gives it: a later claim would create it again, active.
  const isOfClaim = (id: number) =>
    existing.some(
      (row) => row.account_id === id && row.issuer === provider && (row.is_active === 1 || given.has(id)),
    );
  const isMember = (id: number) => existing.some((row) => row.account_id === id);
  for (const accountId of idsOf((id) => given.has(id) && !isMember(id)))
    keys.push(
      ...(await addMember(
        trx,
        { accountId, personId, role: given.get(accountId) as Role, provider },
        changer,
        now,
      )),
    );
  // New ones first: whoever always has a membership keeps their sessions.
  for (const accountId of idsOf(isOfClaim)) {
    const role = given.get(accountId);
    const id = { accountId, personId };
    const changed = role
      ? updateMember(store, trx, id, { role }, changer, now)
      : removeMember(store, trx, id, changer, now);
    keys.push(...((await unlessLastOwner(changed))?.keys ?? []));
  }
  const isThere = new Set(accounts.map(({ id }) => id));
  return { keys, unknownAccounts: [...given.keys()].filter((id) => !isThere.has(id)) };
}

async function addMember(
  trx: Trx,
  added: { accountId: number; personId: number; role: Role; provider: string },
  { by }: MemberChanger,
  now: number,
): Promise<KeyRecord[]> {
  const { accountId, personId, role, provider } = added;
  const row = await insertMembership(
    trx,
    {
      account_id: accountId,
      person_id: personId,
      role,
      can_create_keys: 1,
      spending_limits: '[]',
      issuer: provider,
    },
    now,
  );
  if (!row) return [];
  const membership = membershipOf(row);
  const target = { type: 'member', id: personId } as const;
  await writeAudit(trx, { by, action: 'member.add', accountId, target, after: auditView(membership) }, now);
  return await setMemberLimits(trx, accountId, personId, membership.spendingLimits, now);
}

async function unlessLastOwner<Result>(changed: Promise<Result>): Promise<Result | undefined> {
  return await changed.catch((error: unknown) => {
    if (error instanceof GatewayError && error.code === 'last_owner') return undefined;
    throw error;
  });
}

async function auditIdentity(
  trx: Trx,
  action: 'identity.link' | 'identity.unlink',
  id: number,
  by: Actor,
  now: number,
  fields: { readonly before?: object; readonly after?: object },
): Promise<void> {
  await writeAudit(trx, { by, action, accountId: null, target: { type: 'identity', id }, ...fields }, now);
}
