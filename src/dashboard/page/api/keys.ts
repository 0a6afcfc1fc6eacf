import type {
  CreatedKeyView,
  KeyListView,
  KeyPatchBody,
  KeyView,
  NewKeyBody,
  OwnKeyView,
} from '../../../api/keys/key-view.ts';
import { session, setManaging, setNewestPrefix } from '../session/session.ts';
import { ApiFailure } from './api-failure.ts';
import { ask, made } from './request.ts';
import type { KeysPath } from './rotation.ts';

export async function listKeys(signal?: AbortSignal): Promise<readonly KeyView[]> {
  const { keys } = await ask<KeyListView>('GET', '/api/keys/', signal ? { signal } : {});
  const own = keys.find(({ id }) => id === session.value?.keyId);
  if (own) setNewestPrefix(own.prefix);
  return keys;
}

/** Creates a key. Rejects with `answer_lost` where the outcome is unknown. */
export function createKey(body: NewKeyBody): Promise<CreatedKeyView> {
  return made('key', ask('POST', '/api/keys/', { body }));
}

/** Reads a key of the account by its id. Rejects with `key_not_found` where there is none. */
export async function readKey(id: number): Promise<KeyView> {
  const key = (await listKeys()).find((candidate) => candidate.id === id);
  if (!key) throw new ApiFailure(404, 'key_not_found', `Your account has no key ${id}.`);
  return key;
}

/** Changes a key. Rejects with `version_conflict` where the stored key has another version. */
export function changeKey(id: number, body: KeyPatchBody, version: number): Promise<KeyView> {
  return ask('PATCH', `/api/keys/${id}/`, { body, headers: { 'if-match': `"${version}"` } });
}

/** Switches a key off or on. Rejects with `version_conflict` where the stored key has another version. */
export function switchKey(
  path: KeysPath,
  { id, version }: Pick<KeyView, 'id' | 'version'>,
  is_active: boolean,
): Promise<KeyView> {
  return ask('PATCH', `${path}${id}/`, { body: { is_active }, headers: { 'if-match': `"${version}"` } });
}

/** Reads the key whose value `token` is. */
export function readKeyOfToken(token: string): Promise<OwnKeyView> {
  return ask('GET', '/api/key/', { token });
}

/** Reads the session's key. One that has become a managing key since the sign-in gets the pages of an owner. */
export async function readOwnKey(signal: AbortSignal): Promise<OwnKeyView> {
  const key = await ask<OwnKeyView>('GET', '/api/key/', { signal });
  setManaging(key.can_manage);
  setNewestPrefix(key.prefix);
  return key;
}
