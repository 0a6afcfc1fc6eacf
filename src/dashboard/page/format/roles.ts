import { type Action, type Reach, type Role, reachOf } from '../../../domain/roles.ts';

/** Display names of the roles of members. */
export const ROLE_NAMES: Readonly<Record<Role, string>> = {
  owner: 'Owner',
  admin: 'Admin',
  billing: 'Billing',
  member: 'Member',
  viewer: 'Viewer',
};

/** What may be done, in words that follow "may", in the order in which they are said; {} is "your" or "their". */
const WORDS: readonly (readonly [Action, Reach, string])[] = [
  ['change keys', 'all', 'create and change all keys'],
  ['change keys', 'own', 'create {} own keys'],
  ['read calls', 'all', 'see all calls and what they cost'],
  ['read calls', 'own', 'see {} own calls and what they cost'],
  ['read the ledger', 'all', 'see the balance and the ledger'],
  ['change the threshold', 'all', 'set the alert about a low balance'],
  ['change members', 'all', 'invite and change members'],
  ['read the audit log', 'all', 'read the audit log'],
];

/** What a role may do in its account, in words that follow "you may" or "they may". */
export function whatRoleMay(role: Role, whose: 'your' | 'their' = 'your'): readonly string[] {
  return WORDS.filter(([action, reach]) => reachOf(role, action) === reach).map(([, , words]) =>
    words.replace('{}', whose),
  );
}
