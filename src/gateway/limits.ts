import type { FastifyReply } from 'fastify';
import {
  type Bucket,
  CALL_LIMIT_FIELDS,
  type CallLimits,
  type FullLimit,
  type LimitName,
  type LimitStates,
  msUntilFull,
  REFILL_MS,
  remaining,
} from '../domain/call-limits.ts';
import type { WireFormat } from '../domain/catalog.ts';
import { GatewayError } from '../domain/errors.ts';
import type { KeyAndAccountLimits } from '../domain/rules.ts';

const MS_PER_S = 1_000;
const S_PER_MINUTE = 60;
const MINUTES_PER_HOUR = 60;

const UNITS = ['requests', 'tokens'] as const;
type Unit = (typeof UNITS)[number];

/** Names of the headers of a unit, as OpenAI and Anthropic document them (API references, "Rate limits"). */
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

/** Names of the headers with the limit of a unit, its rest, and the time when it is full again. */
export function limitHeaderNames(
  format: WireFormat,
  unit: Unit,
): readonly [limit: string, remaining: string, reset: string] {
  return NAMES[format](unit);
}

/** Names of all headers about limits; pages of other origins may read them (CORS). */
export const LIMIT_HEADERS: readonly string[] = UNITS.flatMap((unit) => [
  ...NAMES.openai(unit),
  ...NAMES.anthropic(unit),
]);

/**
 * Sets the headers of specification section 11 on an answer: for requests and for tokens the limit, what remains of it,
 * and when it is full again. `format` decides whose names they have. If key and account both have a limit, the one
 * with less left is shown; without a limit there is no header.
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

/** Removes the headers that `setLimitHeaders` sets: the call is admitted again, and its limits may be gone. */
export function clearLimitHeaders(reply: FastifyReply, format: WireFormat): void {
  for (const name of UNITS.flatMap(NAMES[format])) reply.removeHeader(name);
}

/** True if a refusal shows limits: strangers learn nothing, and if the gateway itself fails, Redis may be away. */
export function reportsLimits(statusCode: number): boolean {
  return statusCode !== 401 && statusCode < 500;
}

/** True if an answer has headers about limits already. */
export function hasLimitHeaders(reply: FastifyReply, format: WireFormat): boolean {
  return UNITS.some((unit) => reply.hasHeader(NAMES[format](unit)[0]));
}

/** The bucket with less left; the first if both have as much. */
function tighter(one: Bucket | undefined, other: Bucket | undefined): Bucket | undefined {
  if (!one || !other) return one ?? other;
  return room(other) < room(one) ? other : one;
}

function room({ limit, debt }: Bucket): number {
  return limit * REFILL_MS - debt;
}

/** A time span as OpenAI writes it, in whole seconds, rounded up: `12s`, `6m0s`, `1h0m5s`. */
export function duration(ms: number): string {
  const seconds = Math.ceil(ms / MS_PER_S);
  if (seconds < S_PER_MINUTE) return `${seconds}s`;
  const minutes = Math.floor(seconds / S_PER_MINUTE);
  const rest = `${seconds % S_PER_MINUTE}s`;
  if (minutes < MINUTES_PER_HOUR) return `${minutes}m${rest}`;
  return `${Math.floor(minutes / MINUTES_PER_HOUR)}h${minutes % MINUTES_PER_HOUR}m${rest}`;
}

/** The time `ms` milliseconds from now as Anthropic writes it: RFC 3339, in whole seconds, rounded up. */
function momentIn(ms: number): string {
  const at = Math.ceil((Date.now() + ms) / MS_PER_S) * MS_PER_S;
  return new Date(at).toISOString().replace('.000Z', 'Z');
}

const FIELDS = Object.entries(CALL_LIMIT_FIELDS) as readonly (readonly [keyof CallLimits, LimitName])[];

/** Milliseconds after which to try again if the wait is not known: a call in flight may end at any time. */
const HINT_MS = 1_000;

/** Milliseconds to wait for a full limit, as the answer says. */
function waitOf({ waitMs = HINT_MS }: FullLimit): number {
  return waitMs;
}

/** The limit that a refusal names: the one with the longest wait. Undefined if `full` is empty. */
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
  const facts = { limit: limit.name, of: limit.owner, retry_after_ms: retryAfterMs };
  return new GatewayError('rate_limit_exceeded', message, null, undefined, { retryAfterMs, facts });
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
