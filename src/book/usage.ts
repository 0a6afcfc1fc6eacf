import { type Kysely, type RawBuilder, sql } from 'kysely';
import { monthStart } from '../domain/period.ts';
import type { Usage } from '../domain/units.ts';
import type { BookSchema } from './schema.ts';
import { SUMS, USAGE_COLUMNS } from './spend-days.ts';
import type { Store } from './store.ts';

export interface UsageRow {
  /** `YYYY-MM-DD`, the key id, or the model, by group. */
  readonly group: string | number | null;
  readonly calls: number;
  /** Calls that failed. */
  readonly failed: number;
  /** Calls that the gateway refused, which are not among `calls`. */
  readonly refused: number;
  /** Positive: micro-credits spent (charges less refunds). Sums may exceed the integers that a number holds exactly. */
  readonly credits: bigint;
  readonly usage: Usage;
}

/** Things that a report of usage can tell apart. */
export type UsagePlace = 'hour' | 'day' | 'key' | 'model' | 'account' | 'upstream';

/** Sums of one group of a report by one or two things, in their order; an hour is a timestamp. */
export interface UsageByRow extends Omit<MarginRow, 'group'> {
  readonly groups: readonly UsageRow['group'][];
}

/** Ways to group the operator's usage report. */
export type MarginGroup = 'account' | 'key' | 'model' | 'upstream' | 'day';

/** Sums over several accounts. `group`: an id, a name, or a day as `YYYY-MM-DD`; null: the entries name none. */
export interface MarginRow extends UsageRow {
  /** Micro-credits that providers take for the calls whose cost is known. */
  readonly cost: bigint;
  /** Micro-credits of `credits` that these calls were charged. */
  readonly costed: bigint;
}

