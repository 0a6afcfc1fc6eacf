import type { KeyView } from '../../../api/views/key-view.ts';
import { session } from '../session/session.ts';
import { keyName } from './key-name.ts';

/** The name of a key that something names by its id, and the way to its page; an operator has none of one key. */
export function KeyLink({ id, keys }: { id: number | null; keys: readonly KeyView[] }) {
  const name = keyName(id, keys);
  if (id === null || session.value?.role === 'operator') return name;
  return <a href={`#/keys/${id}`}>{name}</a>;
}
