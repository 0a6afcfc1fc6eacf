import type { KeyView } from '../../../api/views/key-view.ts';
import type { KeyChange } from '../api/keys.ts';
import { credits } from '../format/credits.ts';
import { moment } from '../format/time.ts';
import { KEY_FIELDS, type KeyField } from './key-draft.ts';

/** Labels of the form's fields. */
const LABELS: Readonly<Record<KeyField, string>> = {
  name: 'Name',
  description: 'Note',
  expires_at: 'Expires',
  can_manage: 'May manage',
  allowed_categories: 'Modalities',
  allowed_models: 'Models',
  allowed_ips: 'Allowed IP addresses',
  allowed_origins: 'Allowed browser origins',
  blocked_countries: 'Blocked countries',
  active_hours: 'Hours (UTC)',
  spending_limit: 'Limit in credits',
  spending_period: 'Counted by',
  webhook_url: 'Webhook address',
};

/** A field in which the stored key differs from the form. */
export interface Difference {
  readonly label: string;
  /** The form's value; undefined where the form leaves this field as it is. */
  readonly mine: string | undefined;
  readonly theirs: string;
}

/** Fields in which `base` with `changes` differs from `theirs`, which somebody else saved meanwhile. */
export function differencesOf(changes: KeyChange, base: KeyView, theirs: KeyView): Difference[] {
  return KEY_FIELDS.flatMap((field) => {
    const isMine = field in changes;
    if (isEqual(isMine ? changes[field] : base[field], theirs[field])) return [];
    const mine = isMine ? inWords(field, changes[field]) : undefined;
    return [{ label: LABELS[field], mine, theirs: inWords(field, theirs[field]) }];
  });
}

/** True where two versions of a key are equal in everything that its form shows. */
export function isSameSettings(one: KeyView, other: KeyView): boolean {
  return KEY_FIELDS.every((field) => isEqual(one[field], other[field]));
}

function isEqual(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function inWords(field: KeyField, value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.join(', ');
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number') return credits(value);
  if (typeof value !== 'string' || value === '') return 'none';
  return field === 'expires_at' ? `${moment(value, 'utc', true)} UTC` : value;
}
