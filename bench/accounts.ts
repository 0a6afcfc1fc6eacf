import { newWebhookSecret } from '../src/alerts/send.ts';
import { openBook } from '../src/book/open-book.ts';
import { micro } from '../src/domain/credits.ts';
import type { KeySettings } from '../src/domain/key.ts';
import { DEFAULT_SETTINGS } from '../src/domain/key-settings.ts';
import { newKeyValue } from '../src/domain/key-value.ts';
import { ADMIN_TOKEN, api, type Place } from './gateway.ts';
import type { Server } from './program.ts';
import { CALLER_ORIGIN, MODEL, TARGETS_MODEL } from './wire.ts';

const DAY_MS = 86_400_000;
/** Enough for any run. */
export const CREDITS = 1_000_000;
/** Reached after a few calls: every account crosses it once in a run, so the checks have alerts to count. */
export const THRESHOLD = 999_999;

export interface Account {
  readonly id: number;
  /** Key values, at least one. */
  readonly keys: readonly string[];
}

const OPEN: KeySettings = {
  name: 'bench',
  ...DEFAULT_SETTINGS,
  canManage: true,
};

/** Every restriction that a key can have. The calls of the load pass them all. */
export const RESTRICTED: KeySettings = {
  ...OPEN,
  expiresAt: Date.now() + 30 * DAY_MS,
  allowedModels: ['gpt-4o', 'gpt-4o-mini', MODEL, TARGETS_MODEL],
  allowedCategories: ['text', 'image'],
  spendingLimit: micro(CREDITS * 1_000_000),
  activeHours: '00:00-24:00',
  allowedIps: ['192.0.2.0/24', '2001:db8::/32', '8.8.8.0/24'],
  allowedOrigins: ['https://*.example.org', CALLER_ORIGIN],
  blockedCountries: ['AQ', 'KP'],
};

/**
 * Makes accounts without credits directly in the book, before a gateway opens it. Making ten thousand keys through the
 * API would take longer than the load.
 */
export async function makeAccounts(
  place: Place,
  { accounts, keysEach, restricted }: { accounts: number; keysEach: number; restricted: boolean },
): Promise<Account[]> {
  const book = await openBook({ databaseUrl: place.databaseUrl, dataDir: place.dataDir });
  const settings = restricted ? RESTRICTED : OPEN;
  const made: Account[] = [];
  for (let index = 0; index < accounts; index++) {
    const values = Array.from({ length: keysEach }, () => newKeyValue('sk-tg-'));
    const keys = values.map(({ hash, prefix }) => ({ ...settings, hash, prefix }));
    const [first, ...others] = keys;
    if (!first) throw new RangeError('an account has at least one key');
    const { account } = await book.createAccount(
      {
        email: `owner-${index}@example.com`,
        alertThreshold: micro(THRESHOLD * 1_000_000),
        webhookSecret: newWebhookSecret(),
      },
      first,
      null,
      Date.now(),
    );
    for (const key of others) await book.createKey(account.id, key, Date.now());
    made.push({ id: account.id, keys: values.map(({ value }) => value) });
  }
  await book.close();
  return made;
}

/** Changes the balance by this many credits. Returns the new balance in credits. */
export async function changeCredits(gateway: Server, accountId: number, amount: number): Promise<number> {
  const path = `/api/admin/accounts/${accountId}/credits/`;
  const body = { amount, note: 'bench' };
  return (await api<{ credits_balance: number }>(gateway, 'POST', path, ADMIN_TOKEN, body)).credits_balance;
}
