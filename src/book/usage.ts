import type { Kysely } from 'kysely';
import { micro } from '../domain/credits.ts';
import type { Usage } from '../domain/ledger-entry.ts';
import { monthStart } from '../domain/period.ts';
import type { Book, UsageRow } from './book.ts';
import type { BookSchema } from './schema.ts';
import { SUMS, USAGE_COLUMNS } from './spend-days.ts';
import type { Store } from './store.ts';

const DAY_MS = 86_400_000;

/** One moment of the book in one statement; none reads more rows than there are days times models, or keys times months. */
export function usageQueries({ db }: Store): Pick<Book, 'usage'> {
  return {
    async usage(accountId, fromDay, toDay, groupBy) {
      const rows =
        groupBy === 'key'
          ? await byKey(db, accountId, fromDay, toDay)
          : await byModelDays(db, accountId, fromDay, toDay, groupBy);
      // Sorted here: the engines order text differently.
      return rows.sort(byPlace).map((row) => ({
        group: groupName(groupBy, row.place),
        calls: row.calls,
        credits: micro(row.credits),
        usage: usageOf(row),
      }));
    },
  };
}

type Row = Sums & { place: string | number };

function byModelDays(
  db: Kysely<BookSchema>,
  accountId: number,
  fromDay: number,
  toDay: number,
  column: 'day' | 'model',
): Promise<Row[]> {
  return db
    .selectFrom('spend_model_days')
    .select(`${column} as place`)
    .select(({ fn }) => SUMS.map((sum) => fn.sum<number>(sum).as(sum)))
    .where('account_id', '=', accountId)
    .where('day', '>=', fromDay)
    .where('day', '<', toDay)
    .groupBy(column)
    .execute();
}

/** Whole months from their sums, the days before and after them one by one. */
function byKey(db: Kysely<BookSchema>, accountId: number, fromDay: number, toDay: number): Promise<Row[]> {
  const next = monthStart(fromDay, 1);
  const firstMonth = monthStart(fromDay) === fromDay ? fromDay : next;
  const lastMonth = Math.max(firstMonth, monthStart(toDay));
  const days = (from: number, to: number) =>
    db
      .selectFrom('spend_days')
      .select(['key_id', ...SUMS])
      .where('account_id', '=', accountId)
      .where('day', '>=', from)
      .where('day', '<', to);
  const months = db
    .selectFrom('spend_key_months')
    .select(['key_id', ...SUMS])
    .where('account_id', '=', accountId)
    .where('month', '>=', firstMonth)
    .where('month', '<', lastMonth);
  const parts = months.unionAll(days(fromDay, Math.min(firstMonth, toDay))).unionAll(days(lastMonth, toDay));
  return db
    .selectFrom(parts.as('parts'))
    .select('key_id as place')
    .select(({ fn }) => SUMS.map((sum) => fn.sum<number>(sum).as(sum)))
    .groupBy('key_id')
    .execute();
}

type Sums = Record<(typeof SUMS)[number], number>;

/** Absent = 0. */
function usageOf(sums: Sums): Usage {
  const used = Object.entries(USAGE_COLUMNS).map(([column, field]) => [field, sums[column as keyof Sums]]);
  return Object.fromEntries(used.filter(([, amount]) => amount !== 0));
}

function byPlace(a: { place: string | number }, b: { place: string | number }): number {
  return a.place < b.place ? -1 : Number(a.place > b.place);
}

function groupName(groupBy: 'day' | 'key' | 'model', place: string | number): UsageRow['group'] {
  if (groupBy === 'day') return new Date(Number(place) * DAY_MS).toISOString().slice(0, 10);
  return place === '' ? null : place;
}
