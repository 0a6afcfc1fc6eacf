import type { KeyListView, KeyView, RotatedKeyView } from '../../../api/keys/key-view.ts';
import { ApiFailure } from './api-failure.ts';
import { ask, certain } from './request.ts';

/** Path of an account's keys: those of the session's account, or of one that the operator views. */
export type KeysPath = '/api/keys/' | `/api/admin/accounts/${number}/keys/`;

/**
 * Gives a key a new value; the previous one is valid for `graceS` seconds more. Rejects with `version_conflict` where
 * the stored key has another version, and with `answer_lost` where it is unknown whether the key was rotated.
 */
export function rotateKey(
  path: KeysPath,
  { id, version }: Pick<KeyView, 'id' | 'version'>,
  graceS: number,
): Promise<RotatedKeyView> {
  const asked = { body: { grace_seconds: graceS }, headers: { 'if-match': `"${version}"` } };
  return certain(
    ask('POST', `${path}${id}/rotate/`, asked),
    'The gateway did not confirm whether the key was rotated. Try again: if it was, you are asked before it is rotated a second time.',
    'service_unavailable',
  );
}

/** Ends the previous value. Rejects with `version_conflict` where the stored key has another version. */
export function endGrace(path: KeysPath, { id, version }: Pick<KeyView, 'id' | 'version'>): Promise<KeyView> {
  return ask('POST', `${path}${id}/rotate/`, {
    body: { end_grace: true },
    headers: { 'if-match': `"${version}"` },
  });
}

/** Reads a key by its id. Rejects with `key_not_found` where there is none. */
export async function readKeyOf(path: KeysPath, id: number): Promise<KeyView> {
  const { keys } = await ask<KeyListView>('GET', path);
  const key = keys.find((candidate) => candidate.id === id);
  if (!key) throw new ApiFailure(404, 'key_not_found', `The account has no key ${id}.`);
  return key;
}
