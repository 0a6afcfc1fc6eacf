import type { KeyView } from '../../../api/keys/key-view.ts';

/** Columns of the table of keys that can be sorted, with their words in the address. */
export const KEY_ORDERS = {
  Name: 'name',
  Status: 'status',
  'Spend / limit': 'spend',
  'Last used': 'used',
  Created: 'created',
} as const;
type Order = (typeof KEY_ORDERS)[keyof typeof KEY_ORDERS];

/** The newest first. */
export const NEWEST_FIRST = '-created';
/** Orders that begin with the largest. */
export const LARGEST_FIRST: readonly string[] = ['spend', 'used', 'created'];

const NAMES = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });
const COMPARE: Readonly<Record<Order, (one: KeyView, other: KeyView) => number>> = {
  name: (one, other) => NAMES.compare(one.name, other.name),
  status: (one, other) => rank(one) - rank(other),
  spend: (one, other) => Number(one.spending_current) - Number(other.spending_current),
  used: (one, other) => at(one.last_used_at) - at(other.last_used_at),
  created: (one, other) => one.id - other.id,
};

/** Keys in an order; equal ones by their names. */
export function sortedKeys(keys: readonly KeyView[], by: string, isDown: boolean): readonly KeyView[] {
  const compare = COMPARE[by as Order] ?? COMPARE.created;
  return keys.toSorted((one, other) => {
    const order = isDown ? compare(other, one) : compare(one, other);
    return order || NAMES.compare(one.name, other.name);
  });
}

/** True if the expiry of a key has passed, by the browser's clock. */
export function isExpired(key: KeyView): boolean {
  return key.expires_at !== null && Date.parse(key.expires_at) <= Date.now();
}

function rank(key: KeyView): number {
  if (!key.is_active) return 2;
  return isExpired(key) ? 1 : 0;
}

function at(iso: string | null): number {
  return iso === null ? 0 : Date.parse(iso);
}
