import type { KeyView } from '../../../api/views/key-view.ts';
import { session } from '../session/session.ts';
import { Badge } from '../ui/elements.tsx';

/** How a key is called that an entry or delivery names by its id; null: there was none. */
export function keyName(id: number | null, keys: readonly KeyView[]): string {
  if (id === null) return '–';
  return keys.find((key) => key.id === id)?.name ?? `Key ${id}`;
}

/** Whether it is the key of the session, as far as its prefix tells: one in 15 million others has the same. */
export function isOwnKey(key: KeyView): boolean {
  return session.value?.token.startsWith(key.prefix) ?? false;
}

/** The name of a key that something names by its id, and the way to its page; an operator has none of one key. */
export function KeyLink({ id, keys }: { id: number | null; keys: readonly KeyView[] }) {
  const name = keyName(id, keys);
  if (id === null || session.value?.role === 'operator') return name;
  return <a href={`#/keys/${id}`}>{name}</a>;
}

export function isExpired(key: KeyView): boolean {
  return key.expires_at !== null && Date.parse(key.expires_at) <= Date.now();
}

/** Whether the key can be used, in a word. */
export function KeyStatus({ of }: { of: KeyView }) {
  if (!of.is_active) return <Badge kind="bad">Inactive</Badge>;
  if (isExpired(of)) return <Badge kind="warning">Expired</Badge>;
  return <Badge kind="good">Active</Badge>;
}
