import type { SpendingPeriod } from '../domain/key.ts';
import { type PeriodStarts, periodStart } from '../domain/period.ts';
import { holdText } from './entry-text.ts';
import type { Admission } from './ledger.ts';
import { accountName, bucketOf, holdsName, keyName } from './names.ts';

/** What a period is called in the hash of a key (lua/post.inc.lua). */
export const PERIOD_FIELDS = { daily: 'd', weekly: 'w', monthly: 'm' } as const satisfies Record<
  SpendingPeriod,
  string
>;

/** Of lua/admit.lua. `now` is the clock of Redis, in milliseconds. */
export function admitCommand(
  admission: Admission,
  starts: PeriodStarts,
  now: number,
  holdTtlMs: number,
): { keys: string[]; args: (string | number)[] } {
  const { accountId, keyId, spendingPeriod } = admission;
  return {
    keys: [accountName(accountId), keyName(accountId, keyId), holdsName(bucketOf(accountId))],
    args: [
      admission.requestId,
      admission.keyVersion,
      admission.accountVersion,
      admission.hold,
      admission.spendingLimit ?? '',
      PERIOD_FIELDS[spendingPeriod],
      periodStart(starts, spendingPeriod),
      holdText(admission, now, now + holdTtlMs),
    ],
  };
}
