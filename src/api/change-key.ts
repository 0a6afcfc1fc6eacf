import type { KeyRecord, KeySettings } from '../domain/key.ts';
import type { CreateKeyDeps } from './create-key.ts';
import { keyNotFound } from './key-path.ts';

/**
 * Book first, then Redis, then the answer: so what was answered is what the next request is judged by. Throws
 * `key_not_found`, and LedgerUnavailable where the change is in the book but not published yet; sending the
 * request again is harmless.
 */
export async function changeKey(
  { book, ledger, now = Date.now }: Pick<CreateKeyDeps, 'book' | 'ledger' | 'now'>,
  accountId: number,
  keyId: number,
  change: Partial<KeySettings>,
): Promise<KeyRecord> {
  const key = await book.updateKey(accountId, keyId, change, now());
  if (key === undefined) throw keyNotFound();
  await ledger.publishKey(key);
  return key;
}
