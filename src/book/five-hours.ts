import { micro } from '../domain/credits.ts';
import type { JournalEntry } from '../domain/ledger-entry.ts';
import { FIVE_HOURS_MS, type FiveHours, NO_WINDOWS, withHours } from '../domain/spending-limits.ts';
import { exactOrMost, insertRows } from './many-rows.ts';
import type { Store, Trx } from './store.ts';

/** `key_id` of an account's own row. */
export const OF_ACCOUNT = 0;

/** `key_id` of a member's row. */
export function ofMember(personId: number): number {
  return -personId;
}

/**
 * Adds calls and refunds to the last five hours of their key, member and account, one row each, from which a rebuild restores
 * them.
 */
export async function addFiveHours(store: Store, trx: Trx, posted: readonly JournalEntry[]): Promise<void> {
  const rows = new Map<string, { account_id: number; key_id: number } & FiveHours>();
  const add = (accountId: number, keyId: number, start: number, spent: number) => {
    const place = `${accountId} ${keyId}`;
    const { hours, hoursSpent } = withHours(rows.get(place) ?? NO_WINDOWS, start, spent);
    rows.set(place, { account_id: accountId, key_id: keyId, hours, hoursSpent });
  };
  for (const { accountId, keyId, personId, hours, credits } of posted) {
    if (keyId === null || hours === undefined) continue;
    add(accountId, keyId, hours.key, -credits);
    add(accountId, OF_ACCOUNT, hours.account, -credits);
    if (personId !== undefined && hours.member !== undefined)
      add(accountId, ofMember(personId), hours.member, -credits);
  }
  await insertRows(
    store,
    trx,
    'spend_five_hours',
    [...rows.values()].map(({ hours, hoursSpent, ...owner }) => ({
      ...owner,
      start: hours,
      credits: hoursSpent,
    })),
    // As withHours adds them.
    `on conflict (account_id, key_id) do update set
      credits = case when excluded.start - spend_five_hours.start >= ${FIVE_HOURS_MS} then excluded.credits
        when spend_five_hours.start - excluded.start >= ${FIVE_HOURS_MS} then spend_five_hours.credits
        else spend_five_hours.credits + excluded.credits end,
      start = case when excluded.start - spend_five_hours.start >= ${FIVE_HOURS_MS} then excluded.start
        when excluded.start < spend_five_hours.start and spend_five_hours.start - excluded.start < ${FIVE_HOURS_MS}
        then excluded.start else spend_five_hours.start end`,
  );
}

/** The last five hours of an account's owners, by `key_id`. */
export async function fiveHoursOf(trx: Trx, accountId: number): Promise<ReadonlyMap<number, FiveHours>> {
  const rows = await trx
    .selectFrom('spend_five_hours')
    .select(['key_id', 'start'])
    .select((eb) => exactOrMost(eb.ref('credits')).as('spent'))
    .where('account_id', '=', accountId)
    .execute();
  return new Map(
    rows.map(({ key_id, start, spent }) => [key_id, { hours: start, hoursSpent: micro(spent ?? 0) }]),
  );
}
