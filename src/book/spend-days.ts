import type { JournalEntry, Usage } from '../domain/ledger-entry.ts';
import { insertRows } from './many-rows.ts';
import type { BookSchema, SpendDayRow } from './schema.ts';
import type { Store, Trx } from './store.ts';

/** What is summed per day, and which field of a call's usage it comes from. `calls` and `credits` come from the entry. */
export const USAGE_COLUMNS = {
  input: 'input',
  output: 'output',
  cached_input: 'cachedInput',
  cache_write: 'cacheWrite',
  characters: 'characters',
  images: 'images',
  audio_seconds: 'audioSeconds',
  video_seconds: 'videoSeconds',
} as const satisfies Partial<Record<keyof BookSchema['spend_days'], keyof Usage>>;

const SUMS = ['calls', 'credits', ...keysOf(USAGE_COLUMNS)] as const;
const PLACE = ['account_id', 'key_id', 'model', 'day'] as const;
const COLUMNS = [...PLACE, ...SUMS];
const ADD_UP = `on conflict (${PLACE.join(', ')}) do update set ${SUMS.map(
  (column) => `${column} = spend_days.${column} + excluded.${column}`,
).join(', ')}`;

/**
 * Adds the entries of keys to the sums that spending limits are rebuilt from and usage is reported from, so that
 * neither reads the ledger. Top-ups and adjustments belong to no key and are not spending.
 */
export async function addSpendDays(store: Store, trx: Trx, posted: readonly JournalEntry[]): Promise<void> {
  const days = new Map<string, SpendDayRow>();
  for (const entry of posted) {
    const row = spendDay(entry);
    if (!row) continue;
    const place = JSON.stringify([row.account_id, row.key_id, row.model, row.day]);
    const sum = days.get(place);
    if (!sum) days.set(place, row);
    else for (const column of SUMS) sum[column] += row[column];
  }
  await insertRows(store, trx, 'spend_days', COLUMNS, [...days.values()], ADD_UP);
}

/** A refund lowers what was spent; the call that it refunds stays counted. */
function spendDay(entry: JournalEntry): SpendDayRow | undefined {
  if (entry.keyId === null || entry.type === 'top_up' || entry.type === 'adjustment') return undefined;
  const refund = entry.type === 'refund';
  const usage: Usage = refund ? {} : entry.usage;
  return {
    account_id: entry.accountId,
    key_id: entry.keyId,
    model: entry.model ?? '',
    day: entry.day,
    calls: refund ? 0 : 1,
    credits: -entry.credits,
    input: usage.input ?? 0,
    output: usage.output ?? 0,
    cached_input: usage.cachedInput ?? 0,
    cache_write: usage.cacheWrite ?? 0,
    characters: usage.characters ?? 0,
    images: usage.images ?? 0,
    audio_seconds: usage.audioSeconds ?? 0,
    video_seconds: usage.videoSeconds ?? 0,
  };
}

function keysOf<T extends object>(record: T): (keyof T)[] {
  return Object.keys(record) as (keyof T)[];
}
