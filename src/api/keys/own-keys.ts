import type { Book } from '../../book/book.ts';
import { memberNotFound } from '../../book/members.ts';
import { GatewayError, invalidField } from '../../domain/errors.ts';
import type { KeyRecord, KeySettings } from '../../domain/key.ts';
import { KEY_FIELDS, type KeyField } from '../../domain/key-fields.ts';
import { carriesRestriction } from '../../domain/key-settings.ts';
import { type AccountCaller, keyNotFound } from '../http/callers.ts';

/** The caller that changes keys; undefined: the operator. A person who reaches only their own keys has the role `member`. */
type Caller = Pick<AccountCaller, 'accountId' | 'reach' | 'member'> | undefined;

/** A new key as it was asked for. */
interface AskedKey extends Partial<KeySettings> {
  readonly personId?: number | null | undefined;
}

/**
 * The person whose key a new one is; null: it is the account's. Throws `not_permitted` for what a member may not ask,
 * `member_not_found`, and `invalid_field` for what no person's key has.
 */
export async function personOfNewKey(
  book: Pick<Book, 'member'>,
  accountId: number,
  caller: Caller,
  asked: AskedKey,
): Promise<number | null> {
  const { personId = null } = asked;
  const own = caller?.member?.personId;
  if (caller?.reach === 'own' && own !== undefined) {
    requireOwnCreation(caller, asked);
    refuseManaging(asked);
    return own;
  }
  if (personId === null) return null;
  refuseManaging(asked);
  if (!(await book.member(accountId, personId))) throw memberNotFound();
  return personId;
}

function requireOwnCreation({ member }: NonNullable<Caller>, { personId, restrictionsLocked }: AskedKey) {
  if (member?.canCreateKeys === false) {
    throw notPermitted('You may not create keys in this account. Ask an owner or admin for one.');
  }
  if (personId !== undefined && personId !== member?.personId) {
    throw notPermitted('The role member creates only its own keys. Leave person_id out.');
  }
  if (restrictionsLocked) throw notPermitted('Only owners and admins set restrictions_locked.');
}

/** Whether a new key of a person is locked unless the request says so: one that somebody else makes. */
export function isLockedByDefault(personId: number | null, caller: Caller): boolean {
  return personId !== null && personId !== caller?.member?.personId;
}

/**
 * Returns the change of a key that the caller makes with `change`, to be called with the key's row locked. Throws
 * `key_not_found` for a key that the caller may not see, `not_permitted` for a locked one that is not deleted, and
 * `invalid_field` for what no person's key has.
 */
export function changeBy(
  caller: Caller,
  change: Partial<KeySettings>,
  action?: 'key.delete',
): (key: KeyRecord) => Partial<KeySettings> {
  return (key) => {
    requireOwn(caller, key);
    if (key.personId === null) return change;
    refuseManaging(change);
    const changed = changedFields(key, change);
    if (caller?.reach === 'own') {
      if (action !== 'key.delete') requireUnlocked(key, changed);
      return change;
    }
    const isTheirs = key.personId === caller?.member?.personId;
    const restricts = carriesRestriction(changed) || change.isActive === false;
    const locks = restricts && !isTheirs && change.restrictionsLocked === undefined;
    return locks ? { ...change, restrictionsLocked: true } : change;
  };
}

/** Throws `key_not_found` for a key that the caller may not see. A key's person never changes. */
export function requireOwn(caller: Caller, key: Pick<KeyRecord, 'personId'> | undefined): void {
  const isSeen = key && (caller?.reach !== 'own' || key.personId === caller.member?.personId);
  if (!isSeen) throw keyNotFound();
}

function changedFields(key: KeyRecord, change: Partial<KeySettings>): Partial<KeySettings> {
  const changed = Object.entries(change).filter(
    ([field, value]) => JSON.stringify(value) !== JSON.stringify(key[field as KeyField]),
  );
  return Object.fromEntries(changed);
}

const NEVER_LOCKED: ReadonlySet<string> = new Set<KeyField>(['name', 'description']);

function requireUnlocked(key: KeyRecord, changed: Partial<KeySettings>): void {
  const refused = (Object.keys(changed) as KeyField[]).find((field) =>
    key.restrictionsLocked ? !NEVER_LOCKED.has(field) : field === 'restrictionsLocked',
  );
  if (refused === undefined) return;
  throw notPermitted(
    key.restrictionsLocked
      ? 'An owner or admin locked this key. You can change its name and description, rotate and delete it.'
      : 'Only owners and admins set restrictions_locked.',
    KEY_FIELDS[refused].wire,
  );
}

/** Alerts tell the balance, which a person's key may not show, and a managing key sees all. */
function refuseManaging({ canManage, webhookUrl }: Partial<KeySettings>): void {
  if (canManage) throw invalidField('can_manage', "can_manage must be false: a person's key never manages.");
  if (webhookUrl) {
    throw invalidField('webhook_url', `webhook_url must be "" for a person's key: alerts tell the balance.`);
  }
}

function notPermitted(message: string, param: string | null = null): GatewayError {
  return new GatewayError('not_permitted', message, param);
}
