import type { JournalEntry } from '../../domain/ledger-entry.ts';
import { periodStarts, periodsOfDay } from '../../domain/period.ts';
import { draftOf, draftText } from '../journal/entry-text.ts';
import { accountRedisKey, keyRedisKey } from '../redis/redis-keys.ts';

/**
 * A journal entry of an epoch that is over, as lua/repost.lua and lua/restore-account.lua take it to apply it again: the
 * name of its key (of its account where it has none), and what follows the stream id.
 */
export function repostArgs(entry: JournalEntry): { key: string; values: (string | number)[] } {
  const { accountId, keyId, credits } = entry;
  // What is given back counts for the day of its charge.
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
