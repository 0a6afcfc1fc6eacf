import type { Book } from '../../../src/book/book.ts';
import { COMMAND_LINE } from '../../../src/domain/actor.ts';
import type { KeyRecord } from '../../../src/domain/key.ts';
import { ROLES, type Role } from '../../../src/domain/roles.ts';
import type { SpendingLimit } from '../../../src/domain/spending-limits.ts';

const CHANGER = { by: COMMAND_LINE, roles: new Set<Role>(ROLES) };
let people = 0;

/** A new person who accepts an invitation to an account. Resolves with the person's id. */
export async function memberOn(book: Book, accountId: number): Promise<number> {
  const secretHash = `member ${++people}`;
  const offer = { role: 'member', email: null, name: null, canCreateKeys: true, spendingLimits: [] } as const;
  await book.createInvitation(accountId, { ...offer, secretHash }, CHANGER, Date.now());
  const email = `member-${people}@example.com`;
  const newPerson = { email, name: 'Member', passwordHash: null, isOperator: false };
  const from = { ip: null, requestId: null };
  return (await book.acceptInvitation(secretHash, { newPerson }, from, Date.now())).personId;
}

/** Sets the limits of a member. Resolves with the member's keys that this changed, to be published. */
export async function limitMember(
  book: Book,
  accountId: number,
  personId: number,
  spendingLimits: readonly SpendingLimit[],
): Promise<readonly KeyRecord[]> {
  const changed = await book.updateMember(accountId, personId, { spendingLimits }, CHANGER, Date.now());
  if (!changed) throw new Error(`person ${personId} is no member of account ${accountId}`);
  return changed.keys;
}
