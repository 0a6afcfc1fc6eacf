import type { CallLimitsView } from '../../../api/views/call-limits-view.ts';
import { CALL_LIMIT_FIELDS } from '../../../domain/call-limits.ts';
import { count } from './credits.ts';

/** Names of the limits in the API, in the order in which the page shows them. */
export const CALL_LIMITS = Object.values(CALL_LIMIT_FIELDS);
export type CallLimit = (typeof CALL_LIMITS)[number];

/** Words for the things that each limit counts: for one, and for several. */
const COUNTED: Readonly<Record<CallLimit, readonly [one: string, many: string]>> = {
  rpm_limit: ['request a minute', 'requests a minute'],
  tpm_limit: ['token a minute', 'tokens a minute'],
  max_parallel_requests: ['call at once', 'calls at once'],
};

/** The limits that are set, in words such as `60 requests a minute`. */
export function callLimitWords(of: CallLimitsView): string[] {
  return CALL_LIMITS.flatMap((name) => {
    const limit = of[name];
    return limit === null ? [] : [`${count(limit)} ${COUNTED[name][limit === 1 ? 0 : 1]}`];
  });
}
