import type { CallLimitsView } from '../../../api/keys/key-view.ts';
import { CALL_LIMIT_FIELDS } from '../../../domain/call-limits.ts';
import { rowAt, type WireName } from '../../../domain/key-settings.ts';
import { count } from './credits.ts';

/** Names of the limits in the API, in the order in which the page shows them. */
export const CALL_LIMITS = Object.values(CALL_LIMIT_FIELDS);
export type CallLimit = (typeof CALL_LIMITS)[number];

/** The limits that are set, in words such as `60 requests a minute`. */
export function callLimitWords(of: CallLimitsView): string[] {
  return CALL_LIMITS.flatMap((name) => restrictionWords(name, of[name]));
}

/** A restriction of a key in words, such as `2 IPs`; empty if the value is none. */
export function restrictionWords(name: WireName, value: unknown): string[] {
  const row = rowAt(name);
  const isSet = value !== null && value !== '' && !(Array.isArray(value) && value.length === 0);
  if (!row.restricts || !isSet) return [];
  if (typeof row.short === 'string') return [row.short.replace('{}', String(value))];
  const amount = Array.isArray(value) ? value.length : Number(value);
  return [`${count(amount)} ${row.short[amount === 1 ? 0 : 1]}`];
}
