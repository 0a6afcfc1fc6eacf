import type { KeyRecord } from './key.ts';

/** What becomes of calls with a key, in words that hold for its next call. */
export const KEY_STATUSES = ['active', 'limit_reached', 'expired', 'inactive', 'all_refused'] as const;
export type KeyStatus = (typeof KEY_STATUSES)[number];

interface Facts {
  /** Whether a spending limit that binds the key is spent. */
  readonly isLimitReached: boolean;
  /** Whether the last calls with the key were all refused. */
  readonly isAllRefused: boolean;
}

/** Status of a key at `now`, in milliseconds since the epoch; the reason that refuses first counts. */
export function keyStatus(
  { isActive, expiresAt }: Pick<KeyRecord, 'isActive' | 'expiresAt'>,
  { isLimitReached, isAllRefused }: Facts,
  now: number,
): KeyStatus {
  if (!isActive) return 'inactive';
  if (expiresAt !== null && now >= expiresAt) return 'expired';
  if (isLimitReached) return 'limit_reached';
  return isAllRefused ? 'all_refused' : 'active';
}
