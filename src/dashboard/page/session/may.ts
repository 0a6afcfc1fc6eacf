import { type Action, GIVEN_BY_ADMINS, ROLES, type Role, reachOf } from '../../../domain/roles.ts';

/**
 * Who the page is shown to: a member by the role in the account (a managing key is an `admin`); a `key` that may not
 * manage, and so sees itself only; an `operator`; or a `person` without an account.
 */
export type PageRole = Role | 'key' | 'operator' | 'person';

/** True if a role may do something in its account, if only with what is its own. */
export function can(role: PageRole, action: Action): boolean {
  return isRole(role) && reachOf(role, action) !== undefined;
}

/** True if a role can list keys: those of the account, its own, or itself. */
export function seesKeys(role: PageRole): boolean {
  return role === 'key' || can(role, 'read keys');
}

/** The roles that a role gives to others, and takes from them. */
export function rolesGivenBy(role: PageRole): readonly Role[] {
  if (role === 'owner') return ROLES;
  return can(role, 'change members') ? ROLES.filter((given) => GIVEN_BY_ADMINS.has(given)) : [];
}

function isRole(role: PageRole): role is Role {
  return ROLES.some((known) => known === role);
}

/** Places of the pages of an account, with what a role must be allowed to do. */
const ACCOUNT_PLACES = [
  ['home', undefined],
  ['requests', 'read calls'],
  ['usage', 'read usage'],
  ['keys', 'read keys'],
  ['models', undefined],
  ['billing', 'read the ledger'],
  ['alerts', 'read alerts'],
  ['people', 'read members'],
] as const satisfies readonly (readonly [string, Action | undefined])[];

/**
 * Places of the navigation of a role (specification section 8); the first is the home page. `knowsModels` is false for a
 * session that cannot read the catalog.
 */
export function placesOf(role: PageRole, knowsModels: boolean): readonly string[] {
  if (role === 'operator') {
    return ['home', 'accounts', 'requests', 'usage', 'models', 'providers', 'health'];
  }
  if (role === 'key') return ['home', 'requests', 'usage', 'models'];
  if (role === 'person') return ['me'];
  return ACCOUNT_PLACES.filter(([place, action]) =>
    action === undefined ? place !== 'models' || knowsModels : can(role, action),
  ).map(([place]) => place);
}

/** Places of a role that other pages link to, outside the navigation. */
export function linkedOf(role: PageRole, isPerson: boolean): readonly string[] {
  return [
    ...(can(role, 'explain calls') ? ['explain'] : []),
    ...(role === 'key' ? ['keys'] : []),
    ...(isPerson ? ['me'] : []),
  ];
}
