import { newWebhookSecret } from '../../../src/alerts/send.ts';
import type { Book } from '../../../src/book/book.ts';
import type { NewKey } from '../../../src/book/keys.ts';
import { micro } from '../../../src/domain/credits.ts';
import type { AccountRecord, KeyRecord, KeySettings } from '../../../src/domain/key.ts';
import { DEFAULT_SETTINGS } from '../../../src/domain/key-settings.ts';
import { newKeyValue } from '../../../src/domain/key-value.ts';
import type { SpendingLimit } from '../../../src/domain/spending-limits.ts';
import type { Ledger } from '../../../src/ledger/ledger.ts';

/** Options of a new account, with amounts in credits. */
export interface AccountOptions {
  /** Balance; default 100. */
  readonly credits?: number;
  /** Alert threshold; default 0. */
  readonly threshold?: number;
  /** Default 0. */
  readonly overdraft?: number;
  readonly key?: Partial<Omit<NewKey, 'hash' | 'prefix'>>;
  /** The account's; default: none. */
  readonly spendingLimits?: readonly SpendingLimit[];
  /** Default: an address that no other account has. */
  readonly email?: string;
}

let emails = 0;

/** Creates an account with one key, in the book and in Redis. */
export async function accountOn(
  book: Book,
  ledger: Ledger,
  options: AccountOptions = {},
): Promise<{ account: AccountRecord; key: KeyRecord; hash: string; value: string }> {
  const { credits = 100, threshold = 0, overdraft = 0, key: settings = {} } = options;
  const { value, hash, prefix } = newKeyValue('sk-tg-');
  const amount = micro(Math.round(credits * 1e6));
  const grant = { id: `grant_${hash}`, amount, note: '' };
  const { account, key } = await book.createAccount(
    {
      email: options.email ?? `owner${emails++}-${process.pid}@example.com`,
      alertThreshold: micro(Math.round(threshold * 1e6)),
      overdraft: micro(Math.round(overdraft * 1e6)),
      spendingLimits: options.spendingLimits ?? [],
      webhookSecret: newWebhookSecret(),
    },
    { ...OPEN_KEY, ...settings, hash, prefix },
    amount > 0 ? grant : null,
    Date.now(),
  );
  await ledger.publishKey(key, hash);
  if (amount > 0)
    await ledger.grant({ ...grant, accountId: account.id, type: 'top_up', createdAt: Date.now() });
  return { account, key, hash, value };
}

/** Settings of an unrestricted key. */
export const OPEN_KEY: KeySettings = {
  name: 'test',
  ...DEFAULT_SETTINGS,
  canManage: true,
};
