import { sql } from 'kysely';
import { pagesOfAccounts } from './accounts.ts';
import type { Store } from './store.ts';

/** Bounds of the records of calls. */
export interface Kept {
  /** Milliseconds since the epoch; refused calls and error messages from before are removed. */
  readonly since: number;
  /** Maximum number of refused calls. */
  readonly rows: number;
  /** Hours since the epoch; sums of hours before are removed. */
  readonly sinceHour: number;
  /** Entries of the audit log from before are removed; default: none. */
  readonly auditSince?: number | undefined;
}

/** Removes what is kept for a time only (specification section 14). */
export interface BookRetention {
  /**
   * Removes records that are too old, then refused calls that are too many: the accounts that have most lose their
   * oldest first. Removes few rows per statement, because a statement blocks the book's other writers.
   */
  forgetRecords(kept: Kept): Promise<void>;
}

/** Rows per statement: some milliseconds. */
const AT_ONCE = 2_000;
const ACCOUNTS_AT_ONCE = 1_000;

export function retentionQueries(store: Store): BookRetention {
  const { db } = store;

  const forgetBefore = async (
    table: 'refusals' | 'call_messages' | 'audit',
    since: number,
  ): Promise<void> => {
    const key = sql.ref(table === 'refusals' ? 'n' : 'id');
    const time = sql.ref(table === 'audit' ? 'at' : 'created_at');
    await inSteps(Number.POSITIVE_INFINITY, async (limit) => {
      const { numAffectedRows } = await sql`
        delete from ${sql.table(table)} where ${key} in
          (select ${key} from ${sql.table(table)} where ${time} < ${since} order by ${time} limit ${limit})`.execute(
        db,
      );
      return Number(numAffectedRows);
    });
  };

  /** The oldest of an account. */
  const forgetOf = (accountId: number, count: number): Promise<void> =>
    inSteps(count, async (limit) => {
      const oldest = db
        .selectFrom('refusals')
        .select('n')
        .where('account_id', '=', accountId)
        .orderBy('created_at')
        .limit(limit);
      const { numDeletedRows } = await db
        .deleteFrom('refusals')
        .where('n', 'in', oldest)
        .executeTakeFirstOrThrow();
      return Number(numDeletedRows);
    });

  /** Numbers of refused calls by account; empty if `rows` is out of reach, which is known without counting. */
  const countedIfOver = async (rows: number): Promise<Map<number, number>> => {
    const counts = new Map<number, number>();
    const end = (which: 'min' | 'max') =>
      db
        .selectFrom('refusals')
        .select(({ fn }) => fn[which]('n').as('n'))
        .executeTakeFirstOrThrow();
    // Two statements: SQLite reads the whole table for both ends at once.
    const [first, last] = await Promise.all([end('min'), end('max')]);
    if (last.n - first.n < rows) return counts;
    for await (const ids of pagesOfAccounts(db, ACCOUNTS_AT_ONCE)) {
      const found = await db
        .selectFrom('refusals')
        .select(['account_id', ({ fn }) => fn.countAll<number>().as('count')])
        .where('account_id', 'in', ids)
        .groupBy('account_id')
        .execute();
      for (const { account_id, count } of found) counts.set(account_id, count);
    }
    return counts;
  };

  /** By account, so that each statement uses the primary key, which starts with it. */
  const forgetHours = async (sinceHour: number): Promise<void> => {
    const key = sql.raw('account_id, hour, key_id, model, upstream');
    for await (const ids of pagesOfAccounts(db, ACCOUNTS_AT_ONCE)) {
      await inSteps(Number.POSITIVE_INFINITY, async (limit) => {
        const { numAffectedRows } = await sql`
          delete from spend_hours where (${key}) in
            (select ${key} from spend_hours where account_id in (${sql.join(ids)}) and hour < ${sinceHour} limit ${limit})`.execute(
          db,
        );
        return Number(numAffectedRows);
      });
    }
  };

  return {
    async forgetRecords({ since, rows, sinceHour, auditSince }) {
      await forgetBefore('refusals', since);
      await forgetBefore('call_messages', since);
      for (const [accountId, count] of excessOf(await countedIfOver(rows), rows))
        await forgetOf(accountId, count);
      await forgetHours(sinceHour);
      if (auditSince !== undefined) await forgetBefore('audit', auditSince);
    },
  };
}

/** Repeats a step, which removes at most `limit` rows and returns their number, until `count` rows or all are gone. */
async function inSteps(count: number, step: (limit: number) => Promise<number>): Promise<void> {
  for (let left = count; left > 0; ) {
    const limit = Math.min(left, AT_ONCE);
    const removed = await step(limit);
    if (removed < limit) return;
    left -= removed;
  }
}

/** How many each must lose of its `counts` so that `room` suffices: those with most come down to one level. */
export function excessOf(counts: ReadonlyMap<number, number>, room: number): Map<number, number> {
  const ascending = [...counts].sort(([, a], [, b]) => a - b);
  const excess = new Map<number, number>();
  let left = room;
  for (const [at, [id, count]] of ascending.entries()) {
    const kept = Math.min(count, Math.floor(left / (ascending.length - at)));
    left -= kept;
    if (kept < count) excess.set(id, count - kept);
  }
  return excess;
}
