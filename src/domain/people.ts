import type { Role } from './roles.ts';
import type { SpendingLimit } from './spending-limits.ts';

/** A person who signs in. Times in milliseconds since the epoch. */
export interface Person {
  readonly id: number;
  readonly email: string;
  readonly name: string;
  readonly isOperator: boolean;
  readonly isActive: boolean;
  readonly createdAt: number;
  readonly lastSeenAt: number | null;
}

/** A person's membership of an account. */
export interface Membership {
  readonly accountId: number;
  readonly personId: number;
  readonly role: Role;
  readonly isActive: boolean;
  readonly canCreateKeys: boolean;
  readonly spendingLimits: readonly SpendingLimit[];
  readonly createdAt: number;
}

/** Unique form of an e-mail address: addresses with the same form belong to one account, or one person. */
export function emailKey(email: string): string {
  return email.normalize('NFC').toLowerCase();
}

/** E-mail address of the account that `npm start` makes. Its first person owns it. */
export const DEMO_EMAIL = 'demo@example.com';
