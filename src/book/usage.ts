import { type Expression, type Kysely, type RawBuilder, sql } from 'kysely';
import type { Usage } from '../domain/units.ts';
import type { Book, UsageRow } from './book.ts';
import { type DateRange, rollupRanges } from './rollup-ranges.ts';
import type { BookSchema } from './schema.ts';
import { SPENT_SUMS, USAGE_COLUMNS } from './spend-days.ts';
import type { Store } from './store.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

/** Reports, each of one moment in one statement. None reads more rows than there are days times models, or keys times months. */
export function usageQueries({ db }: Store): Pick<Book, 'usage'> {
  return {
    async usage(accountId, fromDay, toDay, groupBy, keyId) {
      const span = { accountId, fromDay, toDay, keyId };
      const all = groupBy === 'key' ? await byKey(db, span) : await byModelDays(db, span, groupBy);
      const rows = groupBy === 'model' ? withoutRefusedOnly(all) : all;
      // Sorted here: the engines order text differently.
      return rows.sort(byPlace).map((row) => ({
        group: groupName(groupBy, row.place),
        calls: row.calls,
        failed: row.failed,
        refused: row.refused,
        credits: BigInt(row.credits),
        usage: usageOf(row),
      }));
    },
  };
}

interface Span {
  readonly accountId: number;
  readonly fromDay: number;
  /** The day after the last day. */
  readonly toDay: number;
  /** Undefined: all keys. */
  readonly keyId: number | undefined;
}

type Row = Sums & { place: string | number; credits: string };

/** Sums of credits, which can be more than a number holds exactly over years. */
const AMOUNTS: ReadonlySet<string> = new Set(['credits', 'cost', 'costed']);

/** A sum as it is selected: credits as text. */
export function summed(column: string, sum: Expression<unknown>): RawBuilder<never> {
  return AMOUNTS.has(column) ? sql`cast(${sum} as text)` : sql`${sum}`;
}

/** Sums by day or by model. Those of one key are read from spend_days, because spend_model_days does not tell keys apart. */
function byModelDays(
  db: Kysely<BookSchema>,
  { accountId, fromDay, toDay, keyId }: Span,
  column: 'day' | 'model',
): Promise<Row[]> {
  const sums =
    keyId === undefined
      ? db.selectFrom('spend_model_days').select(['account_id', 'day', 'model', ...SPENT_SUMS])
      : db
          .selectFrom('spend_days')
          .select(['account_id', 'day', 'model', ...SPENT_SUMS])
          .where('key_id', '=', keyId);
  return db
    .selectFrom(sums.as('sums'))
    .select(`${column} as place`)
    .select(({ fn }) => SPENT_SUMS.map((sum) => summed(sum, fn.sum(sum)).as(sum)))
    .where('account_id', '=', accountId)
    .where('day', '>=', fromDay)
    .where('day', '<', toDay)
    .groupBy(column)
    .execute();
}

/**
 * Sums of months if they save reading days. Of 100 keys and 3 models, days alone are 110,000 rows a year, and whole
 * months with the days at either end up to 18,000; this reads 9,000 at most.
 */
async function byKey(db: Kysely<BookSchema>, { accountId, fromDay, toDay, keyId }: Span): Promise<Row[]> {
  const parts = rollupRanges(fromDay, toDay).map((part) =>
    part.sums === 'months' ? monthsOf(db, accountId, keyId, part) : daysOf(db, accountId, keyId, part),
  );
  const all = parts.reduce((before, part) => before.unionAll(part));
  const rows = await db
    .selectFrom(all.as('parts'))
    .select('key_id as place')
    .select(({ fn }) => SPENT_SUMS.map((sum) => summed(sum, fn.sum(sql`times * ${sql.ref(sum)}`)).as(sum)))
    .groupBy('key_id')
    .execute();
  // A key that was used in a month, but only on days that were taken off again, is left out.
  return rows.filter(isUsed);
}

/** Whether a sum stands for anything: days that were taken off again leave zeros. */
export function isUsed({ calls, refused, credits }: Pick<Row, 'calls' | 'refused' | 'credits'>): boolean {
  return calls !== 0 || refused !== 0 || credits !== '0';
}

/** Refused calls make no row of their own in a report that does not count them. */
export function withoutRefusedOnly<R extends Pick<Row, 'calls' | 'credits'>>(rows: readonly R[]): R[] {
  return rows.filter(({ calls, credits }) => calls !== 0 || credits !== '0');
}

function monthsOf(
  db: Kysely<BookSchema>,
  accountId: number,
  keyId: number | undefined,
  { from, to, times }: DateRange,
) {
  return db
    .selectFrom('spend_key_months')
    .select(['key_id', ...SPENT_SUMS, sql.lit(times).as('times')])
    .where('account_id', '=', accountId)
    .where('month', '>=', from)
    .where('month', '<', to)
    .$if(keyId !== undefined, (query) => query.where('key_id', '=', Number(keyId)));
}

function daysOf(
  db: Kysely<BookSchema>,
  accountId: number,
  keyId: number | undefined,
  { from, to, times }: DateRange,
) {
  return db
    .selectFrom('spend_days')
    .select(['key_id', ...SPENT_SUMS, sql.lit(times).as('times')])
    .where('account_id', '=', accountId)
    .where('day', '>=', from)
    .where('day', '<', to)
    .$if(keyId !== undefined, (query) => query.where('key_id', '=', Number(keyId)));
}

export type Sums = Record<Exclude<(typeof SPENT_SUMS)[number], 'credits'>, number>;

/** Usage fields of a row; a field that is 0 is absent. */
export function usageOf(sums: Sums): Usage {
  const used = [...USAGE_COLUMNS].map(([field, column]) => [field, exact(sums[column])]);
  return Object.fromEntries(used.filter(([, amount]) => amount !== 0));
}

/** Sums of seconds, the only fractions here, to a microsecond: what adding and taking off left beyond it is no usage. */
function exact(sum: number): number {
  return Number.isInteger(sum) ? sum : Math.round(sum * 1e6) / 1e6;
}

/** Compares rows of a report for sorting: numbers by size, text by code units. */
export function byPlace(a: { place: string | number }, b: { place: string | number }): number {
  return a.place < b.place ? -1 : Number(a.place > b.place);
}

/** Name of a group in a report: a day as `YYYY-MM-DD`; null if the entries name none. */
export function groupName(groupBy: string, place: string | number): UsageRow['group'] {
  if (groupBy === 'hour') return new Date(Number(place) * HOUR_MS).toISOString();
  if (groupBy === 'day') return new Date(Number(place) * DAY_MS).toISOString().slice(0, 10);
  return place === '' ? null : place;
}
