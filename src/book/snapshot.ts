import { sql } from 'kysely';
import { type Micro, micro } from '../domain/credits.ts';
import type { AccountRecord, KeyRecord } from '../domain/key.ts';
import { type PeriodStarts, periodsOfDay } from '../domain/period.ts';
import { NO_WINDOWS, type Windows } from '../domain/spending-limits.ts';
import { accountRecord } from './accounts.ts';
import { fiveHoursOf, OF_ACCOUNT, ofMember } from './five-hours.ts';
import { type Grant, pendingGrantsOf } from './grants.ts';
import { keyRecord } from './key-row.ts';
import { idsInLedger } from './ledger.ts';
import { exactOrMost } from './many-rows.ts';
import type { Store, Trx } from './store.ts';

export interface KeyState {
  readonly key: KeyRecord;
  readonly windows: Windows;
}

/** A person with keys in the account. */
export interface MemberState {
  readonly personId: number;
  readonly windows: Windows;
}

/** Source for rebuilding the live state of an account. Each call returns a new `epoch`. */
export interface AccountSnapshot {
  readonly account: AccountRecord;
  readonly balance: Micro;
  readonly seq: number;
  readonly epoch: number;
  /** The account's. */
  readonly windows: Windows;
  readonly keys: readonly KeyState[];
  readonly members: readonly MemberState[];
  /** Those of the requested ids that the ledger has: the balance includes their entries. */
  readonly known: ReadonlySet<string>;
  /** Recorded grants that are not in the ledger, and so not in the balance; oldest first. */
  readonly pendingGrants: readonly Grant[];
}

/** Reads the state from which live states are rebuilt. */
export interface BookSnapshots {
  /**
   * Starts a new epoch of the account, and reads the state to rebuild its live state from, and which of these entries
   * it includes. Its windows are those of `starts`, or later ones in which calls were booked. Undefined: no such
   * account.
   */
  snapshot(
    accountId: number,
    starts: PeriodStarts,
    ids?: readonly string[],
  ): Promise<AccountSnapshot | undefined>;
  /** Accounts with an entry at or after `since` (ms since the epoch), with their last seq and epoch. */
  recentAccounts(since: number): Promise<{ id: number; seq: number; epoch: number }[]>;
}

const HOUR_MS = 3_600_000;

export function snapshotQueries(store: Store): BookSnapshots {
  return {
    snapshot: (accountId, starts, ids = []) =>
      store.transaction(async (trx) => {
        // First, because it locks the account: nothing is posted to it until the sums are read.
        const account = await trx
          .updateTable('accounts')
          .set({ epoch: sql<number>`epoch + 1` })
          .where('id', '=', accountId)
          .returningAll()
          .executeTakeFirst();
        if (!account) return undefined;
        return {
          account: accountRecord(account),
          balance: micro(account.balance),
          seq: account.seq,
          epoch: account.epoch,
          ...(await spendingOf(trx, accountId, starts)),
          known: await idsInLedger(trx, ids),
          pendingGrants: await pendingGrantsOf(trx, accountId),
        };
      }),

    async recentAccounts(since) {
      const rows = await store.db
        .selectFrom('accounts')
        .select(['id', 'seq', 'epoch'])
        .where('last_entry_hour', '>=', hourOf(since))
        .where('last_entry_at', '>=', since)
        .execute();
      // Sorted here: for ordered output, SQLite would read all accounts instead of the index.
      return rows.sort((a, b) => a.id - b.id);
    },
  };
}

/** Hours since the epoch, as in `last_entry_hour`. */
export function hourOf(ms: number): number {
  return Math.floor(ms / HOUR_MS);
}

/** What the keys of an account, those of each member, and all together have spent in their windows. */
async function spendingOf(
  trx: Trx,
  accountId: number,
  now: PeriodStarts,
): Promise<Pick<AccountSnapshot, 'keys' | 'members' | 'windows'>> {
  const starts = await lastStarts(trx, accountId, now);
  const keys = await trx
    .selectFrom('keys')
    .selectAll()
    .where('account_id', '=', accountId)
    .orderBy('id')
    .execute();
  const recent = await trx
    .selectFrom('spend_days')
    .select('key_id')
    .select((eb) => [
      exactOrMost(eb.fn.sum('credits').filterWhere('day', '>=', starts.day)).as('daySpent'),
      exactOrMost(eb.fn.sum('credits').filterWhere('day', '>=', starts.week)).as('weekSpent'),
    ])
    .where('account_id', '=', accountId)
    .where('day', '>=', Math.min(starts.day, starts.week))
    .groupBy('key_id')
    .execute();
  const months = await trx
    .selectFrom('spend_key_months')
    .select('key_id')
    .select((eb) => [
      exactOrMost(eb.fn.sum('credits').filterWhere('month', '>=', starts.month)).as('monthSpent'),
      exactOrMost(eb.fn.sum('credits')).as('totalSpent'),
    ])
    .where('account_id', '=', accountId)
    .groupBy('key_id')
    .execute();
  const fiveHours = await fiveHoursOf(trx, accountId);
  const byKey = new Map(recent.map((sum) => [sum.key_id, sum]));
  const monthly = new Map(months.map((sum) => [sum.key_id, sum]));
  /** By `key_id` of the five hours. */
  const spent = new Map<number, Spent>([[OF_ACCOUNT, NO_WINDOWS]]);
  const personIds = new Set<number>();
  for (const { id, person_id } of keys) {
    const sums = { ...byKey.get(id), ...monthly.get(id) };
    spent.set(id, plus(NO_WINDOWS, sums));
    spent.set(OF_ACCOUNT, plus(spent.get(OF_ACCOUNT), sums));
    if (person_id === null) continue;
    personIds.add(person_id);
    spent.set(ofMember(person_id), plus(spent.get(ofMember(person_id)), sums));
  }
  const of = (owner: number): Windows => ({
    ...NO_WINDOWS,
    ...spent.get(owner),
    ...fiveHours.get(owner),
    ...starts,
  });
  return {
    keys: keys.map((row) => ({ key: keyRecord(row), windows: of(row.id) })),
    members: [...personIds].map((personId) => ({ personId, windows: of(ofMember(personId)) })),
    windows: of(OF_ACCOUNT),
  };
}

/**
 * The periods now, or those of the last call if it was booked to a later day: a clock was set back, and the day that has
 * begun goes on (lua/windows.inc.lua).
 */
async function lastStarts(trx: Trx, accountId: number, now: PeriodStarts): Promise<PeriodStarts> {
  const { day } = await trx
    .selectFrom('spend_model_days')
    .select((eb) => eb.fn.max<number | null>('day').as('day'))
    .where('account_id', '=', accountId)
    .where('day', '>', now.day)
    // Refused calls count under the gateway's day.
    .where('calls', '>', 0)
    .executeTakeFirstOrThrow();
  return day === null ? now : periodsOfDay(day);
}

type Spent = Pick<Windows, 'daySpent' | 'weekSpent' | 'monthSpent' | 'totalSpent'>;

/** Sums with those of a key, capped like each of them. */
function plus(sums: Spent = NO_WINDOWS, key: { readonly [Sum in keyof Spent]?: number | null }): Spent {
  const sum = (name: keyof Spent) => micro(Math.min(sums[name] + (key[name] ?? 0), Number.MAX_SAFE_INTEGER));
  return {
    daySpent: sum('daySpent'),
    weekSpent: sum('weekSpent'),
    monthSpent: sum('monthSpent'),
    totalSpent: sum('totalSpent'),
  };
}
