import type { RefusingLimit } from '../../../domain/errors.ts';
import { PERIOD_WORDS } from '../../../domain/limit-periods.ts';
import type { WireLimit } from '../../../domain/spending-limits.ts';
import { readLimits } from '../../../domain/spending-limits-text.ts';
import { ApiFailure } from '../data/api-failure.ts';
import { credits } from './credits.ts';

/** What to type in a field of spending limits. */
export const LIMITS_HINT =
  'A period and its credits, comma-separated: 5h=2, monthly=100. Periods: 5h (five hours from the first call), daily, ' +
  'weekly, monthly, total. Leave empty for none.';

/** Parses the text of a field of spending limits. Throws an ApiFailure that names the field. */
export function limitsOf(text: string): readonly WireLimit[] {
  const { limits, fault } = readLimits(text);
  if (fault !== undefined) throw new ApiFailure(0, 'invalid_field', fault, 'spending_limits');
  return limits;
}

/** Limits in words: `10.00 monthly, 2.00 five-hour`; `none` without one. */
export function limitsWords(limits: readonly WireLimit[]): string {
  return (
    limits.map((limit) => `${credits(limit.credits)} ${PERIOD_WORDS[limit.period]}`).join(', ') || 'none'
  );
}

const WHOSE = { key: 'the key', member: 'the member', account: 'the account' } as const;

/** Name of a limit: `Daily spending limit of the key`. */
export function limitName({ of, period }: Pick<RefusingLimit, 'of' | 'period'>): string {
  const words = PERIOD_WORDS[period];
  return `${words.charAt(0).toUpperCase()}${words.slice(1)} spending limit of ${WHOSE[of]}`;
}

/** A limit that refused a call, in words. Sums are null for a reader who may not see them. */
export function refusingLimitWords(limit: RefusingLimit): string {
  const { spent, held } = limit;
  const used =
    spent === null || held === null ? '' : `, of which ${credits(spent)} spent and ${credits(held)} held`;
  return `${limitName(limit)}: ${credits(limit.credits)}${used}`;
}
