import {
  type FullLimit,
  fullLimits,
  LIMIT_NAMES,
  type LimitName,
  type LimitOwner,
  type LimitState,
  type LimitStates,
  remaining,
} from '../domain/call-limits.ts';
import type { Refusal } from '../domain/rules.ts';
import { longestWait, sentence } from '../gateway/limits/limit-refusal.ts';

/** The check of one limit of calls, of the key and of its account. */
export interface LimitVerdict {
  readonly check: LimitName;
  readonly refusal: Refusal | undefined;
  /** State of each limit at this moment. */
  readonly fact: string;
}

const UNITS: Readonly<Record<LimitName, string>> = {
  max_parallel_requests: 'calls in flight',
  rpm_limit: 'requests a minute',
  tpm_limit: 'tokens a minute',
};

/** The checks of limits of calls (specification section 11) for one more call of `tokens`, in the order in which they count. */
export function limitVerdicts(states: LimitStates, tokens: number): LimitVerdict[] {
  const full = fullLimits(states, tokens);
  return LIMIT_NAMES.map((check) => {
    const facts = (['key', 'account'] as const).flatMap((owner) => factOf(check, owner, states[owner]));
    const fact = facts.length === 0 ? 'No limit.' : facts.join(' ');
    const refusing = longestWait(full.filter(({ name }) => name === check));
    return { check, refusal: refusing && refusalOf(refusing, fact), fact };
  });
}

function refusalOf(limit: FullLimit, fact: string): Refusal {
  return { code: 'rate_limit_exceeded', message: `${sentence(limit)}. ${fact}` };
}

function factOf(name: LimitName, owner: LimitOwner, state: LimitState): string[] {
  const [limit, left] = leftOf(name, state) ?? [];
  if (limit === undefined) return [];
  return [`The ${owner}'s limit is ${limit} ${UNITS[name]}, of which ${left} are left.`];
}

function leftOf(name: LimitName, state: LimitState): [limit: number, left: number] | undefined {
  const { parallel, requests, tokens } = state;
  if (name === 'max_parallel_requests') {
    return parallel && [parallel.limit, Math.max(0, parallel.limit - parallel.open)];
  }
  const bucket = name === 'rpm_limit' ? requests : tokens;
  return bucket && [bucket.limit, remaining(bucket)];
}
