import { VersionConflict } from '../book/book.ts';
import { GatewayError } from '../domain/errors.ts';
import type { KeyRecord, KeySettings } from '../domain/key.ts';
import type { CreateKeyDeps } from './create-key.ts';
import { keyNotFound } from './key-path.ts';

export interface KeyChange {
  readonly accountId: number;
  readonly keyId: number;
  readonly settings: Partial<KeySettings>;
  /** Of the record that the change was built on; undefined: any. */
  readonly ifVersion: number | undefined;
}

/**
 * Book first, then Redis, then the answer: so what was answered is what the next request is judged by. Throws
 * `key_not_found`, `version_conflict`, and LedgerUnavailable where the change is in the book but not published yet;
 * sending the request again is harmless.
 */
export async function changeKey(
  { book, ledger, now = Date.now }: Pick<CreateKeyDeps, 'book' | 'ledger' | 'now'>,
  { accountId, keyId, settings, ifVersion }: KeyChange,
): Promise<KeyRecord> {
  const key = await book.updateKey(accountId, keyId, settings, now(), ifVersion).catch(refuseConflict);
  if (key === undefined) throw keyNotFound();
  await ledger.publishKey(key);
  return key;
}

function refuseConflict(error: unknown): never {
  if (!(error instanceof VersionConflict)) throw error;
  throw new GatewayError(
    'version_conflict',
    `The key has been changed meanwhile: it is at version ${error.current}. Read it again, and send the change with that ` +
      'version.',
    'If-Match',
  );
}
