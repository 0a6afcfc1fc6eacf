import { type Kysely, type RawBuilder, sql } from 'kysely';
import { monthStart } from '../domain/period.ts';
import type { Usage } from '../domain/units.ts';
import { pagesOfAccounts } from './accounts.ts';
import { ofPerson } from './key-row.ts';
import type { BookSchema } from './schema.ts';
import { SUMS, USAGE_COLUMNS } from './spend-days.ts';
import type { Store } from './store.ts';

export interface UsageRow {
  /** `YYYY-MM-DD`, the key id, or the model, by group. */
  readonly group: string | number | null;
  readonly calls: number;
  readonly failed: number;
  /** Calls refused by the gateway, not in `calls`. */
  readonly refused: number;
  /** Positive: micro-credits spent (charges less refunds). Sums may exceed the safe integers. */
  readonly credits: bigint;
  readonly usage: Usage;
}

/** Dimensions of a usage report. */
export type UsagePlace = 'hour' | 'day' | 'key' | 'model' | 'account' | 'upstream';

/** Sums of one group of a report by one or two dimensions, in their order; an hour is a timestamp. */
export interface UsageByRow extends Omit<MarginRow, 'group'> {
  readonly groups: readonly UsageRow['group'][];
}

/** Groupings of the operator's usage report. */
export type MarginGroup = 'account' | 'key' | 'model' | 'upstream' | 'day';

/** Sums over several accounts. `group`: an id, a name, or a day as `YYYY-MM-DD`; null: the entries name none. */
export interface MarginRow extends UsageRow {
  /** Provider cost in micro-credits of calls with known cost. */
  readonly cost: bigint;
  /** The part of `credits` charged for those calls. */
  readonly costed: bigint;
}

