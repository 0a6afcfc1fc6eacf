import { sql } from 'kysely';
import type { Actor } from '../domain/actor.ts';
import { GatewayError } from '../domain/errors.ts';
import type { KeyRecord } from '../domain/key.ts';
import type { Membership, Person } from '../domain/people.ts';
import type { Role } from '../domain/roles.ts';
import { type SpendingLimit, wireLimits } from '../domain/spending-limits.ts';
import { difference, writeAudit } from './audit.ts';
import { keyRecord, NO_PREVIOUS } from './key-row.ts';
import { setMemberLimits } from './keys.ts';
import { chunks } from './many-rows.ts';
import { activeKeys, lockedMembership, membershipOf } from './membership-row.ts';
import type { MembershipRow } from './people-tables.ts';
import { endSessionsOfKeys } from './sessions.ts';
import type { Store, Trx } from './store.ts';

/** A membership with its person. */
export interface Member extends Membership {
  readonly person: Pick<Person, 'id' | 'email' | 'name'>;
  /** Number of the person's active keys in the account. */
  readonly activeKeys: number;
  /** Last request of the person with a session; null: none. */
  readonly lastSeenAt: number | null;
}

/** Absent fields keep their value. */
export interface MemberChange {
  readonly role?: Role | undefined;
  readonly isActive?: boolean | undefined;
  readonly canCreateKeys?: boolean | undefined;
  readonly spendingLimits?: readonly SpendingLimit[] | undefined;
}

/** Who changes members and invitations. */
export interface MemberChanger {
  readonly by: Actor;
  /** Roles that it gives and takes. */
  readonly roles: ReadonlySet<Role>;
}

/** A change of a membership. */
export interface ChangedMember {
  /** After the change; as it was, if it ended. */
  readonly member: Membership;
  /** Keys that the change changed too, to be published before the answer. */
  readonly keys: readonly KeyRecord[];
}

/**
 * Memberships of accounts. Changes throw `not_permitted` for a role that the changer does not give or take, and
 * `last_owner` if they would leave the account without an active owner (membership and person both active).
 */
export interface BookMembers {
  /** Members of the account, by time, including inactive ones. */
  members(accountId: number): Promise<Member[]>;
  member(accountId: number, personId: number): Promise<Member | undefined>;
  /** Names of people, or else their e-mail addresses, by id; unknown ids are omitted. */
  personNames(ids: readonly number[]): Promise<ReadonlyMap<number, string>>;
  /** Without a difference, writes nothing. Undefined: no such member. */
  updateMember(
    accountId: number,
    personId: number,
    change: MemberChange,
    changer: MemberChanger,
    now: number,
  ): Promise<ChangedMember | undefined>;
  /** Undefined: no such member. */
  removeMember(
    accountId: number,
    personId: number,
    changer: MemberChanger,
    now: number,
  ): Promise<ChangedMember | undefined>;
}

export function memberQueries(store: Store): BookMembers {
  const membersOf = (accountId: number) =>
    store.db
      .selectFrom('memberships')
      .innerJoin('persons', 'persons.id', 'memberships.person_id')
      .selectAll('memberships')
      .select(['persons.email', 'persons.name', 'persons.last_seen_at'])
      .select(activeKeys)
      .where('memberships.account_id', '=', accountId)
      .orderBy('memberships.id');
  return {
    members: async (accountId) => (await membersOf(accountId).execute()).map(memberOf),

    async member(accountId, personId) {
      const row = await membersOf(accountId).where('person_id', '=', personId).executeTakeFirst();
      return row && memberOf(row);
    },

    async personNames(ids) {
      const found = new Map<number, string>();
      for (const chunk of chunks([...new Set(ids)])) {
        const people = store.db
          .selectFrom('persons')
          .select(['id', 'email', 'name'])
          .where('id', 'in', chunk);
        for (const { id, email, name } of await people.execute()) found.set(id, name || email);
      }
      return found;
    },

    updateMember: (accountId, personId, change, changer, now) =>
      store.transaction((trx) => updateMember(store, trx, { accountId, personId }, change, changer, now)),

    removeMember: (accountId, personId, changer, now) =>
      store.transaction((trx) => removeMember(store, trx, { accountId, personId }, changer, now)),
  };
}

/** Names a membership. */
export type MemberId = Pick<Membership, 'accountId' | 'personId'>;

/** BookMembers.updateMember in a transaction of the caller. What it throws, it throws before it writes. */
export async function updateMember(
  store: Store,
  trx: Trx,
  { accountId, personId }: MemberId,
  change: MemberChange,
  changer: MemberChanger,
  now: number,
): Promise<ChangedMember | undefined> {
  const before = await lockMembership(store, trx, accountId, personId);
  if (!before) return undefined;
  const after = { ...before.membership, ...withoutUndefined(change) };
  requireRoles(changer, before.membership.role, after.role);
  const changed = difference(auditView(before.membership), auditView(after));
  if (Object.keys(changed.after).length === 0) return { member: after, keys: [] };
  if (before.isActiveOwner && !(after.role === 'owner' && after.isActive)) {
    await requireOtherOwner(trx, accountId, personId);
  }
  await trx
    .updateTable('memberships')
    .set({
      role: after.role,
      is_active: Number(after.isActive),
      can_create_keys: Number(after.canCreateKeys),
      spending_limits: JSON.stringify(after.spendingLimits),
    })
    .where('account_id', '=', accountId)
    .where('person_id', '=', personId)
    .execute();
  const limited =
    'spending_limits' in changed.after
      ? await setMemberLimits(trx, accountId, personId, after.spendingLimits, now)
      : [];
  const ended = after.isActive ? [] : await endMembership(trx, accountId, personId, now);
  const target = { type: 'member', id: personId } as const;
  await writeAudit(trx, { by: changer.by, action: 'member.update', accountId, target, ...changed }, now);
  // A key in both lists is newest in the later one.
  return { member: after, keys: newest([...limited, ...ended]) };
}

