import type { KeyView } from '../../../api/views/key-view.ts';
import { callLimitWords } from '../format/call-limits.ts';

/** Restrictions of a key in words; empty where it has none. */
export function restrictionsOf(key: KeyView): string[] {
  const said: (readonly [boolean, string])[] = [
    [key.allowed_categories.length > 0, 'modalities'],
    [key.allowed_models.length > 0, counted(key.allowed_models, 'model')],
    [key.spending_limit !== null, 'spending limit'],
    ...callLimitWords(key).map((words) => [true, words] as const),
    [key.active_hours !== '', `${key.active_hours} UTC`],
    [key.allowed_ips.length > 0, counted(key.allowed_ips, 'address', 'addresses')],
    [key.allowed_origins.length > 0, counted(key.allowed_origins, 'origin')],
    [
      key.blocked_countries.length > 0,
      counted(key.blocked_countries, 'blocked country', 'blocked countries'),
    ],
    [key.expires_at !== null, 'expiry'],
  ];
  return said.flatMap(([holds, words]) => (holds ? [words] : []));
}

function counted(items: readonly string[], one: string, many = `${one}s`): string {
  return `${items.length} ${items.length === 1 ? one : many}`;
}
