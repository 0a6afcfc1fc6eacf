import type { KeyView } from '../../../api/views/key-view.ts';
import { session } from '../session/session.ts';

/** Whether it is the key of the session, as far as its prefix tells: one in 15 million others has the same. */
export function isOwnKey(key: KeyView): boolean {
  return session.value?.token.startsWith(key.prefix) ?? false;
}
