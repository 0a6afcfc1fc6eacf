import { type Book, TooManyKeys } from '../book/book.ts';
import type { Config } from '../config/config.ts';
import { GatewayError } from '../domain/errors.ts';
import type { KeySettings } from '../domain/key.ts';
import { newKeyValue } from '../domain/key-value.ts';
import { type Ledger, LedgerUnavailable } from '../ledger/ledger.ts';
import { createdKeyView } from './views/key-view.ts';

export interface CreateKeyDeps {
  readonly book: Book;
  readonly ledger: Ledger;
  readonly config: Config;
  readonly now?: () => number;
}

/** Makes a key and answers its created-key response: the only place where its value appears. Throws `too_many_keys`. */
export async function createKey(
  { book, ledger, config, now = Date.now }: CreateKeyDeps,
  accountId: number,
  settings: KeySettings,
) {
  const { value, prefix, hash } = newKeyValue(config.keyPrefix);
  const { maxKeys } = config.accounts;
  const key = await book
    .createKey(accountId, { ...settings, prefix, hash }, now(), maxKeys)
    .catch((error) => {
      if (!(error instanceof TooManyKeys)) throw error;
      throw new GatewayError(
        'too_many_keys',
        `The account has ${maxKeys} keys, inactive ones included, and may not have more. Change one that is not in use.`,
      );
    });
  await onceReachable(ledger.publishKey(key, hash));
  return createdKeyView(key, value);
}

/**
 * Lets a publication of something new fail for want of Redis. Nothing older is in force that it would have to
 * replace, the book has it, and what is unpublished is published when Redis answers again; while a 503 here would
 * lose the only copy of the key value.
 */
export async function onceReachable(publication: Promise<unknown>): Promise<void> {
  try {
    await publication;
  } catch (error) {
    if (!(error instanceof LedgerUnavailable)) throw error;
  }
}
