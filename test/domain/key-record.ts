import type { KeyRecord } from '../../src/domain/key.ts';

/** An unrestricted key, and what a test wants otherwise. */
export function keyRecord(change: Partial<KeyRecord> = {}): KeyRecord {
  return {
    id: 7,
    accountId: 3,
    name: 'Build server',
    description: '',
    prefix: 'sk-tg-AbCd',
    isActive: true,
    canManage: true,
    expiresAt: null,
    allowedModels: [],
    allowedCategories: [],
    spendingLimit: null,
    spendingPeriod: 'monthly',
    activeHours: '',
    allowedIps: [],
    allowedOrigins: [],
    blockedCountries: [],
    webhookUrl: '',
    createdAt: Date.UTC(2026, 10, 18, 12, 34, 56, 789),
    version: 1,
    ...change,
  };
}
