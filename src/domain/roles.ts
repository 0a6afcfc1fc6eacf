/** What a member is in an account; of several claimed at once, the first counts. */
export const ROLES = ['owner', 'admin', 'billing', 'member', 'viewer'] as const;
export type Role = (typeof ROLES)[number];

/** How far a role reaches: everything of the account, or only the person's own keys and their calls. */
export type Reach = 'all' | 'own';

const READERS = { owner: 'all', admin: 'all', billing: 'all', viewer: 'all' } as const;
const LEADERS = { owner: 'all', admin: 'all' } as const;

/**
 * What each role may, and how far. The only such table: routes name their row, and from it follow the check, the API's
 * description, the docs and what the page shows. A managing key may what an admin may.
 */
export const MAY = {
  'read the account': READERS,
  'read the ledger': READERS,
  'read usage': { ...READERS, member: 'own' },
  'read limits': { ...READERS, member: 'own' },
  'read alerts': READERS,
  'rename the account': LEADERS,
  'change the threshold': { ...LEADERS, billing: 'all' },
  'send test alerts': { ...LEADERS, billing: 'all' },
  'read the webhook secret': LEADERS,
  'read keys': { ...LEADERS, member: 'own', viewer: 'all' },
  'change keys': { ...LEADERS, member: 'own' },
  'explain calls': { ...LEADERS, member: 'own', viewer: 'all' },
  'read calls': { ...READERS, member: 'own' },
  'read models': { ...READERS, member: 'all' },
  'read members': { ...LEADERS, viewer: 'all' },
  'change members': LEADERS,
  'leave the account': { owner: 'own', admin: 'own', billing: 'own', member: 'own', viewer: 'own' },
  'read the audit log': { ...LEADERS, viewer: 'all' },
} as const satisfies Record<string, Partial<Record<Role, Reach>>>;

export type Action = keyof typeof MAY;

/** How far a role may do something; undefined: not at all. */
export function reachOf(role: Role, action: Action): Reach | undefined {
  return (MAY[action] as Partial<Record<Role, Reach>>)[role];
}

/** The roles that may do something, in the order of ROLES. */
export function rolesThatMay(action: Action): readonly Role[] {
  return ROLES.filter((role) => reachOf(role, action) !== undefined);
}

/** Roles that an admin, or a managing key, gives and takes. */
export const GIVEN_BY_ADMINS: ReadonlySet<Role> = new Set<Role>(['billing', 'member', 'viewer']);

/** What a key that can't manage may do, of itself alone. */
export const OF_ANY_KEY: ReadonlySet<Action> = new Set<Action>([
  'read the ledger',
  'read usage',
  'read limits',
  'read keys',
  'read calls',
  'read models',
]);
