import { creditsNumber, type Micro } from './credits.ts';
import { KEY_FIELDS } from './key-fields.ts';
import type { Kind } from './key-readers.ts';
import { KEY_FIELD_NAMES, type KeySettings, type WireSettings } from './key-settings.ts';
import { timestamp } from './period.ts';
import { type SpendingLimit, wireLimits } from './spending-limits.ts';

/** The value of a field of a key, as the API shows it. */
export function wireValue(kind: Kind, value: unknown): unknown {
  if (value === null) return null;
  if (kind === 'time') return timestamp(value as number);
  if (kind === 'limits') return wireLimits(value as readonly SpendingLimit[]);
  return kind === 'credits' ? creditsNumber(value as Micro) : value;
}

/** The settings of a key under their API names. */
export function wireSettings(settings: KeySettings): WireSettings {
  const shown = KEY_FIELD_NAMES.map((field) => [
    KEY_FIELDS[field].wire,
    wireValue(KEY_FIELDS[field].type.kind, settings[field]),
  ]);
  return Object.fromEntries(shown) as WireSettings;
}
