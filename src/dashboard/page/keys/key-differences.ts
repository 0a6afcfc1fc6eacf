import type { KeyPatchBody, KeyView } from '../../../api/keys/key-view.ts';
import { rowAt } from '../../../domain/key-settings.ts';
import type { WireLimit } from '../../../domain/spending-limits.ts';
import { limitsText } from '../../../domain/spending-limits-text.ts';
import { count, credits } from '../format/credits.ts';
import { moment } from '../format/time.ts';
import type { Difference } from '../ui/difference.ts';
import { FORM_FIELDS, type KeyField } from './key-draft.ts';

/** Fields in which `base` with `changes` differs from `theirs`, which somebody else saved meanwhile. */
export function differencesOf(changes: KeyPatchBody, base: KeyView, theirs: KeyView): Difference[] {
  return FORM_FIELDS.flatMap((field) => {
    const isMine = field in changes;
    if (isEqual(isMine ? changes[field] : base[field], theirs[field])) return [];
    const mine = isMine ? settingInWords(field, changes[field]) : undefined;
    return [{ label: rowAt(field).label, mine, theirs: settingInWords(field, theirs[field]) }];
  });
}

/** Something in which a key differs from what the page showed. */
export interface Change {
  readonly label: string;
  readonly before: string;
  readonly now: string;
}

/** Differences between two versions of a key: its settings, whether it is active, and its values. */
export function changesBetween(before: KeyView, now: KeyView): Change[] {
  const settings = FORM_FIELDS.filter((field) => !isEqual(before[field], now[field])).map((field) => ({
    label: rowAt(field).label,
    before: settingInWords(field, before[field]),
    now: settingInWords(field, now[field]),
  }));
  const others: readonly (readonly [string, (key: KeyView) => string])[] = [
    ['Active', (key) => (key.is_active ? 'yes' : 'no')],
    ['Value prefix', (key) => key.prefix],
    ['Previous value valid until', (key) => momentWords(key.previous_valid_until)],
  ];
  const rest = others.map(([label, words]) => ({ label, before: words(before), now: words(now) }));
  return [...settings, ...rest.filter((change) => change.before !== change.now)];
}

/** True if two versions of a key are equal in everything that its form shows. */
export function isSameSettings(one: KeyView, other: KeyView): boolean {
  return FORM_FIELDS.every((field) => isEqual(one[field], other[field]));
}

function isEqual(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** A setting's value in words. */
export function settingInWords(field: KeyField, value: unknown): string {
  const { kind } = rowAt(field).type;
  if (Array.isArray(value)) {
    return (kind === 'limits' ? limitsText(value as readonly WireLimit[]) : value.join(', ')) || 'none';
  }
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number') return kind === 'credits' ? credits(value) : count(value);
  if (typeof value !== 'string' || value === '') return 'none';
  return kind === 'time' ? momentWords(value) : value;
}

function momentWords(iso: string | null): string {
  return iso === null ? 'none' : `${moment(iso, 'utc', true)} UTC`;
}
