import type { Selectable } from 'kysely';
import { micro } from '../domain/credits.ts';
import type { JournalEntry } from '../domain/ledger-entry.ts';
import { monthStart } from '../domain/period.ts';
import type { Usage } from '../domain/usage.ts';
import { insertRows } from './many-rows.ts';
import type { BookSchema, SpendDaysTable } from './schema.ts';
import type { Store, Trx } from './store.ts';

/** Columns that are summed per day, with the field of a call's usage each comes from; `calls` and `credits` come from the entry. */
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

export const SUMS = ['calls', 'credits', ...keysOf(USAGE_COLUMNS)] as const;

/** The amounts that an entry adds, and the rows that they are added to. */
type Spend = Selectable<SpendDaysTable> & { readonly month: number };

const PLACES = {
  spend_days: ['account_id', 'key_id', 'model', 'day'],
  spend_model_days: ['account_id', 'day', 'model'],
  spend_key_months: ['account_id', 'month', 'key_id'],
} as const satisfies Partial<Record<keyof BookSchema, readonly (keyof Spend)[]>>;

const ADD_UP = {
  spend_days: addUp('spend_days'),
  spend_model_days: addUp('spend_model_days'),
  spend_key_months: addUp('spend_key_months'),
};

function addUp(table: keyof typeof PLACES): string {
  const sums = SUMS.map((column) => `${column} = ${table}.${column} + excluded.${column}`);
  return `on conflict (${PLACES[table].join(', ')}) do update set ${sums.join(', ')}`;
}

/**
 * Adds the entries of keys to the sums that spending limits are rebuilt from and usage is reported from, so that
 * neither reads the ledger. Top-ups and adjustments belong to no key and are not spending.
 */
export async function addSpendDays(store: Store, trx: Trx, posted: readonly JournalEntry[]): Promise<void> {
  const spends = posted.map(spendOf).filter((spend) => spend !== undefined);
  const { spend_days, spend_model_days, spend_key_months } = PLACES;
  const days = summed(spends, spend_days);
  const modelDays = summed(days, spend_model_days);
  const keyMonths = summed(days, spend_key_months);
  await insertRows(store, trx, 'spend_days', [...spend_days, ...SUMS], days, ADD_UP.spend_days);
  await insertRows(
    store,
    trx,
    'spend_model_days',
    [...spend_model_days, ...SUMS],
    modelDays,
    ADD_UP.spend_model_days,
  );
  await insertRows(
    store,
    trx,
    'spend_key_months',
    [...spend_key_months, ...SUMS],
    keyMonths,
    ADD_UP.spend_key_months,
  );
}

function summed(spends: readonly Spend[], place: readonly (keyof Spend)[]): Spend[] {
  const sums = new Map<string, Spend>();
  for (const spend of spends) {
    const name = JSON.stringify(place.map((column) => spend[column]));
    const sum = sums.get(name);
    if (!sum) sums.set(name, { ...spend });
    else for (const column of SUMS) sum[column] += spend[column];
    // Not rounded silently: entries that are together too much for a number are posted one by one (ledger/post-apart.ts).
    micro(sums.get(name)?.credits ?? 0);
  }
  return [...sums.values()];
}

/** A refund lowers what was spent; the call that it refunds stays counted. */
function spendOf(entry: JournalEntry): Spend | undefined {
  if (entry.keyId === null || entry.type === 'top_up' || entry.type === 'adjustment') return undefined;
  const refund = entry.type === 'refund';
  const usage: Usage = refund ? {} : entry.usage;
  return {
    account_id: entry.accountId,
    key_id: entry.keyId,
    model: entry.model ?? '',
    day: entry.day,
    month: monthStart(entry.day),
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
