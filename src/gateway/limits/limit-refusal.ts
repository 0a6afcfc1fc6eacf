import type { FullLimit } from '../../domain/call-limits.ts';
import { GatewayError } from '../../domain/errors.ts';

/** When to try again where that is not known: a call in flight may end at any time. */
const HINT_MS = 1_000;

/** The wait of a full limit in milliseconds, as it is told to clients. */
function waitOf({ waitMs = HINT_MS }: FullLimit): number {
  return waitMs;
}

/** The limit that a refusal names: of those without room, the one that has to be waited for longest. */
export function longestWait(full: readonly FullLimit[]): FullLimit | undefined {
  return full.reduce<FullLimit | undefined>(
    (longest, each) => (longest && waitOf(longest) >= waitOf(each) ? longest : each),
    undefined,
  );
}

/** The 429 of specification section 11; `full`: the limits without room, each with its wait. */
export function limitRefusal(full: readonly FullLimit[]): GatewayError {
  const limit = longestWait(full);
  const retryAfterMs = Math.max(1, limit ? waitOf(limit) : HINT_MS);
  const seconds = Math.ceil(retryAfterMs / 1_000);
  const message = limit ? sentence(limit) : 'Other calls wait for room in the limits of this key or account';
  const advice = limit && limit.waitMs === undefined ? 'when one has ended' : `in ${seconds} s`;
  return new GatewayError('rate_limit_exceeded', `${message}; try again ${advice}.`, null, undefined, {
    retryAfterMs,
  });
}

/** What a limit is and that it has no room, in words. */
export function sentence({ owner, name, limit }: FullLimit): string {
  const whose = `This ${owner}'s ${name} of ${limit}`;
  if (name === 'rpm_limit') return `${whose} ${limit === 1 ? 'request' : 'requests'} a minute is used up`;
  if (name === 'tpm_limit') {
    return `${whose} ${limit === 1 ? 'token' : 'tokens'} a minute has no room for this call now`;
  }
  return `${whose} ${limit === 1 ? 'call' : 'calls'} in flight is reached`;
}
