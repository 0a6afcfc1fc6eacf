import { micro } from '../domain/credits.ts';
import type { KeyRecord } from '../domain/key.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { type KeyView, keyView } from './views/key-view.ts';

const NOTHING = micro(0);

/** Key objects with what each key has spent in its current period. */
export async function keyViews(
  ledger: Ledger,
  accountId: number,
  keys: readonly KeyRecord[],
): Promise<KeyView[]> {
  const periods = keys.map((key) => ({ id: key.id, period: key.spendingPeriod }));
  const spent = await ledger.spent(accountId, periods);
  return keys.map((key, index) => keyView(key, spent[index] ?? NOTHING));
}
