import type { Store, Trx } from './store.ts';

/** What an account may do only so often, over all gateways: `most` times within `spanMs`. */
export const RATES = {
  test_alert: { most: 5, spanMs: 60_000 },
  alert_threshold: { most: 10, spanMs: 3_600_000 },
  rotation: { most: 60, spanMs: 60_000 },
} as const;

export type RateKind = keyof typeof RATES;

/** The account has done this as often as it may. */
export class TooOften extends Error {
  readonly kind: RateKind;
  /** Milliseconds until the next time is allowed, from 1 to the span. */
  readonly retryAfterMs: number;

  constructor(kind: RateKind, retryAfterMs: number) {
    super(`too often: ${kind}`);
    this.kind = kind;
    this.retryAfterMs = retryAfterMs;
  }
}

/**
 * Counts one time. Throws TooOften beyond the rate. Locks the account's row: of two concurrent requests at two
 * gateways, the second finds the first one's.
 */
export async function countTowardsRate(
  store: Store,
  trx: Trx,
  kind: RateKind,
  accountId: number,
  now: number,
): Promise<void> {
  const { most, spanMs } = RATES[kind];
  await store.lock(trx.selectFrom('accounts').select('id').where('id', '=', accountId)).execute();
  const rate = await trx
    .selectFrom('rates')
    .select('times')
    .where('account_id', '=', accountId)
    .where('kind', '=', kind)
    .executeTakeFirst();
  const recent = (JSON.parse(rate?.times ?? '[]') as number[]).filter((time) => time > now - spanMs);
  const first = recent.at(-most);
  if (first !== undefined) throw new TooOften(kind, Math.min(Math.max(first + spanMs - now, 1), spanMs));
  const times = JSON.stringify([...recent, now]);
  await trx
    .insertInto('rates')
    .values({ account_id: accountId, kind, times })
    .onConflict((conflict) => conflict.columns(['account_id', 'kind']).doUpdateSet({ times }))
    .execute();
}
