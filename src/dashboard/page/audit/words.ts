import type { EntryView } from '../../../api/audit/audit-view.ts';
import type { AuditAction } from '../../../domain/audit.ts';
import { rowAt, WIRE_NAMES, type WireName } from '../../../domain/key-settings.ts';
import type { Role } from '../../../domain/roles.ts';
import type { WireLimit } from '../../../domain/spending-limits.ts';
import { limitsWords } from '../format/limits.ts';
import { ROLE_NAMES } from '../format/roles.ts';
import { settingWords } from '../keys/read-draft.ts';

/** What was done, in words that stand before the name of its target. */
export const ACTION_WORDS: Readonly<Record<AuditAction, string>> = {
  'account.create': 'Created the account',
  'account.update': 'Changed the account',
  'account.credit': 'Changed the balance',
  'account.erase': 'Erased the account',
  'alert.test': 'Sent a test alert',
  'key.create': 'Created the key',
  'key.update': 'Changed the key',
  'key.delete': 'Deactivated the key',
  'key.rotate': 'Rotated the key',
  'key.end_grace': 'Ended the previous value of the key',
  'member.add': 'Added the member',
  'member.update': 'Changed the member',
  'member.remove': 'Removed the member',
  'invitation.create': 'Created an invitation',
  'invitation.accept': 'Accepted an invitation',
  'invitation.withdraw': 'Withdrew an invitation',
  'person.create': 'Created the person',
  'person.setup': 'Set up the operator',
  'person.update': 'Changed the person',
  'person.password': 'Changed the password',
  'person.reset': 'Made a link for a new password',
  'person.erase': 'Erased the person',
  'identity.link': 'Linked an identity',
  'identity.unlink': 'Unlinked an identity',
  'session.create': 'Signed in',
  'session.fail': 'Failed to sign in',
  'session.end': 'Ended a session',
  'config.reload': 'Reloaded the configuration',
  'request.refuse': 'Was refused',
};

/** Name of the actor as it is now. */
export function actorWords({ type, id, name }: EntryView['actor']): string {
  if (type === 'operator') return 'Admin token or command line';
  if (type === 'system') return 'The gateway';
  if (type === 'key') return `Key ${name === null ? id : `“${name}”`}`;
  return name ?? (id === null ? 'Unknown person' : `Person ${id}`);
}

/** What it was done to, by the present name; "" if the action says so already. */
export function targetWords({ type, id, name }: EntryView['target']): string {
  if (name !== null) return name;
  if (type === 'route') return String(id);
  return id === null ? '' : `${type.charAt(0).toUpperCase()}${type.slice(1)} ${id}`;
}

/** Path of the page that shows the target, below the scope or from "/"; undefined if none does. */
export function targetPlace(
  { target: { type, id }, account_id: account }: EntryView,
  kind: 'own' | 'operator' | 'operated',
): { readonly to: string; readonly choices?: Record<string, string> } | undefined {
  if (id === null) return undefined;
  if (type === 'person')
    return kind === 'own' ? undefined : { to: '/operator/people', choices: { person: String(id) } };
  if (account === null) return undefined;
  const below = kind === 'operator' ? `/operator/accounts/${account}/` : '';
  if (type === 'account') return { to: `${below}settings` };
  if (type === 'key') return { to: `${below}keys/${id}` };
  if (type === 'member') return { to: `${below}members`, choices: { member: String(id) } };
  return type === 'invitation' ? { to: `${below}members` } : undefined;
}

/** A changed field, before and after; undefined where the entry has no such side. */
export interface FieldChange {
  readonly field: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** The fields of an entry, each before and after, in words. */
export function fieldChanges({ before, after }: Pick<EntryView, 'before' | 'after'>): readonly FieldChange[] {
  const [old, now] = [before ?? {}, after ?? {}] as Record<string, unknown>[];
  return [...new Set([...Object.keys(old ?? {}), ...Object.keys(now ?? {})])].map((name) => ({
    field: fieldName(name),
    before: old && name in old ? fieldWords(name, old[name]) : undefined,
    after: now && name in now ? fieldWords(name, now[name]) : undefined,
  }));
}

const isSetting = (name: string): boolean => WIRE_NAMES.some((known) => known === name);

/** `role` as `Role`, `can_create_keys` as `Can create keys`. */
function fieldName(name: string): string {
  if (name === 'spending_limits') return 'Spending limits';
  if (isSetting(name)) return rowAt(name as WireName).label;
  const words = name.replaceAll('_', ' ');
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}

function fieldWords(name: string, value: unknown): string {
  if (name === 'spending_limits') return limitsWords(value as readonly WireLimit[]);
  if (isSetting(name)) return settingWords(name, value);
  if (value === null || value === '') return 'none';
  if (name === 'role') return ROLE_NAMES[value as Role] ?? String(value);
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