/** The part of the book that reports usage. */
export interface BookUsage {
  /** Sums over whole UTC days, `fromDay` ≤ day < `toDay` (days since 1970-01-01), of one key or all; groups ascending. */
  usage(
    accountId: number,
    fromDay: number,
    toDay: number,
    groupBy: 'day' | 'key' | 'model',
    keyId?: number,
  ): Promise<UsageRow[]>;
  /**
   * Sums of all accounts over whole UTC days, as `usage` counts days, with the providers' cost. They come in parts, each of
   * some accounts by id ascending: a group other than an account or a key can be in several. Only sums are read, never
   * the ledger; each part is of one moment.
   */
  usageOfAll(fromDay: number, toDay: number, groupBy: MarginGroup): AsyncIterable<readonly MarginRow[]>;
  /**
   * Sums by one or two things over hours (since the epoch; one of the groups is `hour`) or days, `from` ≤ hour or day < `to`.
   * They come in parts by time: a group can be in several.
   */
  usageBy(query: {
    /** Absent: all accounts. */
    readonly accountId?: number | undefined;
    readonly keyId?: number | undefined;
    readonly groups: readonly UsagePlace[];
    readonly from: number;
    readonly to: number;
  }): AsyncIterable<readonly UsageByRow[]>;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

/**
 * Days times accounts of one statement of the operator's report. A statement of a year then reads the sums of six accounts,
 * and one of a day those of a thousand: some thousand rows, in which SQLite's one thread posts nothing.
 */
const ACCOUNT_DAYS = 2_000;
/** Most accounts of one statement, which lists their ids. */
const MAX_ACCOUNTS = 1_000;
/** Bounds of one statement of a report by hour or by two things: some thousand rows again. */
const DAYS_AT_ONCE = 31;
const HOURS_AT_ONCE = 24;
const ACCOUNTS_AT_ONCE = 50;

/** Column of the time in each table of sums. */
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

/** Sums of credits, which can be more than a number holds exactly over years. */
const AMOUNTS: ReadonlySet<string> = new Set(['credits', 'cost', 'costed']);

type Place = string | number;
/** Sums as the database gives them: amounts of credits as text. */
type Sums = Record<(typeof SUMS)[number], number> & { credits: string; cost: string; costed: string };
type Row = Sums & { readonly first: Place; readonly second: Place };

/** The sums of a report: some accounts, or one key of them, from `from` up to, but without, `to` in the table's unit of time. */
interface Span {
  readonly accounts: readonly number[];
  readonly keyId?: number | undefined;
  readonly from: number;
  readonly to: number;
}

/**
 * Reports of usage, from sums. None reads more rows than there are days times models, or keys times months. The operator's go
 * through the accounts by their ids, so that each statement begins with the accounts in the primary keys of the sums: no index
 * over all accounts is needed, which every posting would have to write. Rows are sorted here: the engines order text differently.
 */
export function usageQueries({ db }: Store): BookUsage {
  return {
    async usage(accountId, from, to, groupBy, keyId) {
      const span = { accounts: [accountId], keyId, from, to };
      // spend_model_days does not tell keys apart.
      const table = keyId === undefined ? 'spend_model_days' : 'spend_days';
      const all = groupBy === 'key' ? await byKey(db, span) : await sumsBy(db, table, [groupBy], span);
      const rows = groupBy === 'model' ? withoutRefusedOnly(all) : all;
      return rows.sort(byPlace).map((row) => {
        const { cost, costed, ...spent } = sumsOf(row);
        return { group: groupName(groupBy, row.first), ...spent };
      });
    },

    async *usageOfAll(from, to, groupBy) {
      const atOnce = Math.min(MAX_ACCOUNTS, Math.ceil(ACCOUNT_DAYS / Math.max(1, to - from)));
      for await (const accounts of accountsOf(db, undefined, atOnce)) {
        const span = { accounts, from, to };
        const isByKey = groupBy === 'key';
        const all = isByKey ? await byKey(db, span) : await sumsBy(db, 'spend_model_days', [groupBy], span);
        const rows = isByKey || groupBy === 'day' ? all : withoutRefusedOnly(all);
        yield rows.sort(byPlace).map((row) => ({ group: groupName(groupBy, row.first), ...sumsOf(row) }));
      }
    },

    async *usageBy({ accountId, keyId, groups, from, to }) {
      const isHourly = groups.includes('hour');
      const table = isHourly ? 'spend_hours' : 'spend_days';
      const atOnce = isHourly ? HOURS_AT_ONCE : DAYS_AT_ONCE;
      for await (const accounts of accountsOf(db, accountId, ACCOUNTS_AT_ONCE)) {
        for (let start = from; start < to; start += atOnce) {
          const span = { accounts, keyId, from: start, to: Math.min(to, start + atOnce) };
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

/** The account, or the ids of all accounts in pages, ascending. */
async function* accountsOf(
  db: Kysely<BookSchema>,
  accountId: number | undefined,
  atOnce: number,
): AsyncGenerator<number[]> {
  if (accountId !== undefined) {
    yield [accountId];
    return;
  }
  for (let after = 0; ; ) {
    const page = db.selectFrom('accounts').select('id').where('id', '>', after).orderBy('id').limit(atOnce);
    const ids = (await page.execute()).map(({ id }) => id);
    if (ids.length === 0) return;
    yield ids;
    after = ids.at(-1) ?? 0;
  }
}

/** Sums of a table by one or two things. */
async function sumsBy(
  db: Kysely<BookSchema>,
  table: Exclude<Table, 'spend_key_months'>,
  groups: readonly UsagePlace[],
  span: Span,
): Promise<Row[]> {
  const [first = 'day', second = first] = groups;
  // Sums by hour have no column of the day.
  const place = (group: UsagePlace) =>
    table === 'spend_hours' && group === 'day' ? sql`${sql.ref('hour')} / 24` : sql.ref(COLUMNS[group]);
  const { rows } = await sql<Row>`
    select ${place(first)} as first, ${place(second)} as second, ${summed((sum) => sum)}
    ${fromTable(table, span)} group by 1, 2`.execute(db);
  return rows;
}

/**
 * Sums by key, of months if they save reading days. Of 100 keys and 3 models, days alone are 110,000 rows a year, and whole
 * months with the days at either end up to 18,000; this reads 9,000 at most.
 */
async function byKey(db: Kysely<BookSchema>, { accounts, keyId, ...days }: Span): Promise<Row[]> {
  const columns = sql.join(SUMS.map((sum) => sql.ref(sum)));
  const parts = rollupRanges(days.from, days.to).map(({ sums, from, to, times }) => {
    const table = sums === 'months' ? 'spend_key_months' : 'spend_days';
    return sql`
      select key_id, ${sql.lit(times)} as times, ${columns} ${fromTable(table, { accounts, keyId, from, to })}`;
  });
  const { rows } = await sql<Row>`
    select key_id as first, key_id as second, ${summed((sum) => sql`times * ${sum}`)}
    from (${sql.join(parts, sql` union all `)}) as parts group by key_id`.execute(db);
  // A key that was used in a month, but only on days that were taken off again, is left out.
  return rows.filter(isUsed);
}

function fromTable(table: Table, { accounts, keyId, from, to }: Span): RawBuilder<unknown> {
  const time = sql.ref(TIMES[table]);
  const ofKey = keyId === undefined ? sql`` : sql`and key_id = ${keyId}`;
  return sql`from ${sql.table(table)}
    where account_id in (${sql.join(accounts)}) and ${time} >= ${from} and ${time} < ${to} ${ofKey}`;
}

/** Each sum by its name, credits as text, of `of` its column. */
function summed(of: (column: RawBuilder<unknown>) => RawBuilder<unknown>): RawBuilder<unknown> {
  return sql.join(
    SUMS.map((name) => {
      const sum = sql`sum(${of(sql`${sql.ref(name)}`)})`;
      return sql`${AMOUNTS.has(name) ? sql`cast(${sum} as text)` : sum} as ${sql.ref(name)}`;
    }),
  );
}

/** A range of days (since 1970-01-01) of a report, and the table that has their sums. */
interface DateRange {
  readonly sums: 'months' | 'days';
  readonly from: number;
  /** The day after the last day. */
  readonly to: number;
  /** −1: these sums are subtracted, because the months contain them and the report does not. */
  readonly times: 1 | -1;
}

/**
 * Splits the days from `fromDay` up to, but without, `toDay` into whole months and few single days. Either end is moved to
 * the nearest first of a month; the days between are added if the report contains them, and subtracted if it does
 * not. That is 15 days at each end at most, and for a report until today often none: later days have no sums yet.
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

/** Whether a sum stands for anything: days that were taken off again leave zeros. */
function isUsed({ calls, refused, credits }: Row): boolean {
  return calls !== 0 || refused !== 0 || credits !== '0';
}

/** Refused calls make no row of their own in a report that does not count them. */
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

/** Usage fields of a row; a field that is 0 is absent. */
function usageOf(sums: Sums): Usage {
  const used = [...USAGE_COLUMNS].map(([field, column]) => [field, exact(sums[column])]);
  return Object.fromEntries(used.filter(([, amount]) => amount !== 0));
}

/** Sums of seconds, the only fractions here, to a microsecond: what adding and taking off left beyond it is no usage. */
function exact(sum: number): number {
  return Number.isInteger(sum) ? sum : Math.round(sum * 1e6) / 1e6;
}

/** Compares rows of a report for sorting: numbers by size, text by code units. */
function byPlace(a: Row, b: Row): number {
  return a.first < b.first ? -1 : Number(a.first > b.first);
}

/** Name of a group in a report: a day as `YYYY-MM-DD`; null if the entries name none. */
function groupName(groupBy: UsagePlace, place: Place): UsageRow['group'] {
  if (groupBy === 'hour') return new Date(Number(place) * HOUR_MS).toISOString();
  if (groupBy === 'day') return new Date(Number(place) * DAY_MS).toISOString().slice(0, 10);
  return place === '' ? null : place;
}
