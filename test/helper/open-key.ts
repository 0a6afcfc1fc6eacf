import type { KeySettings } from '../../src/domain/key.ts';

/** Settings of a key without any restriction. */
export const OPEN_KEY: KeySettings = {
  name: 'test',
  description: '',
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
};
