import type { SpendingPeriod } from '../../../domain/key.ts';
import type { KeyStatus } from '../../../domain/key-status.ts';

/** Display names of the modalities. */
export const CATEGORY_NAMES: Readonly<Record<string, string>> = {
  text: 'Text',
  image: 'Images',
  tts: 'Speech (tts)',
  stt: 'Transcription (stt)',
  video: 'Video',
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

/** The status of a key in words, and how it looks. */
export const STATUSES: Readonly<
  Record<KeyStatus, readonly [words: string, kind: 'good' | 'bad' | 'warning' | 'plain']>
> = {
  active: ['Active', 'good'],
  limit_reached: ['Limit reached', 'bad'],
  all_refused: ['All refused', 'bad'],
  expired: ['Expired', 'warning'],
  inactive: ['Inactive', 'plain'],
};
