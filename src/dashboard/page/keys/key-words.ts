import type { KeyView } from '../../../api/keys/key-view.ts';
import { rowAt, WIRE_NAMES } from '../../../domain/key-settings.ts';
import { restrictionWords } from '../format/call-limits.ts';
import { moment } from '../format/time.ts';
import { settingWords } from './read-draft.ts';

/** Whose a key is: a person's name, or "Account". */
export function ownerOf({ member }: Pick<KeyView, 'member'>): string {
  return member?.name ?? 'Account';
}

/** The limit of a key of which the largest part is spent; undefined without limits. */
export function tightest({ limits }: Pick<KeyView, 'limits'>): KeyView['limits'][number] | undefined {
  return limits.toSorted((one, other) => partOf(other) - partOf(one))[0];
}

function partOf({ credits, spent, remaining }: KeyView['limits'][number]): number {
  return remaining !== null && Number(remaining) === 0 ? Infinity : Number(spent ?? 0) / credits;
}

/** Restrictions of a key in words, without its spending limits; empty if it has none. */
export function restrictionsOf(key: KeyView): string[] {
  const others = { ...key, spending_limit: null, spending_limits: [], expires_at: null };
  return WIRE_NAMES.flatMap((name) => restrictionWords(name, others[name]));
}

/** Something in which a key differs from what the page showed. */
export interface Change {
  readonly label: string;
  readonly before: string;
  readonly now: string;
}

/** Differences between two versions of a key: its settings, whether it is active, and its values. */
export function changesBetween(before: KeyView, now: KeyView): Change[] {
  const settings = WIRE_NAMES.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(now[name]));
  const others: readonly (readonly [string, (key: KeyView) => string])[] = [
    ['Value prefix', (key) => key.prefix],
    [
      'Previous value valid until',
      ({ previous_valid_until: at }) => (at === null ? 'none' : `${moment(at, 'utc', true)} UTC`),
    ],
  ];
  const rest = others.map(([label, words]) => ({ label, before: words(before), now: words(now) }));
  return [
    ...settings.map((name) => ({
      label: rowAt(name).label,
      before: settingWords(name, before[name]),
      now: settingWords(name, now[name]),
    })),
    ...rest.filter((change) => change.before !== change.now),
  ];
}
