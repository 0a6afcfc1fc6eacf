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
  cache_write_1h: 'cacheWrite1h',
  input_audio: 'inputAudio',
  cached_input_audio: 'cachedInputAudio',
  output_audio: 'outputAudio',
  input_image: 'inputImage',
  cached_input_image: 'cachedInputImage',
  output_image: 'outputImage',
  web_searches: 'webSearches',
} as const satisfies Partial<Record<keyof BookSchema['spend_days'], keyof Usage>>;

/** Sums that an owner may see. */
export const SPENT_SUMS = ['calls', 'credits', ...keysOf(USAGE_COLUMNS)] as const;
/** All of them: what providers take is only for the operator. */
export const SUMS = [...SPENT_SUMS, 'cost', 'costed'] as const;

/** The amounts that an entry adds, and the rows that they are added to. */
type Spend = Selectable<SpendDaysTable> & { readonly month: number; readonly upstream: string };

const PLACES = {
  spend_days: ['account_id', 'key_id', 'model', 'day'],
  spend_model_days: ['account_id', 'day', 'model'],
  spend_key_months: ['account_id', 'month', 'key_id'],
  spend_upstream_days: ['account_id', 'day', 'upstream'],
} as const satisfies Partial<Record<keyof BookSchema, readonly (keyof Spend)[]>>;

const ADD_UP = {
  spend_days: addUp('spend_days'),
  spend_model_days: addUp('spend_model_days'),
  spend_key_months: addUp('spend_key_months'),
  spend_upstream_days: addUp('spend_upstream_days'),
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
  const days = summed(spends, PLACES.spend_days);
  await add(store, trx, 'spend_days', days);
  await add(store, trx, 'spend_model_days', days);
  await add(store, trx, 'spend_key_months', days);
  // Not from the days, which do not tell upstreams apart.
  await add(store, trx, 'spend_upstream_days', spends);
}

async function add<T extends keyof typeof PLACES>(
  store: Store,
  trx: Trx,
  table: T,
  spends: readonly Spend[],
): Promise<void> {
  const place: readonly (keyof Spend)[] = PLACES[table];
  const columns = [...place, ...SUMS] as readonly (keyof BookSchema[T] & string)[];
  const rows = summed(spends, place) as Parameters<typeof insertRows<T>>[4];
  await insertRows(store, trx, table, columns, rows, ADD_UP[table]);
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
  return {
    account_id: entry.accountId,
    key_id: entry.keyId,
    model: entry.model ?? '',
    day: entry.day,
    month: monthStart(entry.day),
    upstream: entry.upstream ?? '',
    calls: refund ? 0 : 1,
    credits: -entry.credits,
    cost: entry.cost ?? 0,
    costed: entry.cost === undefined ? 0 : -entry.credits,
    ...usageSums(refund ? {} : entry.usage),
  };
}

function usageSums(usage: Usage): Record<keyof typeof USAGE_COLUMNS, number> {
  const sums = Object.entries(USAGE_COLUMNS).map(([column, used]) => [column, usage[used] ?? 0]);
  return Object.fromEntries(sums);
}

function keysOf<T extends object>(record: T): (keyof T)[] {
  return Object.keys(record) as (keyof T)[];
}
