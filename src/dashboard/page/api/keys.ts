import type { ExplanationView } from '../../../api/views/explanation-view.ts';
import type { CreatedKeyView, KeyListView, KeyView, OwnKeyView } from '../../../api/views/key-view.ts';
import { setManaging } from '../session/session.ts';
import { ApiFailure, ask, made } from './request.ts';

/** The body of create and PATCH; a field that is absent is not changed. */
export type KeyChange = {
  -readonly [Field in Exclude<
    keyof KeyView,
    'id' | 'prefix' | 'spending_current' | 'created_at' | 'version'
  >]?: KeyView[Field];
};

export interface Question {
  model: string;
  endpoint?: string;
  ip?: string;
  origin?: string;
  country?: string;
  at?: string;
}

export async function listKeys(signal?: AbortSignal): Promise<readonly KeyView[]> {
  const { keys } = await ask<KeyListView>('GET', '/api/keys/', signal ? { signal } : {});
  return keys;
}

export function createKey(body: KeyChange): Promise<CreatedKeyView> {
  return made('key', ask('POST', '/api/keys/', { body }));
}

/** A key of the account by its number. Rejects with `key_not_found` where there is none. */
export async function readKey(id: number): Promise<KeyView> {
  const key = (await listKeys()).find((candidate) => candidate.id === id);
  if (!key) throw new ApiFailure(404, 'key_not_found', `No key of your account has the number ${id}.`);
  return key;
}

/** Changes a key. `version`: the one that the change is built on; another in force is refused as `version_conflict`. */
export function changeKey(id: number, body: KeyChange, version?: number): Promise<KeyView> {
  const headers = version === undefined ? {} : { 'if-match': `"${version}"` };
  return ask('PATCH', `/api/keys/${id}/`, { body, headers });
}

export function explainCall(id: number, body: Question): Promise<ExplanationView> {
  return ask('POST', `/api/keys/${id}/explain/`, { body });
}

/** The key of the session. One that has become a managing key since it signed in gets the pages for that. */
export async function readOwnKey(signal: AbortSignal): Promise<OwnKeyView> {
  const key = await ask<OwnKeyView>('GET', '/api/key/', { signal });
  setManaging(key.can_manage);
  return key;
}
