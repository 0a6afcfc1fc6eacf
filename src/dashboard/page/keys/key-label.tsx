import type { KeyView } from '../../../api/keys/key-view.ts';
import { session } from '../session/session.ts';
import { Badge } from '../ui/elements.tsx';
import { isExpired } from './key-order.ts';

/** Name of the key with an id; a dash for null, which is the id where no key was involved. */
export function keyName(id: number | null, keys: readonly KeyView[]): string {
  if (id === null) return '–';
  return keys.find((key) => key.id === id)?.name ?? `Key ${id}`;
}

/** True if a key is that of the session, whichever of its values that was begun with. */
export function isOwnKey(key: KeyView): boolean {
  return session.value?.keyId === key.id;
}

/** Name of the key with an id as a link to its page; plain text for the operator, who has no page of one key. */
export function KeyLink({ id, keys }: { id: number | null; keys: readonly KeyView[] }) {
  const name = keyName(id, keys);
  if (id === null || session.value?.role === 'operator') return name;
  return <a href={`#/keys/${id}`}>{name}</a>;
}

/** A badge that says whether the key can be used. */
export function KeyStatus({ of }: { of: KeyView }) {
  if (!of.is_active) return <Badge kind="bad">Inactive</Badge>;
  if (isExpired(of)) return <Badge kind="warning">Expired</Badge>;
  return <Badge kind="good">Active</Badge>;
}
