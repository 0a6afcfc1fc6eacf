import { sql } from 'kysely';
import { GatewayError } from '../domain/errors.ts';
import type { Membership } from '../domain/people.ts';
import type { SpendingLimit } from '../domain/spending-limits.ts';
import type { MembershipRow } from './people-tables.ts';
import type { Store, Trx } from './store.ts';

/** Number of the person's active keys in the account of a membership. */
export const activeKeys = sql<number>`(
  select count(*) from keys
  where keys.account_id = memberships.account_id and keys.person_id = memberships.person_id and keys.is_active = 1
)`.as('active_keys');

export function membershipOf(row: MembershipRow): Membership {
  return {
    accountId: row.account_id,
    personId: row.person_id,
    role: row.role,
    isActive: row.is_active === 1,
    canCreateKeys: row.can_create_keys === 1,
    spendingLimits: JSON.parse(row.spending_limits) as SpendingLimit[],
    createdAt: row.created_at,
  };
}

/** Inserts an active membership; the caller writes the audit entry. Undefined: the person is a member already. */
export function insertMembership(
  trx: Trx,
  row: Omit<MembershipRow, 'id' | 'is_active' | 'created_at'>,
  now: number,
): Promise<MembershipRow | undefined> {
  return trx
    .insertInto('memberships')
    .values({ ...row, is_active: 1, created_at: now })
    .onConflict((conflict) => conflict.columns(['account_id', 'person_id']).doNothing())
    .returningAll()
    .executeTakeFirst();
}

/**
 * The membership of an active member, with the rows of membership and person locked, so that neither ends before the
 * commit of `trx`. Throws `member_inactive`.
 */
export async function requireActiveMember(
  store: Store,
  trx: Trx,
  accountId: number,
  personId: number,
): Promise<Membership> {
  const row = await lockedMembership(store, trx, accountId, personId);
  if (row?.is_active === 1 && row.is_person_active === 1) return membershipOf(row);
  throw new GatewayError(
    'member_inactive',
    "The key's person is not an active member of the account. Activate the member first.",
  );
}

/** Row of a membership, with whether its person is active; locks the rows of both. */
export function lockedMembership(store: Store, trx: Trx, accountId: number, personId: number) {
  const query = trx
    .selectFrom('memberships')
    .innerJoin('persons', 'persons.id', 'memberships.person_id')
    .selectAll('memberships')
    .select('persons.is_active as is_person_active')
    .where('account_id', '=', accountId)
    .where('person_id', '=', personId);
  return store.lock(query).executeTakeFirst();
}
