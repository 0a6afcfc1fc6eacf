import type { KeyView } from '../../../api/views/key-view.ts';

/** How a key is called that an entry or delivery names by its id; null: there was none. */
export function keyName(id: number | null, keys: readonly KeyView[]): string {
  if (id === null) return '–';
  return keys.find((key) => key.id === id)?.name ?? `Key ${id}`;
}
