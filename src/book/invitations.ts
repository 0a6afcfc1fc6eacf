import type { Actor } from '../domain/actor.ts';
import { GatewayError } from '../domain/errors.ts';
import type { KeyRecord } from '../domain/key.ts';
import { emailKey, type Membership, type Person } from '../domain/people.ts';
import type { Role } from '../domain/roles.ts';
import type { SpendingLimit } from '../domain/spending-limits.ts';
import { writeAudit } from './audit.ts';
import { setMemberLimits } from './keys.ts';
import { auditView, type MemberChanger, requireRoles } from './members.ts';
import { insertMembership, membershipOf } from './membership-row.ts';
import type { InvitationRow } from './people-tables.ts';
import { makePerson, type NewPerson } from './persons.ts';
import type { Store, Trx } from './store.ts';

/** Lifetime of an invitation in milliseconds. */
export const INVITATION_MS = 7 * 86_400_000;

/** A new invitation; `secretHash` is the SHA-256 of its secret, hex. */
export interface NewInvitation {
  readonly role: Role;
  /** Null: for whoever has the link. */
  readonly email: string | null;
  readonly name: string | null;
  readonly canCreateKeys: boolean;
  readonly spendingLimits: readonly SpendingLimit[];
  readonly secretHash: string;
}

export interface Invitation extends Omit<NewInvitation, 'secretHash'> {
  readonly id: number;
  readonly accountId: number;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly expiresAt: number;
}

/** An invitation with the name of its account. */
export interface ShownInvitation extends Invitation {
  readonly account: { readonly id: number; readonly name: string };
}

/** The person who accepts: one of the book, or a new one. */
export type Accepts = (
  | { readonly person: Pick<Person, 'id' | 'email'> }
  | { readonly newPerson: NewPerson }
) & {
  /** E-mail addresses that are theirs. Default: the person's. */
  readonly emails?: readonly string[];
};

export interface Accepted {
  readonly personId: number;
  readonly membership: Membership;
  /** Inactive keys of an earlier membership, which now have the limits of this one; to be published. */
  readonly keys: readonly KeyRecord[];
}

/** Invitations to accounts. Each is used once and for 7 days. */
export interface BookInvitations {
  /** Throws `not_permitted` for a role that the changer does not give. */
  createInvitation(
    accountId: number,
    invitation: NewInvitation,
    changer: MemberChanger,
    now: number,
  ): Promise<Invitation>;
  /** Open invitations of the account, oldest first. */
  invitations(accountId: number, now: number): Promise<Invitation[]>;
  /** False: no such open invitation. Throws `not_permitted` for a role that the changer does not take. */
  withdrawInvitation(accountId: number, id: number, changer: MemberChanger, now: number): Promise<boolean>;
  /** The open invitation with this secret; undefined: there is none. */
  invitationOf(secretHash: string, now: number): Promise<ShownInvitation | undefined>;
  /**
   * Makes the membership, and the person if it is new. Throws `invitation_gone`, `invitation_email` for an e-mail that
   * is not the invitation's, `already_member`, and `email_taken`.
   */
  acceptInvitation(
    secretHash: string,
    who: Accepts,
    by: Pick<Actor, 'ip' | 'requestId'>,
    now: number,
  ): Promise<Accepted>;
}

export function invitationQueries(store: Store): BookInvitations {
  const { db } = store;
  const open = (now: number) =>
    db.selectFrom('invitations').where('ended_at', 'is', null).where('expires_at', '>', now);
  return {
    createInvitation: (accountId, invitation, changer, now) =>
      store.transaction((trx) => insertInvitation(trx, accountId, invitation, changer, now)),

    async invitations(accountId, now) {
      const rows = await open(now).selectAll().where('account_id', '=', accountId).orderBy('id').execute();
      return rows.map(invitationOf);
    },

    withdrawInvitation: (accountId, id, changer, now) =>
      store.transaction(async (trx) => {
        const query = trx
          .selectFrom('invitations')
          .selectAll()
          .where('id', '=', id)
          .where('account_id', '=', accountId);
        const row = await store.lock(query).executeTakeFirst();
        if (!row || !isOpen(row, now)) return false;
        requireRoles(changer, row.role);
        await endInvitation(trx, id, now);
        const target = { type: 'invitation', id } as const;
        const before = auditView(invitationOf(row));
        const action = 'invitation.withdraw';
        await writeAudit(trx, { by: changer.by, action, accountId, target, before }, now);
        return true;
      }),

    async invitationOf(secretHash, now) {
      const row = await open(now)
        .innerJoin('accounts', 'accounts.id', 'invitations.account_id')
        .selectAll('invitations')
        .select(['accounts.name as account_name', 'accounts.email as account_email'])
        .where('secret_hash', '=', secretHash)
        .executeTakeFirst();
      if (!row) return undefined;
      const name = row.account_name ?? row.account_email;
      return { ...invitationOf(row), account: { id: row.account_id, name } };
    },

    acceptInvitation: (secretHash, who, from, now) =>
      store.transaction((trx) => acceptInvitation(store, trx, secretHash, who, from, now)),
  };
}

