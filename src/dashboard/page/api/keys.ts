import type { CreatedKeyView, KeyView } from '../../../domain/key-view.ts';
import { ApiFailure, ask } from './request.ts';

/** What create and PATCH take; a field that is absent is not changed. */
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

export interface Explanation {
  readonly allowed: boolean;
  readonly code: string | null;
  readonly checks: readonly { readonly check: string; readonly passed: boolean; readonly detail: string }[];
}

export async function listKeys(signal?: AbortSignal): Promise<readonly KeyView[]> {
  const { keys } = await ask<{ keys: KeyView[] }>('GET', '/api/keys/', signal ? { signal } : {});
  return keys;
}

export function createKey(body: KeyChange): Promise<CreatedKeyView> {
  return ask('POST', '/api/keys/', { body });
}

/** Rejects with `key_not_found` where the account has none of that number. */
export async function readKey(id: number): Promise<KeyView> {
  const key = (await listKeys()).find((candidate) => candidate.id === id);
  if (!key) throw new ApiFailure(404, 'key_not_found', `No key of your account has the number ${id}.`);
  return key;
}

/** `version`: of the key that the change is made to; refused as `version_conflict` where another is in force. */
export function changeKey(id: number, body: KeyChange, version?: number): Promise<KeyView> {
  const headers = version === undefined ? {} : { 'if-match': `"${version}"` };
  return ask('PATCH', `/api/keys/${id}/`, { body, headers });
}

export function explainCall(id: number, body: Question): Promise<Explanation> {
  return ask('POST', `/api/keys/${id}/explain/`, { body });
}
