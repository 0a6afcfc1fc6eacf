import {
  CALL_LIMIT_FIELDS,
  type CallLimits,
  type FullLimit,
  type LimitName,
} from '../../domain/call-limits.ts';
import { GatewayError } from '../../domain/errors.ts';
import type { KeyAndAccountLimits } from '../../domain/rules.ts';

const FIELDS = Object.entries(CALL_LIMIT_FIELDS) as readonly (readonly [keyof CallLimits, LimitName])[];

/** Milliseconds after which to try again where the wait is not known: a call in flight may end at any time. */
const HINT_MS = 1_000;

/** Milliseconds to wait for a full limit, as clients are told. */
function waitOf({ waitMs = HINT_MS }: FullLimit): number {
  return waitMs;
}

/** The limit that a refusal names: the one with the longest wait. Undefined where `full` is empty. */
export function longestWait(full: readonly FullLimit[]): FullLimit | undefined {
  return full.reduce<FullLimit | undefined>(
    (longest, each) => (longest && waitOf(longest) >= waitOf(each) ? longest : each),
    undefined,
  );
}

/** All limits that there are, each to be tried again after the hint. */
export function allLimits(limits: KeyAndAccountLimits): FullLimit[] {
  return (['key', 'account'] as const).flatMap((owner) =>
    FIELDS.flatMap(([field, name]) => {
      const limit = limits[owner][field];
      return limit === null ? [] : [{ owner, name, limit, waitMs: HINT_MS }];
    }),
  );
}

/** The 429 of specification section 11 by a limit without room. */
export function limitRefusal(limit: FullLimit): GatewayError {
  const retryAfterMs = Math.max(1, waitOf(limit));
  const advice =
    limit.waitMs === undefined ? 'when one of them ends' : `in ${Math.ceil(retryAfterMs / 1_000)} s`;
  const message = `${sentence(limit)}; try again ${advice}.`;
  return new GatewayError('rate_limit_exceeded', message, null, undefined, { retryAfterMs });
}

/** Sentence that names a limit and says that it has no room. */
export function sentence({ owner, name, limit }: FullLimit): string {
  const whose = `This ${owner}'s ${name} of ${limit}`;
  if (name === 'rpm_limit')
    return `${whose} ${limit === 1 ? 'request' : 'requests'} a minute has been reached`;
  if (name === 'tpm_limit') {
    return `${whose} ${limit === 1 ? 'token' : 'tokens'} a minute leaves too few for this call`;
  }
  return `${whose} ${limit === 1 ? 'call' : 'calls'} in flight has been reached`;
}
