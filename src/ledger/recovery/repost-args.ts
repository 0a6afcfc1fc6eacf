import type { JournalEntry } from '../../domain/ledger-entry.ts';
import { draftOf, draftText, startsAnew } from '../journal/entry-text.ts';
import { accountRedisKey, keyRedisKey } from '../redis/redis-keys.ts';

/**
 * Arguments with which lua/restore-account.lua applies a journal entry again whose epoch is over: the Redis key of the entry's
 * API key (of its account where it has none), and the values that follow the stream id.
 */
export function repostArgs(entry: JournalEntry): { key: string; values: (string | number)[] } {
  const { accountId, keyId, credits } = entry;
  const starts = startsAnew(entry);
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
