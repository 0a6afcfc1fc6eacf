import { micro } from '../domain/credits.ts';
import type { AccountRecord } from '../domain/key.ts';
import { callLimits } from './key-row.ts';
import type { AccountRow } from './schema.ts';

/** The record of an account as its row has it. */
export function accountRecord(row: AccountRow): AccountRecord {
  return {
    id: row.id,
    email: row.email,
    isActive: row.is_active === 1,
    alertThreshold: micro(row.alert_threshold),
    overdraft: micro(row.overdraft),
    ...callLimits(row),
    webhookSecret: row.webhook_secret,
    createdAt: row.created_at,
    version: row.version,
  };
}

/** The form of an e-mail address that is unique: two addresses with one form belong to one account. */
export function emailKey(email: string): string {
  return email.normalize('NFC').toLowerCase();
}
