import { sql } from 'kysely';
import type { Micro } from '../domain/credits.ts';
import { type Book, TooManyTestAlerts } from './book.ts';
import type { Store, Trx } from './store.ts';

/** Most test alerts of one account within a time (specification section 7). */
const MOST = 5;
const SPAN_MS = 60_000;
/** Test alerts of an account that the book keeps: they cost nothing, and would fill it. */
const KEPT = 100;

/**
 * Queues a test alert. They are counted in the book, under the lock of the account's row: of two requests at once, at two
 * gateways, the second finds what the first has made.
 */
export function createTestAlert(store: Store): Book['createTestAlert'] {
  return (accountId, keyId, creditsBalance, now) =>
    store.transaction(async (trx) => {
      await store.lock(trx.selectFrom('accounts').select('id').where('id', '=', accountId)).execute();
      const fullUntil = await spanEnd(trx, accountId, now);
      if (fullUntil !== undefined) throw new TooManyTestAlerts(clamp(fullUntil - now, 1, SPAN_MS));
      await removeOldest(trx, accountId);
      return await insert(trx, accountId, keyId, creditsBalance, now);
    });
}

/** Removes the oldest test alert of an account that has KEPT, and its deliveries: one more is made. */
async function removeOldest(trx: Trx, accountId: number): Promise<void> {
  const oldest = await trx
    .selectFrom('alerts')
    .select('id')
    .where('account_id', '=', accountId)
    .where('test', '=', sql.lit(1))
    .orderBy('created_at', 'desc')
    .offset(KEPT - 1)
    .limit(1)
    .executeTakeFirst();
  if (!oldest) return;
  await trx.deleteFrom('deliveries').where('alert_id', '=', oldest.id).execute();
  await trx.deleteFrom('alerts').where('id', '=', oldest.id).execute();
}

/** Time (ms since the epoch) from which another test alert may be made; undefined: one may be made now. */
async function spanEnd(trx: Trx, accountId: number, now: number): Promise<number | undefined> {
  const times = await trx
    .selectFrom('alerts')
    .select('created_at')
    .where('account_id', '=', accountId)
    .where('test', '=', sql.lit(1))
    .where('created_at', '>', now - SPAN_MS)
    .orderBy('created_at', 'desc')
    .limit(MOST)
    .execute();
  const oldest = times[MOST - 1];
  return oldest && oldest.created_at + SPAN_MS;
}

async function insert(
  trx: Trx,
  accountId: number,
  keyId: number,
  creditsBalance: Micro,
  now: number,
): Promise<number> {
  const { id } = await trx
    .insertInto('alerts')
    .values({
      account_id: accountId,
      entry_id: null,
      created_at: now,
      credits_balance: creditsBalance,
      test: 1,
      key_id: keyId,
      state: 'queued',
      claimed_at: null,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(Math.max(value, least), most);
}
