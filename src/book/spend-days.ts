import { micro } from '../domain/credits.ts';
import type { JournalEntry } from '../domain/ledger-entry.ts';
import { monthStart } from '../domain/period.ts';
import { UNIT_NAMES, type Usage, type UsageColumn, unitRow } from '../domain/units.ts';
import { insertRows } from './many-rows.ts';
import type { BookSchema } from './schema.ts';
import type { Store, Trx } from './store.ts';

const HOUR_MS = 3_600_000;
const HOURS = 24;

/** Sum column of each usage dimension; `calls` and `credits` come from the entry. */
export const USAGE_COLUMNS: ReadonlyMap<keyof Usage, UsageColumn> = new Map(
  UNIT_NAMES.map(unitRow).flatMap(({ usage, column }) => (column === null ? [] : [[usage, column]])),
);

/** All sums. Only the operator sees the provider cost. */
export const SUMS = [
  'calls',
  'failed',
  'refused',
  'credits',
  ...USAGE_COLUMNS.values(),
  'cost',
  'costed',
] as const;
type Sum = (typeof SUMS)[number];

const USUAL_SUMS = [
  'calls',
  'credits',
  'input',
  'output',
  'cached_input',
  'cache_write',
  'characters',
  'images',
  'audio_seconds',
  'video_seconds',
] as const satisfies readonly Sum[];
/**
 * Sums that most calls don't change, with columns that default to 0. A statement names only those its rows change.
 * Naming all of them, with a separate table for upstreams, took 1.4 times the CPU of a book without them; this takes
 * 1.2 to 1.3.
 */
const RARE_SUMS = SUMS.filter((sum) => !USUAL_SUMS.some((usual) => usual === sum));

/** Nonzero amounts of an entry, and the sums they belong to. */
interface Spend extends Partial<Record<Sum, number>> {
  readonly account_id: number;
  readonly key_id: number;
  readonly model: string;
  readonly day: number;
  readonly month: number;
  /** Hour since the epoch, within the day. */
  readonly hour: number;
  readonly upstream: string;
}
type Place = Exclude<keyof Spend, Sum>;

const PLACES = {
  spend_days: ['account_id', 'key_id', 'model', 'day', 'upstream'],
  spend_hours: ['account_id', 'hour', 'key_id', 'model', 'upstream'],
  spend_model_days: ['account_id', 'day', 'model', 'upstream'],
  spend_key_months: ['account_id', 'month', 'key_id'],
} as const satisfies Partial<Record<keyof BookSchema, readonly Place[]>>;

/**
 * Adds key entries to the sums behind spending limits and usage reports, so neither reads the ledger. Top-ups and
 * adjustments belong to no key and are not spending.
 */
export async function addSpendDays(store: Store, trx: Trx, posted: readonly JournalEntry[]): Promise<void> {
  await addSpends(
    store,
    trx,
    posted.map(spendOf).filter((spend) => spend !== undefined),
  );
}

/**
 * Adds refused calls by hour and key to the same sums. Without the model, which reports of refusals don't show, because
 * a client may name any: 300 keys that named 20 models each made 12,000 rows with one call each.
 */
export async function addRefused(
  store: Store,
  trx: Trx,
  refused: readonly (Pick<Spend, 'account_id' | 'key_id' | 'hour'> & {
    readonly refused: number;
  })[],
): Promise<void> {
  const spends = refused.map((row) => {
    const day = Math.floor(row.hour / HOURS);
    return { ...row, model: '', day, month: monthStart(day), upstream: '', calls: 0, credits: 0 };
  });
  await addSpends(store, trx, spends);
}

async function addSpends(store: Store, trx: Trx, spends: readonly Spend[]): Promise<void> {
  // Aggregate once by every key column; each table sums from this.
  const parts = summed(spends, [...PLACES.spend_days, 'hour']);
  await add(store, trx, 'spend_hours', parts);
  await add(store, trx, 'spend_days', parts);
  await add(store, trx, 'spend_model_days', parts);
  await add(store, trx, 'spend_key_months', parts);
}

async function add(
  store: Store,
  trx: Trx,
  table: keyof typeof PLACES,
  parts: readonly Spend[],
): Promise<void> {
  const place = PLACES[table];
  const rows = summed(parts, place);
  const sums = [...USUAL_SUMS, ...RARE_SUMS.filter((sum) => rows.some((row) => row[sum] !== undefined))];
  const added = sums.map((sum) => `${sum} = ${table}.${sum} + excluded.${sum}`);
  const columns = [...place, ...sums];
  await insertRows(
    store,
    trx,
    table,
    rows.map((row) => Object.fromEntries(columns.map((column) => [column, row[column] ?? 0]))),
    `on conflict (${place.join(', ')}) do update set ${added.join(', ')}`,
  );
}

function summed(spends: readonly Spend[], place: readonly Place[]): Spend[] {
  const sums = new Map<string, Spend>();
  for (const spend of spends) {
    const name = JSON.stringify(place.map((column) => spend[column]));
    const sum = sums.get(name);
    if (!sum) sums.set(name, { ...spend });
    else for (const column of SUMS) if (spend[column]) sum[column] = (sum[column] ?? 0) + spend[column];
    // Throws instead of rounding: entries above the safe integers are posted one by one (PostApart in
    // ledger/journal/pass.ts).
    micro(sums.get(name)?.credits ?? 0);
    micro(sums.get(name)?.cost ?? 0);
  }
  return [...sums.values()];
}

/** Hour of a time, clamped to the day: an entry can be settled after the day it is booked to. */
function hourWithin(day: number, ms: number): number {
  const first = day * HOURS;
  return Math.min(Math.max(Math.floor(ms / HOUR_MS), first), first + HOURS - 1);
}

/** A refund reduces spending; the refunded call stays counted. */
function spendOf(entry: JournalEntry): Spend | undefined {
  if (entry.keyId === null || entry.type === 'top_up' || entry.type === 'adjustment') return undefined;
  const isCall = entry.type !== 'refund';
  const spend: Spend = {
    account_id: entry.accountId,
    key_id: entry.keyId,
    model: entry.model ?? '',
    day: entry.day,
    month: monthStart(entry.day),
    hour: hourWithin(entry.day, entry.createdAt),
    upstream: entry.upstream ?? '',
    calls: isCall ? 1 : 0,
    credits: -entry.credits,
  };
  if (isCall && entry.outcome !== 'complete') spend.failed = 1;
  if (entry.cost !== undefined) {
    spend.cost = entry.cost;
    spend.costed = -entry.credits;
  }
  if (isCall) {
    for (const used in entry.usage) {
      const column = USAGE_COLUMNS.get(used as keyof Usage);
      const amount = entry.usage[used as keyof Usage];
      if (column !== undefined && amount) spend[column] = amount;
    }
  }
  return spend;
}
