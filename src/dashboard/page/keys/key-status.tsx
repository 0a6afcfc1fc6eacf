import type { KeyView } from '../../../api/views/key-view.ts';
import { Badge } from '../ui/badge.tsx';

export function isExpired(key: KeyView): boolean {
  return key.expires_at !== null && Date.parse(key.expires_at) <= Date.now();
}

/** Whether the key can be used, in a word. */
export function KeyStatus({ of }: { of: KeyView }) {
  if (!of.is_active) return <Badge kind="bad">Inactive</Badge>;
  if (isExpired(of)) return <Badge kind="warning">Expired</Badge>;
  return <Badge kind="good">Active</Badge>;
}
