import { type Expression, type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely';
import { type CallBuckets, callBuckets } from '../domain/call-buckets.ts';
import { type CallFilter, chargedConditions, refusedConditions } from './calls.ts';
import {
  type CallSum,
  CallsTally,
  Count,
  type Counted,
  type ErrorGroup,
  type Percentiles,
  type Results,
} from './calls-tally.ts';
import { namesOfKeys } from './names.ts';
import type { BookSchema, Engine } from './schema.ts';
import type { Store } from './store.ts';

interface Named extends Counted<number> {
  /** Null: the book has none. */
  readonly name: string | null;
}

/**
 * Sums of calls. An entry of repeated refused calls counts as all of them. Each list has the 50 values with the most
 * calls, most first, and leaves out calls without a value.
 */
export interface CallsSummary {
  readonly results: Results;
  readonly buckets: CallBuckets;
  /** One for each bucket. */
  readonly inBuckets: readonly Results[];
  readonly codes: readonly Counted<string>[];
  readonly models: readonly Counted<string>[];
  readonly endpoints: readonly Counted<string>[];
  readonly upstreams: readonly Counted<string>[];
  readonly keys: readonly Named[];
  readonly members: readonly Named[];
  readonly accounts: readonly Counted<number>[];
  readonly groups: readonly ErrorGroup[];
  /** Of calls that reached an upstream. */
  readonly durationMs: Percentiles;
  readonly firstByteMs: Percentiles;
}

export interface BookCallsSummary {
  /**
   * Sums the calls that match. Without `from`, the buckets begin with the oldest call of the account, or of all; without
   * `to`, they end `now`.
   */
  summarizeCalls(filter: CallFilter, now: number): Promise<CallsSummary>;
}

/**
 * Calls that a statement reads, whatever it filters by: 35 ms of SQLite's one thread, which can't post meanwhile. A
 * summary of 100,000 calls takes 0.7 s.
 */
const CALLS_AT_ONCE = 5_000;

export function callsSummary({ db, engine }: Store): BookCallsSummary {
  const parts = [chargedPart(engine), REFUSED];
  return {
    async summarizeCalls(filter, now) {
      const to = filter.to ?? Math.max(now, filter.from ?? now);
      const from = Math.min(filter.from ?? (await oldestCall(db, filter, parts)) ?? to, to);
      const buckets = callBuckets(from, to);
      const tally = new CallsTally(buckets);
      for (const part of parts) {
        for (let start = from; start <= to; ) {
          const end = (await endOfSlice(db, part, { ...filter, from: start, to })) ?? to;
          const where = part.where({ ...filter, from: start, to: end });
          if (!where) break;
          tally.add(await sumsOf(db, part, where, buckets));
          start = end + 1;
        }
      }
      return await summaryOf(db, tally, buckets);
    },
  };
}

/** One of the two tables of calls. */
interface Part {
  readonly table: 'ledger' | 'refusals';
  readonly time: 'started_at' | 'created_at';
  readonly where: typeof chargedConditions;
  /** Columns `result`, `upstream`, `times`, `duration` and `first_byte`. */
  readonly columns: RawBuilder<unknown>;
}

const REFUSED: Part = {
  table: 'refusals',
  time: 'created_at',
  where: refusedConditions,
  columns: sql`'refused' as result, cast(null as text) as upstream, repeated as times,
    cast(null as bigint) as duration, cast(null as bigint) as first_byte`,
};

function chargedPart(engine: Engine): Part {
  const call = engine === 'postgres' ? sql`cast(call as json)` : sql`call`;
  // Rows of earlier versions may lack the fields.
  const field = (name: string) => sql`cast(cast(${call} ->> ${sql.lit(name)} as numeric) as bigint)`;
  return {
    table: 'ledger',
    time: 'started_at',
    where: chargedConditions,
    columns: sql`case when outcome = 'complete' then 'ok' else 'failed' end as result, upstream, 1 as times,
      ${field('durationMs')} as duration, ${field('firstByteMs')} as first_byte`,
  };
}

/** Calls of the account and key of a filter, in the order of an index that has all that this reads. */
function callsBetween(
  db: Kysely<BookSchema>,
  { table, time, where }: Part,
  { accountId, keyId, from, to }: CallFilter,
) {
  const conditions = where({ accountId, keyId, from, to }) ?? [];
  return db
    .selectFrom(sql<{ at: number }>`${sql.table(table)}`.as('calls'))
    .select(sql<number>`${sql.ref(time)}`.as('at'))
    .where(sql.join([sql`${sql.ref(time)} is not null`, ...conditions], sql` and `) as RawBuilder<SqlBool>)
    .orderBy(sql.ref(time));
}

/** Time of the call with which CALLS_AT_ONCE calls are read; undefined: there are fewer. */
async function endOfSlice(
  db: Kysely<BookSchema>,
  part: Part,
  filter: CallFilter,
): Promise<number | undefined> {
  const row = await callsBetween(db, part, filter)
    .limit(1)
    .offset(CALLS_AT_ONCE - 1)
    .executeTakeFirst();
  return row?.at;
}

async function oldestCall(
  db: Kysely<BookSchema>,
  filter: CallFilter,
  parts: readonly Part[],
): Promise<number | undefined> {
  const rows = await Promise.all(
    parts.map((part) => callsBetween(db, part, filter).limit(1).executeTakeFirst()),
  );
  const times = rows.flatMap((row) => (row ? [row.at] : []));
  return times.length > 0 ? Math.min(...times) : undefined;
}

/**
 * Rounds milliseconds down to three digits, so that few numbers are left to group by: exact below a second, else at most
 * 1 % less.
 */
const rounded = (ms: RawBuilder<unknown>) => sql`case when ${ms} < 1000 then ${ms}
  when ${ms} < 10000 then ${ms} / 10 * 10 when ${ms} < 100000 then ${ms} / 100 * 100
  when ${ms} < 1000000 then ${ms} / 1000 * 1000 else ${ms} / 10000 * 10000 end`;

/** Sums of one slice, read once. */
async function sumsOf(
  db: Kysely<BookSchema>,
  { table, time, columns }: Part,
  where: readonly Expression<SqlBool>[],
  { start, ms }: CallBuckets,
): Promise<readonly CallSum[]> {
  const fields = sql`result, code, model, endpoint, key_id, upstream, account_id`;
  const none = sql`null, null, null, null, null, null`;
  const bucket = sql`(at - cast(${start} as bigint)) / cast(${ms} as bigint)`;
  const took = (kind: CallSum['kind'], column: RawBuilder<unknown>) => sql`
    select ${sql.lit(kind)}, null, ${none}, ${rounded(column)}, count(*), null, null
    from calls where ${column} is not null group by ${rounded(column)}`;
  const { rows } = await sql<CallSum>`
    with calls as materialized (
      select ${sql.ref(time)} as at, code, model, endpoint, key_id, account_id, ${columns}
      from ${sql.table(table)} where ${sql.join(where, sql` and `)}
    )
    select 'fields' as kind, ${fields}, cast(null as bigint) as number, sum(times) as count,
      min(at) as first_at, max(at) as last_at
    from calls group by ${fields}
    union all
    select 'bucket', result, ${none}, bucket, sum(times), null, null
    from (select result, times, ${bucket} as bucket from calls) as placed group by result, bucket
    union all ${took('duration', sql.ref('duration'))}
    union all ${took('first byte', sql.ref('first_byte'))}`.execute(db);
  return rows;
}

async function summaryOf(
  db: Kysely<BookSchema>,
  tally: CallsTally,
  buckets: CallBuckets,
): Promise<CallsSummary> {
  const keys = await namesOfKeys(db, [...tally.keys.all().keys()]);
  const members = new Count<number>();
  const names = new Map<number, string>();
  for (const [id, count] of tally.keys.all()) {
    const member = keys.get(id)?.member;
    if (!member) continue;
    members.add(member.id, count);
    names.set(member.id, member.name);
  }
  return {
    results: tally.results,
    buckets,
    inBuckets: tally.inBuckets,
    codes: tally.codes.most(),
    models: tally.models.most(),
    endpoints: tally.endpoints.most(),
    upstreams: tally.upstreams.most(),
    keys: tally.keys.most().map((key) => ({ ...key, name: keys.get(key.value)?.name ?? null })),
    members: members.most().map((member) => ({ ...member, name: names.get(member.value) ?? null })),
    accounts: tally.accounts.most(),
    groups: tally.groups(),
    ...tally.times(),
  };
}
