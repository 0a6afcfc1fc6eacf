import type { FastifyReply } from 'fastify';
import {
  type Bucket,
  type FullLimit,
  type LimitStates,
  msUntilFull,
  REFILL_MS,
  remaining,
} from '../domain/call-limits.ts';
import type { WireFormat } from '../domain/catalog.ts';
import { GatewayError } from '../domain/errors.ts';

const MS_PER_S = 1_000;
const S_PER_MINUTE = 60;
const MINUTES_PER_HOUR = 60;

const UNITS = ['requests', 'tokens'] as const;
type Unit = (typeof UNITS)[number];

/** Header names per unit, as OpenAI and Anthropic document them (API references, "Rate limits"). */
const NAMES: Readonly<
  Record<WireFormat, (unit: Unit) => readonly [limit: string, remaining: string, reset: string]>
> = {
  openai: (unit) => [
    `x-ratelimit-limit-${unit}`,
    `x-ratelimit-remaining-${unit}`,
    `x-ratelimit-reset-${unit}`,
  ],
  anthropic: (unit) => [
    `anthropic-ratelimit-${unit}-limit`,
    `anthropic-ratelimit-${unit}-remaining`,
    `anthropic-ratelimit-${unit}-reset`,
  ],
};

/** Names of a unit's headers: limit, remaining, and reset time. */
export function limitHeaderNames(
  format: WireFormat,
  unit: Unit,
): readonly [limit: string, remaining: string, reset: string] {
  return NAMES[format](unit);
}

/** All rate limit headers; pages of other origins may read them (CORS). */
export const LIMIT_HEADERS: readonly string[] = UNITS.flatMap((unit) => [
  ...NAMES.openai(unit),
  ...NAMES.anthropic(unit),
]);

/**
 * Sets the headers of specification section 11: for requests and tokens the limit, the remainder and the reset time,
 * named after `format`. If key and account both have a limit, shows the one with less left.
 */
export function setLimitHeaders(reply: FastifyReply, format: WireFormat, states: LimitStates): void {
  for (const unit of UNITS) {
    const bucket = tighter(states.key[unit], states.account[unit]);
    if (!bucket) continue;
    const [limit, left, reset] = NAMES[format](unit);
    const fullInMs = msUntilFull(bucket);
    reply
      .header(limit, bucket.limit)
      .header(left, remaining(bucket))
      .header(reset, format === 'anthropic' ? momentIn(fullInMs) : duration(fullInMs));
  }
}

/** Whether a refusal shows limits. Strangers learn nothing, and if the gateway fails, Redis may be down. */
export function reportsLimits(statusCode: number): boolean {
  return statusCode !== 401 && statusCode < 500;
}

export function hasLimitHeaders(reply: FastifyReply, format: WireFormat): boolean {
  return UNITS.some((unit) => reply.hasHeader(NAMES[format](unit)[0]));
}

/** The bucket with less left; the first on a tie. */
function tighter(one: Bucket | undefined, other: Bucket | undefined): Bucket | undefined {
  if (!one || !other) return one ?? other;
  return room(other) < room(one) ? other : one;
}

function room({ limit, debt }: Bucket): number {
  return limit * REFILL_MS - debt;
}

/** Formats a duration like OpenAI, in whole seconds, rounded up: `12s`, `6m0s`, `1h0m5s`. */
export function duration(ms: number): string {
  const seconds = Math.ceil(ms / MS_PER_S);
  if (seconds < S_PER_MINUTE) return `${seconds}s`;
  const minutes = Math.floor(seconds / S_PER_MINUTE);
  const rest = `${seconds % S_PER_MINUTE}s`;
  if (minutes < MINUTES_PER_HOUR) return `${minutes}m${rest}`;
  return `${Math.floor(minutes / MINUTES_PER_HOUR)}h${minutes % MINUTES_PER_HOUR}m${rest}`;
}

/** Formats the time in `ms` milliseconds like Anthropic: RFC 3339 in whole seconds, rounded up. */
function momentIn(ms: number): string {
  const at = Math.ceil((Date.now() + ms) / MS_PER_S) * MS_PER_S;
  return new Date(at).toISOString().replace('.000Z', 'Z');
}

/** Retry hint for an unknown wait: a call in flight may end at any time. */
const HINT_MS = 1_000;

/** Retry delay of a full limit, in milliseconds. */
function waitOf({ waitMs = HINT_MS }: FullLimit): number {
  return waitMs;
}

/** The full limit with the longest wait, for the refusal. Undefined if `full` is empty. */
export function longestWait(full: readonly FullLimit[]): FullLimit | undefined {
  return full.reduce<FullLimit | undefined>(
    (longest, each) => (longest && waitOf(longest) >= waitOf(each) ? longest : each),
    undefined,
  );
}

/** The 429 of specification section 11 for a full limit. */
export function limitRefusal(limit: FullLimit): GatewayError {
  const retryAfterMs = Math.max(1, waitOf(limit));
  const advice =
    limit.waitMs === undefined ? 'when one of them ends' : `in ${Math.ceil(retryAfterMs / 1_000)} s`;
  const message = `${sentence(limit)}; try again ${advice}.`;
  const facts = { limit: limit.name, of: limit.owner, retry_after_ms: retryAfterMs };
  return new GatewayError('rate_limit_exceeded', message, null, undefined, { retryAfterMs, facts });
}

/** Describes a full limit. */
export function sentence({ owner, name, limit }: FullLimit): string {
  const whose = `This ${owner}'s ${name} of ${limit}`;
  if (name === 'rpm_limit')
    return `${whose} ${limit === 1 ? 'request' : 'requests'} a minute has been reached`;
  if (name === 'tpm_limit') {
    return `${whose} ${limit === 1 ? 'token' : 'tokens'} a minute leaves too few for this call`;
  }
  return `${whose} ${limit === 1 ? 'call' : 'calls'} in flight has been reached`;
}
