import type { CallLimitsView } from '../../../api/keys/key-view.ts';
import { CALL_LIMIT_FIELDS } from '../../../domain/call-limits.ts';
import { restrictionWords } from './words.ts';

/** Names of the limits in the API, in the order in which the page shows them. */
export const CALL_LIMITS = Object.values(CALL_LIMIT_FIELDS);
export type CallLimit = (typeof CALL_LIMITS)[number];

/** The limits that are set, in words such as `60 requests a minute`. */
export function callLimitWords(of: CallLimitsView): string[] {
  return CALL_LIMITS.flatMap((name) => restrictionWords(name, of[name]));
}
