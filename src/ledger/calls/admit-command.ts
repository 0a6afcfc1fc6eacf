import type { SpendingPeriod } from '../../domain/key.ts';
import { type PeriodStarts, periodStart } from '../../domain/period.ts';
import { estimateOf, holdText } from '../journal/entry-text.ts';
import type { Admission } from '../ledger.ts';
import { accountRedisKey, bucketOf, holdsRedisKey, keyRedisKey } from '../redis/redis-keys.ts';
import type { HotCommand } from '../redis/script-sender.ts';

/** Names of the periods in the hash of a key (lua/post.inc.lua). */
export const PERIOD_FIELDS = { daily: 'd', weekly: 'w', monthly: 'm' } as const satisfies Record<
  SpendingPeriod,
  string
>;

/** The command that runs lua/admit.lua. `now`: milliseconds since the epoch by the clock of Redis. */
export function admitCommand(
  admission: Admission,
  starts: PeriodStarts,
  now: number,
  holdTtlMs: number,
): HotCommand {
  const { accountId, keyId, keyVersion, accountVersion, hold, spendingLimit, spendingPeriod, isRead } =
    admission;
  const estimate = estimateOf(admission);
  const start = periodStart(starts, spendingPeriod);
  const bucket = bucketOf(accountId);
  return {
    bucket,
    keys: [accountRedisKey(accountId), keyRedisKey(accountId, keyId), holdsRedisKey(bucket)],
    id: admission.requestId,
    numbers: `${keyVersion} ${accountVersion} ${hold} ${estimate} ${isRead ? '*' : (spendingLimit ?? '-')} ${PERIOD_FIELDS[spendingPeriod]} ${start}${limitWords(admission)}`,
    record: holdText(admission, now, now + holdTtlMs),
  };
}

/** The words about limits of calls and about the end of a key value; nothing for most calls. */
function limitWords({ limits, valueEndsAt }: Admission): string {
  if (limits === undefined && valueEndsAt === undefined) return '';
  return ` ${valueEndsAt ?? '-'} ${limits ? limits.tokens : '-'}`;
}
