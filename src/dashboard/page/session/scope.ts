import { createContext, useContext } from 'react';
import {
  type Action,
  GIVEN_BY_ADMINS,
  OF_ANY_KEY,
  type Reach,
  ROLES,
  type Role,
  reachOf,
} from '../../../domain/roles.ts';
import type { Me, Membership } from './me.ts';

/**
 * Whose pages are shown, and what the session may do there: an account of the session (`own`), all accounts of the
 * operator (`operator`), or one account as the operator sees it (`operated`). Pages ask `can`, never for a role's name.
 */
export interface Scope {
  readonly kind: 'own' | 'operator' | 'operated';
  /** Path of the scope's pages: `/a/5`, `/operator`, `/operator/accounts/5`. */
  readonly path: string;
  /** Path below which the API has the scope's calls, usage, ledger, …: `/api/account/`. */
  readonly api: '/api/account/' | '/api/admin/' | `/api/admin/accounts/${number}/`;
  /** Path of the scope's keys in the API. */
  readonly keysApi: string;
  readonly accountId: number | undefined;
  /** Value of the header `Tollgate-Account`; undefined if the path names the account. */
  readonly accountHeader: number | undefined;
  readonly me: Me;
  readonly membership: Membership | undefined;
  /** True if the session may do this, if only with its own keys. */
  can(action: Action): boolean;
  /** How far the session may do this: `own` is its own keys and calls alone. */
  reach(action: Action): Reach | undefined;
  /** Roles that the session gives to others, and takes from them. */
  readonly givenRoles: readonly Role[];
}

/** What the operator may not do with an account, because it is its people's own. */
const NOT_BY_OPERATORS: ReadonlySet<Action> = new Set([
  'read the webhook secret',
  'send test alerts',
  'leave the account',
]);

/** Scope of an account of the session; undefined if it has none of that id. */
export function ownScope(me: Me, accountId: number): Scope | undefined {
  const membership = me.memberships.find(({ account, is_active }) => is_active && account.id === accountId);
  if (membership === undefined && me.accountId !== accountId) return undefined;
  const reach = (action: Action): Reach | undefined => {
    if (membership) return reachOf(membership.role, action);
    if (me.key?.can_manage) return reachOf('admin', action);
    return OF_ANY_KEY.has(action) ? 'own' : undefined;
  };
  return scopeOf(me, membership, reach, {
    kind: 'own',
    path: `/a/${accountId}`,
    api: '/api/account/',
    keysApi: '/api/keys/',
    accountId,
    accountHeader: membership && accountId,
    givenRoles: rolesGivenBy(membership?.role ?? (me.key?.can_manage ? 'admin' : 'member')),
  });
}

/** Scope of the operator over all accounts. */
export function operatorScope(me: Me): Scope | undefined {
  if (!me.is_operator) return undefined;
  return scopeOf(me, undefined, operatorReach, {
    kind: 'operator',
    path: '/operator',
    api: '/api/admin/',
    keysApi: '/api/admin/',
    accountId: undefined,
    accountHeader: undefined,
    givenRoles: [],
  });
}

/** Scope of one account as the operator sees it. */
export function operatedScope(me: Me, accountId: number): Scope | undefined {
  if (!me.is_operator) return undefined;
  return scopeOf(me, undefined, operatorReach, {
    kind: 'operated',
    path: `/operator/accounts/${accountId}`,
    api: `/api/admin/accounts/${accountId}/`,
    keysApi: `/api/admin/accounts/${accountId}/keys/`,
    accountId,
    accountHeader: undefined,
    givenRoles: ROLES,
  });
}

function operatorReach(action: Action): Reach | undefined {
  return NOT_BY_OPERATORS.has(action) ? undefined : 'all';
}

function scopeOf(
  me: Me,
  membership: Membership | undefined,
  reach: Scope['reach'],
  fields: Omit<Scope, 'me' | 'membership' | 'can' | 'reach'>,
): Scope {
  return { ...fields, me, membership, reach, can: (action) => reach(action) !== undefined };
}

function rolesGivenBy(role: Role): readonly Role[] {
  if (role === 'owner') return ROLES;
  return role === 'admin' ? ROLES.filter((given) => GIVEN_BY_ADMINS.has(given)) : [];
}

export const ScopeContext = createContext<Scope | undefined>(undefined);

/** The scope of the page that is shown. */
export function useScope(): Scope {
  const scope = useContext(ScopeContext);
  if (scope === undefined) throw new Error('This component is used outside the pages of an account.');
  return scope;
}
