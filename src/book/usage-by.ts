import { type Kysely, sql } from 'kysely';
import type { Book, UsageByRow, UsagePlace } from './book.ts';
import type { BookSchema } from './schema.ts';
import { SUMS } from './spend-days.ts';
import type { Store } from './store.ts';
import { groupName, isUsed, summed } from './usage.ts';
import { accountsAfter, type SummedRow, sumsOf } from './usage-of-all.ts';

/** Days that one statement sums: some thousand rows, in which SQLite's one thread posts nothing. */
const DAYS_AT_ONCE = 31;
const HOURS_AT_ONCE = 24;
/** Accounts of one statement, which begins with them in the primary keys of the sums. */
const ACCOUNTS_AT_ONCE = 50;

const COLUMNS = {
  hour: 'hour',
  day: 'day',
  key: 'key_id',
  model: 'model',
  account: 'account_id',
  upstream: 'upstream',
} as const satisfies Record<UsagePlace, string>;

/** Sums by hour have no column of the day. */
const DAY_OF_HOUR = sql<number>`${sql.ref('hour')} / 24`;

type Row = SummedRow & { first: string | number; second: string | number };

/** Reports by hour, and by two things at once, from the sums that tell all of them apart. */
export function usageByQueries({ db }: Store): Pick<Book, 'usageBy'> {
  return {
    async *usageBy({ accountId, keyId, groups, from, to }) {
      const isHourly = groups.includes('hour');
      const [first, second = first] = groups;
      const place = (group: UsagePlace = 'day') =>
        isHourly && group === 'day' ? DAY_OF_HOUR : sql.ref<string | number>(COLUMNS[group]);
      const table: keyof BookSchema = isHourly ? 'spend_hours' : 'spend_days';
      const time = sql.ref(isHourly ? 'hour' : 'day');
      const atOnce = isHourly ? HOURS_AT_ONCE : DAYS_AT_ONCE;
      const sums = SUMS.map((sum) => sql`${summed(sum, sql`sum(${sql.ref(sum)})`)} as ${sql.ref(sum)}`);
      for await (const accounts of accountsOf(db, accountId)) {
        for (let start = from; start < to; start += atOnce) {
          const of = [
            sql`account_id in (${sql.join(accounts)})`,
            sql`${time} >= ${start}`,
            sql`${time} < ${Math.min(to, start + atOnce)}`,
          ];
          if (keyId !== undefined) of.push(sql`key_id = ${keyId}`);
          const { rows } = await sql<Row>`
            select ${place(first)} as first, ${place(second)} as second, ${sql.join(sums)} from ${sql.table(table)}
            where ${sql.join(of, sql` and `)} group by 1, 2`.execute(db);
          yield rows.filter(isUsed).map((row) => rowOf(row, groups));
        }
      }
    },
  };
}

async function* accountsOf(db: Kysely<BookSchema>, accountId: number | undefined): AsyncGenerator<number[]> {
  if (accountId !== undefined) {
    yield [accountId];
    return;
  }
  let accounts = await accountsAfter(db, 0, ACCOUNTS_AT_ONCE);
  while (accounts.length > 0) {
    yield accounts;
    accounts = await accountsAfter(db, accounts.at(-1) ?? 0, ACCOUNTS_AT_ONCE);
  }
}

function rowOf(row: Row, groups: readonly UsagePlace[]): UsageByRow {
  const places = [row.first, row.second];
  return { groups: groups.map((group, at) => groupName(group, places[at] ?? '')), ...sumsOf(row) };
}
