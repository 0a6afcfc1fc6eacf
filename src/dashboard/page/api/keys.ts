import type { CreatedKeyView, KeyView } from '../../../domain/key-view.ts';
import { ask } from './request.ts';

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

export function changeKey(id: number, body: KeyChange): Promise<KeyView> {
  return ask('PATCH', `/api/keys/${id}/`, { body });
}

export function deactivateKey(id: number): Promise<{ deleted: true }> {
  return ask('DELETE', `/api/keys/${id}/`);
}

export function explainCall(id: number, body: Question): Promise<Explanation> {
  return ask('POST', `/api/keys/${id}/explain/`, { body });
}
