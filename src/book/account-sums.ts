import { type Kysely, sql } from 'kysely';
import { type Micro, micro } from '../domain/credits.ts';
import type { AccountRecord } from '../domain/key.ts';
import { PACE_DAYS } from '../domain/pace.ts';
import { accountRecord, pagesOfAccounts } from './accounts.ts';
import { chunks } from './many-rows.ts';
import type { BookSchema } from './schema.ts';
import type { Store } from './store.ts';

/** What an account did lately. Days are since 1970-01-01 UTC, times milliseconds since the epoch. */
export interface AccountSums {
  readonly id: number;
  readonly email: string;
  readonly name: string;
  readonly isActive: boolean;
  /** As the book has it: up to a moment behind Redis. */
  readonly balance: Micro;
  /** Spend of the last SUMMED_DAYS days and of the last PACE_DAYS, today included, in micro-credits. */
  readonly spent: bigint;
  readonly spentOfPace: bigint;
  /** First of those days with a call; null: none. */
  readonly firstDay: number | null;
  /** Latest call, settled or refused, that is recorded; null: none. */
  readonly lastCallAt: number | null;
  /** Calls refused for want of credits within a day. */
  readonly refusedOfDay: number;
  /** Those of them since the last top-up, and the time of the first. */
  readonly refused: number;
  readonly refusedSince: number | null;
}

/** Sums of accounts for their operator, from the sums by day, never from the ledger. */
export interface BookAccountSums {
  /** Of these accounts, by ascending id. */
  accountSums(ids: readonly number[], now: number): Promise<AccountSums[]>;
  /** Of all accounts by ascending id, in parts; `emailPart` as in `accounts`. */
  allAccountSums(now: number, emailPart?: string): AsyncIterable<readonly AccountSums[]>;
  accountsAmong(ids: readonly number[]): Promise<AccountRecord[]>;
}

export const SUMMED_DAYS = 30;
const DAY_MS = 86_400_000;

/** Accounts a statement: some thousand rows of sums, during which SQLite's one thread can't post. */
const AT_ONCE = 66;

export function accountSumQueries({ db }: Store): BookAccountSums {
  return {
    async accountSums(ids, now) {
      const found = [];
      for (const chunk of chunks(ids)) found.push(...(await sumsOf(db, chunk, now)));
      return found;
    },

    async *allAccountSums(now, emailPart) {
      for await (const ids of pagesOfAccounts(db, AT_ONCE, emailPart)) yield await sumsOf(db, ids, now);
    },

    async accountsAmong(ids) {
      const found = [];
      for (const chunk of chunks(ids)) {
        found.push(...(await db.selectFrom('accounts').selectAll().where('id', 'in', chunk).execute()));
      }
      return found.map(accountRecord);
    },
  };
}

interface Row {
  readonly id: number;
  readonly email: string;
  readonly name: string;
  readonly is_active: number;
  readonly balance: number;
  readonly spent: string | null;
  readonly spent_of_pace: string | null;
  readonly first_day: number | null;
  readonly last_call: number | null;
  readonly last_refusal: number | null;
  readonly refused_of_day: number | null;
  readonly refused: number | null;
  readonly refused_since: number | null;
}

async function sumsOf(db: Kysely<BookSchema>, ids: readonly number[], now: number): Promise<AccountSums[]> {
  const today = Math.floor(now / DAY_MS);
  const among = sql.join(ids);
  // Literals, so both engines can use the index of entries other than charges.
  const toppedUp = sql`coalesce((select created_at from ledger
    where account_id = accounts.id and type = 'top_up' and type <> 'charge' order by seq desc limit 1), 0)`;
  const ofDay = sql`from refusals where account_id = accounts.id and code = 'insufficient_credits'
    and created_at >= ${now - DAY_MS}`;
  const refusals = sql`${ofDay} and created_at > ${toppedUp}`;
  const { rows } = await sql<Row>`
    select accounts.id, email, coalesce(name, email) as name, is_active, balance, spent, spent_of_pace, first_day,
      (select max(started_at) from ledger where account_id = accounts.id) as last_call,
      (select max(created_at) from refusals where account_id = accounts.id) as last_refusal,
      (select sum(repeated) ${ofDay}) as refused_of_day,
      (select sum(repeated) ${refusals}) as refused,
      (select min(created_at) ${refusals}) as refused_since
    from accounts left join (
      select account_id,
        cast(sum(credits) as text) as spent,
        cast(sum(case when day > ${today - PACE_DAYS} then credits else 0 end) as text) as spent_of_pace,
        min(case when calls > 0 then day end) as first_day
      from spend_model_days
      where account_id in (${among}) and day > ${today - SUMMED_DAYS} group by account_id
    ) as sums on sums.account_id = accounts.id
    where accounts.id in (${among}) order by accounts.id`.execute(db);
  return rows.map((row) => ({
    id: row.id,
    email: row.email,
    name: row.name,
    isActive: row.is_active === 1,
    balance: micro(row.balance),
    spent: BigInt(row.spent ?? 0),
    spentOfPace: BigInt(row.spent_of_pace ?? 0),
    firstDay: row.first_day,
    lastCallAt: Math.max(row.last_call ?? 0, row.last_refusal ?? 0) || null,
    refusedOfDay: row.refused_of_day ?? 0,
    refused: row.refused ?? 0,
    refusedSince: row.refused_since,
  }));
}
