import { type Expression, sql } from 'kysely';
import { type Micro, micro } from '../domain/credits.ts';
import type { AccountRecord, KeyRecord } from '../domain/key.ts';
import type { PeriodStarts } from '../domain/period.ts';
import { accountRecord } from './accounts.ts';
import { type Grant, pendingGrantsOf } from './grants.ts';
import { keyRecord } from './key-row.ts';
import { idsInLedger } from './ledger.ts';
import type { Store, Trx } from './store.ts';

export interface KeyState {
  readonly key: KeyRecord;
  /** Credits spent since the start of each period. */
  readonly daySpent: Micro;
  readonly weekSpent: Micro;
  readonly monthSpent: Micro;
}

/** Source for rebuilding the live state of an account. Each call returns a new `epoch`. */
export interface AccountSnapshot {
  readonly account: AccountRecord;
  readonly balance: Micro;
  readonly seq: number;
  readonly epoch: number;
  readonly keys: readonly KeyState[];
  /** Those of the requested ids that the ledger has: the balance includes their entries. */
  readonly known: ReadonlySet<string>;
  /** Recorded grants that are not in the ledger, and so not in the balance; oldest first. */
  readonly pendingGrants: readonly Grant[];
}

/** Reads the state from which live states are rebuilt. */
export interface BookSnapshots {
  /**
   * Starts a new epoch of the account, and reads the state to rebuild its live state from, and which of these entries
   * it includes. Undefined: no such account.
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
          keys: await keyStates(trx, accountId, starts),
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

async function keyStates(trx: Trx, accountId: number, starts: PeriodStarts): Promise<KeyState[]> {
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
      exactOrMost(eb.fn.sum('credits').filterWhere('day', '>=', starts.day)).as('day_spent'),
      exactOrMost(eb.fn.sum('credits').filterWhere('day', '>=', starts.week)).as('week_spent'),
    ])
    .where('account_id', '=', accountId)
    .where('day', '>=', Math.min(starts.day, starts.week))
    .groupBy('key_id')
    .execute();
  const months = await trx
    .selectFrom('spend_key_months')
    .select('key_id')
    .select(({ fn }) => exactOrMost(fn.sum('credits')).as('spent'))
    .where('account_id', '=', accountId)
    .where('month', '>=', starts.month)
    .groupBy('key_id')
    .execute();
  const byKey = new Map(recent.map((sum) => [sum.key_id, sum]));
  const monthly = new Map(months.map(({ key_id, spent }) => [key_id, spent]));
  return keys.map((row) => {
    const sum = byKey.get(row.id);
    return {
      key: keyRecord(row),
      daySpent: micro(sum?.day_spent ?? 0),
      weekSpent: micro(sum?.week_spent ?? 0),
      monthSpent: micro(monthly.get(row.id) ?? 0),
    };
  });
}

/** A sum, capped at the highest exact number: no spending limit is higher (lua/post.inc.lua). */
function exactOrMost(sum: Expression<unknown>) {
  const most = sql.lit(Number.MAX_SAFE_INTEGER);
  return sql<number | null>`case when ${sum} > ${most} then ${most} else ${sum} end`;
}