/** BookMembers.removeMember in a transaction of the caller. What it throws, it throws before it writes. */
export async function removeMember(
  store: Store,
  trx: Trx,
  { accountId, personId }: MemberId,
  changer: MemberChanger,
  now: number,
): Promise<ChangedMember | undefined> {
  const found = await lockMembership(store, trx, accountId, personId);
  if (!found) return undefined;
  const { membership, isActiveOwner } = found;
  requireRoles(changer, membership.role);
  if (isActiveOwner) await requireOtherOwner(trx, accountId, personId);
  await trx
    .deleteFrom('memberships')
    .where('account_id', '=', accountId)
    .where('person_id', '=', personId)
    .execute();
  const keys = await endMembership(trx, accountId, personId, now);
  const target = { type: 'member', id: personId } as const;
  const before = auditView(membership);
  await writeAudit(trx, { by: changer.by, action: 'member.remove', accountId, target, before }, now);
  return { member: membership, keys };
}

/**
 * The membership of a person, with the rows of account, membership and person locked: the account's, so that two changes
 * can't each count the other's owner; the person's, so that of two memberships that end at once one is the last.
 */
async function lockMembership(store: Store, trx: Trx, accountId: number, personId: number) {
  await store.lock(trx.selectFrom('accounts').select('id').where('id', '=', accountId)).execute();
  const row = await lockedMembership(store, trx, accountId, personId);
  if (!row) return undefined;
  const membership = membershipOf(row);
  const isActiveOwner = membership.role === 'owner' && membership.isActive && row.is_person_active === 1;
  return { membership, isActiveOwner };
}

export function memberNotFound(): GatewayError {
  return new GatewayError('member_not_found', 'The account has no member with this person id.');
}

/** Throws `not_permitted` for a role that the changer does not give or take. */
export function requireRoles({ roles }: MemberChanger, ...asked: readonly Role[]): void {
  const refused = asked.find((role) => !roles.has(role));
  if (refused === undefined) return;
  throw new GatewayError(
    'not_permitted',
    `Only an owner gives and takes the role ${refused}. You give and take: ${[...roles].join(', ')}.`,
  );
}

async function requireOtherOwner(trx: Trx, accountId: number, personId: number): Promise<void> {
  const other = await trx
    .selectFrom('memberships')
    .innerJoin('persons', 'persons.id', 'memberships.person_id')
    .select('memberships.id')
    .where('account_id', '=', accountId)
    .where('person_id', '!=', personId)
    .where('role', '=', 'owner')
    .where('memberships.is_active', '=', 1)
    .where('persons.is_active', '=', 1)
    .limit(1)
    .executeTakeFirst();
  if (other) return;
  throw new GatewayError(
    'last_owner',
    'This is the last active owner of the account. Make another member an owner first.',
  );
}

/** Deactivates the person's keys in the account, and ends the person's sessions with the last active membership. */
async function endMembership(
  trx: Trx,
  accountId: number,
  personId: number,
  now: number,
): Promise<KeyRecord[]> {
  const active = await trx
    .selectFrom('memberships')
    .select('id')
    .where('person_id', '=', personId)
    .where('is_active', '=', 1)
    .limit(1)
    .executeTakeFirst();
  if (!active) await trx.deleteFrom('sessions').where('person_id', '=', personId).execute();
  return await deactivateKeysOf(trx, { accountId, personId }, now);
}

/**
 * Deactivates the active keys of a person, in one account or in all. Returns their records, to be published after the
 * commit and before the answer. `trx` must have changed the membership or person before, which others then wait for.
 */
export async function deactivateKeysOf(
  trx: Trx,
  { accountId, personId }: { readonly accountId?: number; readonly personId: number },
  now: number,
): Promise<KeyRecord[]> {
  let update = trx
    .updateTable('keys')
    .set({ is_active: 0, ...NO_PREVIOUS, version: sql<number>`version + 1`, updated_at: now })
    .where('person_id', '=', personId)
    .where('is_active', '=', 1);
  if (accountId !== undefined) update = update.where('account_id', '=', accountId);
  const keys = (await update.returningAll().execute()).map(keyRecord);
  if (keys.length > 0)
    await endSessionsOfKeys(
      trx,
      keys.map(({ id }) => id),
    );
  return keys;
}

function memberOf(
  row: MembershipRow & { email: string; name: string; last_seen_at: number | null; active_keys: number },
): Member {
  const { email, name } = row;
  return {
    ...membershipOf(row),
    person: { id: row.person_id, email, name },
    activeKeys: row.active_keys,
    lastSeenAt: row.last_seen_at,
  };
}

/** What the audit log shows of a membership, or an invitation to one. */
export function auditView({
  role,
  isActive,
  canCreateKeys,
  spendingLimits,
}: Pick<Membership, 'role' | 'canCreateKeys' | 'spendingLimits'> & { readonly isActive?: boolean }) {
  return {
    role,
    ...(isActive === undefined ? {} : { is_active: isActive }),
    can_create_keys: canCreateKeys,
    spending_limits: wireLimits(spendingLimits),
  };
}

function withoutUndefined(change: MemberChange): { [F in keyof MemberChange]: NonNullable<MemberChange[F]> } {
  const given = Object.entries(change).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given);
}

/** The last record of each key. */
function newest(keys: readonly KeyRecord[]): KeyRecord[] {
  return [...new Map(keys.map((key) => [key.id, key])).values()];
}
