import type { FastifyReply } from 'fastify';
import {
  type Bucket,
  type LimitStates,
  msUntilFull,
  REFILL_MS,
  remaining,
} from '../../domain/call-limits.ts';
import type { WireFormat } from '../../domain/catalog.ts';

const MS_PER_S = 1_000;
const S_PER_MINUTE = 60;
const MINUTES_PER_HOUR = 60;

const UNITS = ['requests', 'tokens'] as const;
type Unit = (typeof UNITS)[number];

/** Names of the headers of a unit: OpenAI's (its API reference, "Rate limits"), and Anthropic's. */
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

/** Names of the headers that tell a limit of requests or tokens, what remains of it, and when it is full again. */
export function limitHeaderNames(
  format: WireFormat,
  unit: Unit,
): readonly [limit: string, remaining: string, reset: string] {
  return NAMES[format](unit);
}

/** Every header that limits are told in: pages in browsers may read them. */
export const LIMIT_HEADERS: readonly string[] = UNITS.flatMap((unit) => [
  ...NAMES.openai(unit),
  ...NAMES.anthropic(unit),
]);

/**
 * Sets the headers of specification section 11 on an answer: limit, what remains and when it is full again, of requests and
 * of tokens, by the vendor's names whose clients ask. Of key and account the one with least left; none without a limit.
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

/** Whether an answer has them already. */
export function hasLimitHeaders(reply: FastifyReply, format: WireFormat): boolean {
  return UNITS.some((unit) => reply.hasHeader(NAMES[format](unit)[0]));
}

/** The one of two buckets that has less left; of two that have as much, the first. */
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

/** The moment in so many milliseconds as Anthropic writes it: RFC 3339, whole seconds, rounded up. */
function momentIn(ms: number): string {
  const at = Math.ceil((Date.now() + ms) / MS_PER_S) * MS_PER_S;
  return new Date(at).toISOString().replace('.000Z', 'Z');
}
