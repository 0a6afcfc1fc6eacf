import type { KeyRecord } from '../../src/domain/key.ts';
import { DEFAULT_SETTINGS } from '../../src/domain/key-settings.ts';

/** An unrestricted key with a test's changes. */
export function keyRecord(change: Partial<KeyRecord> = {}): KeyRecord {
  return {
    id: 7,
    accountId: 3,
    name: 'Build server',
    ...DEFAULT_SETTINGS,
    prefix: 'sk-tg-AbCd',
    hash: 'ab'.repeat(32),
    previousHash: null,
    previousValidUntil: null,
    canManage: true,
    personId: null,
    memberSpendingLimits: [],
    createdAt: Date.UTC(2026, 10, 18, 12, 34, 56, 789),
    version: 1,
    ...change,
  };
}