/** Reports usage. */
export interface BookUsage {
  /**
   * Sums over whole UTC days, `fromDay` ≤ day < `toDay` (days since 1970-01-01), of one key or all; groups ascending.
   */
  usage(
    accountId: number,
    fromDay: number,
    toDay: number,
    groupBy: 'day' | 'key' | 'model',
    only?: Only,
  ): Promise<UsageRow[]>;
  /**
   * Sums of all accounts over whole UTC days, counted as in `usage`, with the provider cost. Arrives in parts, each a
   * consistent snapshot of some accounts by ascending id; groups other than accounts and keys can recur. Reads only
   * sums, never the ledger.
   */
  usageOfAll(fromDay: number, toDay: number, groupBy: MarginGroup): AsyncIterable<readonly MarginRow[]>;
  /**
   * Sums by one or two dimensions over hours (since the epoch; one group is `hour`) or days, `from` ≤ hour or day <
   * `to`. Arrives in parts by time, in which groups can recur.
   */
  usageBy(query: {
    /** Absent: all accounts. */
    readonly accountId?: number | undefined;
    readonly keyId?: number | undefined;
    readonly personId?: number | undefined;
    readonly groups: readonly UsagePlace[];
    readonly from: number;
    readonly to: number;
  }): AsyncIterable<readonly UsageByRow[]>;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

/**
 * Days times accounts per statement of the operator's report. A statement for a year reads six accounts, and one for a
 * day a thousand: some thousand rows, during which SQLite's one thread can't post.
 */
const ACCOUNT_DAYS = 2_000;
/** Most accounts per statement, which lists their ids. */
const MAX_ACCOUNTS = 1_000;
/** Bounds per statement of a report by hour or by two dimensions: again some thousand rows. */
const DAYS_AT_ONCE = 31;
const HOURS_AT_ONCE = 24;
const ACCOUNTS_AT_ONCE = 50;

/** Time column of each table of sums. */
const TIMES = {
  spend_hours: 'hour',
  spend_days: 'day',
  spend_model_days: 'day',
  spend_key_months: 'month',
} as const satisfies Partial<Record<keyof BookSchema, string>>;
type Table = keyof typeof TIMES;

const COLUMNS = {
  hour: 'hour',
  day: 'day',
  key: 'key_id',
  model: 'model',
  account: 'account_id',
  upstream: 'upstream',
} as const satisfies Record<UsagePlace, string>;

/** Sums of credits, which can exceed the safe integers over years. */
const AMOUNTS: ReadonlySet<string> = new Set(['credits', 'cost', 'costed']);

type Place = string | number;
/** Sums from the database: amounts of credits as text. */
type Sums = Record<(typeof SUMS)[number], number> & { credits: string; cost: string; costed: string };
type Row = Sums & { readonly first: Place; readonly second: Place };

/** The keys of a report: one, or those of a person; default: all. */
export interface Only {
  readonly keyId?: number | undefined;
  readonly personId?: number | undefined;
}

/** Range of a report: some accounts, or one key of them, `from` ≤ time < `to` in the table's unit of time. */
interface Span extends Only {
  readonly accounts: readonly number[];
  readonly from: number;
  readonly to: number;
}

/**
 * Usage reports from sums. A report reads at most days × models or keys × months rows. The operator's reports iterate
 * over account ids, so each statement uses the account prefix of the sums' primary keys. That avoids an index over all
 * accounts, which every posting would have to write. Rows are sorted here, because the engines order text differently.
 */
export function usageQueries({ db }: Store): BookUsage {
  return {
    async usage(accountId, from, to, groupBy, only = {}) {
      const span = { accounts: [accountId], ...only, from, to };
      // spend_model_days has no keys.
      const isAll = only.keyId === undefined && only.personId === undefined;
      const table = isAll ? 'spend_model_days' : 'spend_days';
      const all = groupBy === 'key' ? await byKey(db, span) : await sumsBy(db, table, [groupBy], span);
      const rows = groupBy === 'model' ? withoutRefusedOnly(all) : all;
      return rows.sort(byPlace).map((row) => {
        const { cost, costed, ...spent } = sumsOf(row);
        return { group: groupName(groupBy, row.first), ...spent };
      });
    },

    async *usageOfAll(from, to, groupBy) {
      const atOnce = Math.min(MAX_ACCOUNTS, Math.ceil(ACCOUNT_DAYS / Math.max(1, to - from)));
      for await (const accounts of pagesOfAccounts(db, atOnce)) {
        const span = { accounts, from, to };
        const isByKey = groupBy === 'key';
        const all = isByKey ? await byKey(db, span) : await sumsBy(db, 'spend_model_days', [groupBy], span);
        const rows = isByKey || groupBy === 'day' ? all : withoutRefusedOnly(all);
        yield rows.sort(byPlace).map((row) => ({ group: groupName(groupBy, row.first), ...sumsOf(row) }));
      }
    },

    async *usageBy({ accountId, keyId, personId, groups, from, to }) {
      const isHourly = groups.includes('hour');
      const table = isHourly ? 'spend_hours' : 'spend_days';
      const atOnce = isHourly ? HOURS_AT_ONCE : DAYS_AT_ONCE;
      const one = accountId === undefined ? undefined : [[accountId]];
      for await (const accounts of one ?? pagesOfAccounts(db, ACCOUNTS_AT_ONCE)) {
        for (let start = from; start < to; start += atOnce) {
          const span = { accounts, keyId, personId, from: start, to: Math.min(to, start + atOnce) };
          const rows = await sumsBy(db, table, groups, span);
          yield rows.filter(isUsed).map((row) => ({
            groups: groups.map((group, at) => groupName(group, at === 0 ? row.first : row.second)),
            ...sumsOf(row),
          }));
        }
      }
    },
  };
}

/** Sums of a table by one or two dimensions. */
async function sumsBy(
  db: Kysely<BookSchema>,
  table: Exclude<Table, 'spend_key_months'>,
  groups: readonly UsagePlace[],
  span: Span,
): Promise<Row[]> {
  const [first = 'day', second = first] = groups;
  // Hourly sums have no day column.
  const place = (group: UsagePlace) =>
    table === 'spend_hours' && group === 'day' ? sql`${sql.ref('hour')} / 24` : sql.ref(COLUMNS[group]);
  const { rows } = await sql<Row>`
    select ${place(first)} as first, ${place(second)} as second, ${summed((sum) => sum)}
    ${fromTable(table, span)} group by 1, 2`.execute(db);
  return rows;
}

/**
 * Sums by key, using months where they save reading days. With 100 keys and 3 models, days alone are 110,000 rows a
 * year, and whole months with the days at either end up to 18,000; this reads at most 9,000.
 */
async function byKey(db: Kysely<BookSchema>, { accounts, keyId, personId, ...days }: Span): Promise<Row[]> {
  const columns = sql.join(SUMS.map((sum) => sql.ref(sum)));
  const parts = rollupRanges(days.from, days.to).map(({ sums, from, to, times }) => {
    const table = sums === 'months' ? 'spend_key_months' : 'spend_days';
    return sql`
      select key_id, ${sql.lit(times)} as times, ${columns} ${fromTable(table, { accounts, keyId, personId, from, to })}`;
  });
  const { rows } = await sql<Row>`
    select key_id as first, key_id as second, ${summed((sum) => sql`times * ${sum}`)}
    from (${sql.join(parts, sql` union all `)}) as parts group by key_id`.execute(db);
  // Drops keys whose only use in a month was on subtracted days.
  return rows.filter(isUsed);
}

function fromTable(table: Table, { accounts, keyId, personId, from, to }: Span): RawBuilder<unknown> {
  const time = sql.ref(TIMES[table]);
  const ofKey = keyId === undefined ? sql`` : sql`and key_id = ${keyId}`;
  const its = personId === undefined ? sql`` : sql`and ${ofPerson(accounts[0], personId)}`;
  return sql`from ${sql.table(table)}
    where account_id in (${sql.join(accounts)}) and ${time} >= ${from} and ${time} < ${to} ${ofKey} ${its}`;
}

/** Selects each sum by name, credits as text. `of` maps the column. */
function summed(of: (column: RawBuilder<unknown>) => RawBuilder<unknown>): RawBuilder<unknown> {
  return sql.join(
    SUMS.map((name) => {
      const sum = sql`sum(${of(sql`${sql.ref(name)}`)})`;
      return sql`${AMOUNTS.has(name) ? sql`cast(${sum} as text)` : sum} as ${sql.ref(name)}`;
    }),
  );
}

/** Range of days (since 1970-01-01) of a report, and the table to read. */
interface DateRange {
  readonly sums: 'months' | 'days';
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
  /** −1: subtracted, because the months contain these days and the report doesn't. */
  readonly times: 1 | -1;
}

/**
 * Splits the days `fromDay` ≤ day < `toDay` into whole months and few single days. Moves each end to the nearest first
 * of a month, then adds the days between if the report contains them, or subtracts them if not. That is at most 15 days
 * at each end, and often none for a report until today: later days have no sums yet.
 */
export function rollupRanges(fromDay: number, toDay: number): DateRange[] {
  const from = nearestMonth(fromDay);
  const to = nearestMonth(toDay);
  if (toDay - fromDay <= Math.abs(fromDay - from) + Math.abs(toDay - to)) {
    return [{ sums: 'days', from: fromDay, to: toDay, times: 1 }];
  }
  return [
    { sums: 'months', from, to, times: 1 },
    fromDay < from ? days(fromDay, from, 1) : days(from, fromDay, -1),
    to < toDay ? days(to, toDay, 1) : days(toDay, to, -1),
  ];
}

function days(from: number, to: number, times: 1 | -1): DateRange {
  return { sums: 'days', from, to, times };
}

function nearestMonth(day: number): number {
  const start = monthStart(day);
  const next = monthStart(day, 1);
  return day - start <= next - day ? start : next;
}

/** Whether a sum is nonzero: subtracted days leave zeros. */
function isUsed({ calls, refused, credits }: Row): boolean {
  return calls !== 0 || refused !== 0 || credits !== '0';
}

/** Drops rows with only refused calls from a report that doesn't count them. */
function withoutRefusedOnly(rows: readonly Row[]): Row[] {
  return rows.filter(({ calls, credits }) => calls !== 0 || credits !== '0');
}

function sumsOf(row: Sums): Omit<MarginRow, 'group'> {
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

/** Usage fields of a row, without zeros. */
function usageOf(sums: Sums): Usage {
  const used = [...USAGE_COLUMNS].map(([field, column]) => [field, exact(sums[column])]);
  return Object.fromEntries(used.filter(([, amount]) => amount !== 0));
}

/**
 * Rounds a sum of seconds, the only fractions here, to a microsecond; finer digits come from adding and subtracting.
 */
function exact(sum: number): number {
  return Number.isInteger(sum) ? sum : Math.round(sum * 1e6) / 1e6;
}

/** Compares report rows: numbers by size, text by code units. */
function byPlace(a: Row, b: Row): number {
  return a.first < b.first ? -1 : Number(a.first > b.first);
}

/** Group name in a report: a day as `YYYY-MM-DD`; null if the entries name none. */
function groupName(groupBy: UsagePlace, place: Place): UsageRow['group'] {
  if (groupBy === 'hour') return new Date(Number(place) * HOUR_MS).toISOString();
  if (groupBy === 'day') return new Date(Number(place) * DAY_MS).toISOString().slice(0, 10);
  return place === '' ? null : place;
}
