import type { JournalEntry } from '../../domain/ledger-entry.ts';
import { periodStarts, periodsOfDay } from '../../domain/period.ts';
import { draftOf, draftText } from '../journal/entry-text.ts';
import { accountRedisKey, keyRedisKey } from '../redis/redis-keys.ts';

/**
 * Arguments with which lua/repost.lua and lua/restore-account.lua apply a journal entry again whose epoch is over: the Redis
 * key of the entry's API key (of its account where it has none), and the values that follow the stream id.
 */
export function repostArgs(entry: JournalEntry): { key: string; values: (string | number)[] } {
  const { accountId, keyId, credits } = entry;
  // A refund counts for the day of its charge.
  const starts = entry.type === 'refund' ? periodsOfDay(entry.day) : periodStarts(Date.now());
  return {
    key: keyId === null ? accountRedisKey(accountId) : keyRedisKey(accountId, keyId),
    values: [
      keyId === null ? 0 : 1,
      credits,
      starts.day,
      starts.week,
      starts.month,
      draftText(draftOf(entry)),
    ],
  };
}
