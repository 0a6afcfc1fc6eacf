import type { FullLimit } from '../../domain/call-limits.ts';
import { GatewayError } from '../../domain/errors.ts';

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

/** Sentence that names a limit and says that it has no room. */
export function sentence({ owner, name, limit }: FullLimit): string {
  const whose = `This ${owner}'s ${name} of ${limit}`;
  if (name === 'rpm_limit') return `${whose} ${limit === 1 ? 'request' : 'requests'} a minute is used up`;
  if (name === 'tpm_limit') {
    return `${whose} ${limit === 1 ? 'token' : 'tokens'} a minute has no room for this call now`;
  }
  return `${whose} ${limit === 1 ? 'call' : 'calls'} in flight is reached`;
}