/** BookInvitations.acceptInvitation in a transaction of the caller. */
export async function acceptInvitation(
  store: Store,
  trx: Trx,
  secretHash: string,
  who: Accepts,
  from: Pick<Actor, 'ip' | 'requestId'>,
  now: number,
): Promise<Accepted> {
  // Locked, so that of two who accept at once the second finds it used.
  const query = trx.selectFrom('invitations').selectAll().where('secret_hash', '=', secretHash);
  const invitation = await store.lock(query).executeTakeFirst();
  if (!invitation || !isOpen(invitation, now)) throw invitationGone();
  const { id, account_id: accountId, email } = invitation;
  const theirs = who.emails ?? ['person' in who ? who.person.email : who.newPerson.email];
  if (email !== null && !theirs.some((one) => emailKey(one) === emailKey(email))) {
    throw new GatewayError(
      'invitation_email',
      'This invitation is for another e-mail address. Accept it under the address it was made for.',
      'email',
    );
  }
  const { id: personId } = 'person' in who ? who.person : await makePerson(trx, who.newPerson, from, now);
  const row = await insertMembership(
    trx,
    {
      account_id: accountId,
      person_id: personId,
      role: invitation.role,
      can_create_keys: invitation.can_create_keys,
      spending_limits: invitation.spending_limits,
      issuer: null,
    },
    now,
  );
  if (!row) {
    const message = 'You are a member of this account already. An owner or admin can change the membership.';
    throw new GatewayError('already_member', message);
  }
  await endInvitation(trx, id, now);
  const membership = membershipOf(row);
  const { spendingLimits } = membership;
  const keys = await setMemberLimits(trx, accountId, personId, spendingLimits, now);
  const by = { type: 'person', id: personId, ...from } as const;
  const target = { type: 'invitation', id } as const;
  const after = { person_id: personId, ...auditView(membership) };
  await writeAudit(trx, { by, action: 'invitation.accept', accountId, target, after }, now);
  return { personId, membership, keys };
}

/** Inserts an invitation, in the transaction that may make its account. */
export async function insertInvitation(
  trx: Trx,
  accountId: number,
  { role, email, name, canCreateKeys, spendingLimits, secretHash }: NewInvitation,
  changer: MemberChanger,
  now: number,
): Promise<Invitation> {
  requireRoles(changer, role);
  const row = await trx
    .insertInto('invitations')
    .values({
      account_id: accountId,
      role,
      email,
      name,
      can_create_keys: Number(canCreateKeys),
      spending_limits: JSON.stringify(spendingLimits),
      secret_hash: secretHash,
      created_at: now,
      expires_at: now + INVITATION_MS,
      ended_at: null,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  const invitation = invitationOf(row);
  const target = { type: 'invitation', id: row.id } as const;
  const after = { email, name, ...auditView(invitation) };
  await writeAudit(trx, { by: changer.by, action: 'invitation.create', accountId, target, after }, now);
  return invitation;
}

async function endInvitation(trx: Trx, id: number, now: number): Promise<void> {
  await trx.updateTable('invitations').set({ ended_at: now }).where('id', '=', id).execute();
}

function isOpen(row: InvitationRow, now: number): boolean {
  return row.ended_at === null && row.expires_at > now;
}

export function invitationGone(): GatewayError {
  return new GatewayError(
    'invitation_gone',
    'This invitation was used or withdrawn, or has expired. Ask for a new one.',
  );
}

function invitationOf(row: InvitationRow): Invitation {
  return {
    id: row.id,
    accountId: row.account_id,
    role: row.role,
    email: row.email,
    name: row.name,
    canCreateKeys: row.can_create_keys === 1,
    spendingLimits: JSON.parse(row.spending_limits) as SpendingLimit[],
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  };
}
