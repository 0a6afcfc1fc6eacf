import type { MarginGroup } from '../book/book.ts';

/** Words of `group_by` of an account's usage report, each with the field that names the group in a row. */
export const USAGE_FIELDS = { day: 'day', key: 'key_id', model: 'model' } as const;
export type UsageGroup = keyof typeof USAGE_FIELDS;
export const USAGE_GROUPS = Object.keys(USAGE_FIELDS) as readonly UsageGroup[];
export const DEFAULT_USAGE_GROUP: UsageGroup = 'day';

/** Words of `group_by` of the operator's report, each with the field that names the group in a row. */
export const MARGIN_FIELDS = {
  account: 'account_id',
  key: 'key_id',
  model: 'model',
  upstream: 'upstream',
  day: 'day',
} as const satisfies Record<MarginGroup, string>;
export const MARGIN_GROUPS = Object.keys(MARGIN_FIELDS) as readonly MarginGroup[];
export const DEFAULT_MARGIN_GROUP: MarginGroup = 'account';
