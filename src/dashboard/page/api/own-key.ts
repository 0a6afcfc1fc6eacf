import type { KeyView } from '../../../domain/key-view.ts';
import { setManaging } from '../session/session.ts';
import { ask } from './request.ts';

/** What a key is told of itself. */
export interface OwnKeyView extends KeyView {
  /** Six decimals; null: it has no limit. */
  readonly limit_remaining: string | null;
  readonly period_ends_at: string;
}

/** The key of the session. One that may manage by now gets the pages for that. */
export async function readOwnKey(signal: AbortSignal): Promise<OwnKeyView> {
  const key = await ask<OwnKeyView>('GET', '/api/key/', { signal });
  setManaging(key.can_manage);
  return key;
}
