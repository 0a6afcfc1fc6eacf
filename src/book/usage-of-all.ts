import { type Kysely, sql } from 'kysely';
import type { Book, MarginGroup, MarginRow } from './book.ts';
import { type DateRange, rollupRanges } from './rollup-ranges.ts';
import type { BookSchema } from './schema.ts';
import { SUMS } from './spend-days.ts';
import type { Store } from './store.ts';
import { byPlace, groupName, isUsed, type Sums, summed, usageOf, withoutRefusedOnly } from './usage.ts';

/**
 * Days times accounts of one statement. A statement of a year then reads the sums of six accounts, and one of a day those of
 * a thousand: some thousand rows, in which SQLite's one thread posts nothing.
 */
const ACCOUNT_DAYS = 2_000;
/** Most accounts of one statement, which lists their ids. */
const MAX_ACCOUNTS = 1_000;

interface Part {
  readonly accounts: readonly number[];
  readonly fromDay: number;
  /** The day after the last day. */
  readonly toDay: number;
}

/** Sums as the database gives them: amounts of credits as text. */
export type SummedRow = Sums & { credits: string; cost: string; costed: string };
type Row = SummedRow & { place: string | number };

/**
 * The operator's report. Accounts are gone through by their ids, so that each statement begins with the accounts in the
 * primary keys of the sums: no index over all accounts is needed, which every posting would have to write.
 */
export function usageOfAllQueries({ db }: Store): Pick<Book, 'usageOfAll'> {
  return {
    async *usageOfAll(fromDay, toDay, groupBy) {
      const size = Math.min(MAX_ACCOUNTS, Math.ceil(ACCOUNT_DAYS / Math.max(1, toDay - fromDay)));
      let accounts = await accountsAfter(db, 0, size);
      while (accounts.length > 0) {
        yield await part(db, { accounts, fromDay, toDay }, groupBy);
        accounts = await accountsAfter(db, accounts.at(-1) ?? 0, size);
      }
    },
  };
}

/** Ids of the next accounts, ascending. */
export async function accountsAfter(db: Kysely<BookSchema>, after: number, limit: number): Promise<number[]> {
  const rows = await db
    .selectFrom('accounts')
    .select('id')
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

async function part(db: Kysely<BookSchema>, of: Part, groupBy: MarginGroup): Promise<readonly MarginRow[]> {
  const all = groupBy === 'key' ? await byKey(db, of) : await byDays(db, of, groupBy);
  const rows = groupBy === 'day' || groupBy === 'key' ? all : withoutRefusedOnly(all);
  // Sorted here: the engines order text differently.
  return rows.sort(byPlace).map((row) => ({ group: groupName(groupBy, row.place), ...sumsOf(row) }));
}

/** The sums of a row that the database summed. */
export function sumsOf(row: SummedRow): Omit<MarginRow, 'group'> {
  return {
    calls: row.calls,
    failed: row.failed,
    refused: row.refused,
    credits: BigInt(row.credits),
    cost: BigInt(row.cost),
    costed: BigInt(row.costed),
    usage: usageOf(row),
  };
}

function byDays(
  db: Kysely<BookSchema>,
  { accounts, fromDay, toDay }: Part,
  groupBy: Exclude<MarginGroup, 'key'>,
): Promise<Row[]> {
  const place = groupBy === 'account' ? 'account_id' : groupBy;
  return db
    .selectFrom('spend_model_days')
    .select(sql<string | number>`${sql.ref(place)}`.as('place'))
    .select(({ fn }) => SUMS.map((sum) => summed(sum, fn.sum(sum)).as(sum)))
    .where('account_id', 'in', accounts)
    .where('day', '>=', fromDay)
    .where('day', '<', toDay)
    .groupBy(sql.ref(place))
    .execute();
}

/** Sums by key, as in the owner's report: of months if that saves reading days. */
async function byKey(db: Kysely<BookSchema>, { accounts, fromDay, toDay }: Part): Promise<Row[]> {
  const parts = rollupRanges(fromDay, toDay).map((range) => keySums(db, accounts, range));
  const all = parts.reduce((before, next) => before.unionAll(next));
  const rows = await db
    .selectFrom(all.as('parts'))
    .select('key_id as place')
    .select(({ fn }) => SUMS.map((sum) => summed(sum, fn.sum(sql`times * ${sql.ref(sum)}`)).as(sum)))
    .groupBy('key_id')
    .execute();
  // A key that was used in a month, but only on days that were taken off again, is left out.
  return rows.filter(isUsed);
}

function keySums(db: Kysely<BookSchema>, accounts: readonly number[], { sums, from, to, times }: DateRange) {
  const columns = ['key_id', ...SUMS, sql.lit(times).as('times')] as const;
  return sums === 'months'
    ? db
        .selectFrom('spend_key_months')
        .select(columns)
        .where('account_id', 'in', accounts)
        .where('month', '>=', from)
        .where('month', '<', to)
    : db
        .selectFrom('spend_days')
        .select(columns)
        .where('account_id', 'in', accounts)
        .where('day', '>=', from)
        .where('day', '<', to);
}
