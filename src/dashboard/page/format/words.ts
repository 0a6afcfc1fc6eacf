import type { SpendingPeriod } from '../../../domain/key.ts';
import { rowAt, type WireName } from '../../../domain/key-settings.ts';
import type { Role } from '../../../domain/roles.ts';

import { count } from './credits.ts';

/** Display names of the modalities. */
export const CATEGORY_NAMES: Readonly<Record<string, string>> = {
  text: 'Text',
  image: 'Images',
  tts: 'Speech (tts)',
  stt: 'Transcription (stt)',
  video: 'Video',
};

/** Display names of the roles of members. */
export const ROLE_NAMES: Readonly<Record<Role, string>> = {
  owner: 'Owner',
  admin: 'Admin',
  billing: 'Billing',
  member: 'Member',
  viewer: 'Viewer',
};

/** Names of the spending periods as they follow "spent" or "credits". */
const THIS_PERIOD: Readonly<Record<SpendingPeriod, string>> = {
  daily: 'today',
  weekly: 'this week',
  monthly: 'this month',
};

export const PERIOD_NAMES: Readonly<Record<SpendingPeriod, string>> = {
  daily: 'day (from 00:00 UTC)',
  weekly: 'week (from Monday, 00:00 UTC)',
  monthly: 'month (from day 1, 00:00 UTC)',
};

/** Name of a period; a general one for a period of a newer gateway that this page does not know. */
export function thisPeriod(period: string): string {
  return THIS_PERIOD[period as SpendingPeriod] ?? 'in this period';
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
