/** Limits of the calls of a key, or of an account's keys together (specification section 11). Null: no limit. */
export interface CallLimits {
  /** Requests that may begin in a minute. */
  readonly rpmLimit: number | null;
  /** Tokens in a minute: input that is not cached, cache writes and output. */
  readonly tpmLimit: number | null;
  /** Calls in flight. */
  readonly maxParallelRequests: number | null;
}

/** The field of each limit in bodies of the API. */
export const CALL_LIMIT_FIELDS = {
  rpmLimit: 'rpm_limit',
  tpmLimit: 'tpm_limit',
  maxParallelRequests: 'max_parallel_requests',
} as const satisfies Record<keyof CallLimits, LimitName>;

/** Largest limit. lua/call-limits.inc.lua counts 60,000 times as much, which Lua numbers still hold exactly. */
export const MAX_CALL_LIMIT = 100_000_000_000;

export const NO_CALL_LIMITS: CallLimits = Object.freeze({
  rpmLimit: null,
  tpmLimit: null,
  maxParallelRequests: null,
});

/** Picks the limits from a record with other fields. */
export function callLimitsOf({ rpmLimit, tpmLimit, maxParallelRequests }: CallLimits): CallLimits {
  return { rpmLimit, tpmLimit, maxParallelRequests };
}

export function hasCallLimits({ rpmLimit, tpmLimit, maxParallelRequests }: CallLimits): boolean {
  return rpmLimit !== null || tpmLimit !== null || maxParallelRequests !== null;
}

/** True if requests or tokens are limited, so that answers carry rate-limit headers. */
export function hasBuckets({ rpmLimit, tpmLimit }: CallLimits): boolean {
  return rpmLimit !== null || tpmLimit !== null;
}

/**
 * Milliseconds in which a bucket refills evenly. A bucket counts each unit as this many, which keeps its numbers
 * integers.
 */
export const REFILL_MS = 60_000;

/** A token bucket (GCRA) at a moment of Redis' clock. */
export interface Bucket {
  /** Capacity and refill per minute, in requests or tokens. */
  readonly limit: number;
  /**
   * Used units times REFILL_MS. Falls by `limit` each millisecond and stays an integer. Exceeds `limit` times REFILL_MS
   * if calls used more tokens than estimated.
   */
  readonly debt: number;
}

/** State of the limits of one key or account; undefined for an unset limit. */
export interface LimitState {
  readonly requests: Bucket | undefined;
  readonly tokens: Bucket | undefined;
  readonly parallel: { readonly limit: number; readonly open: number } | undefined;
}

/** State of all limits that apply to a call. */
export interface LimitStates {
  readonly key: LimitState;
  readonly account: LimitState;
}

const UNLIMITED: LimitState = { requests: undefined, tokens: undefined, parallel: undefined };
export const NO_LIMIT_STATES: LimitStates = Object.freeze({ key: UNLIMITED, account: UNLIMITED });

/** Whole units left, at least 0. */
export function remaining({ limit, debt }: Bucket): number {
  return Math.max(0, Math.floor((limit * REFILL_MS - debt) / REFILL_MS));
}

/** Milliseconds, rounded up, until the bucket is full again. */
export function msUntilFull({ limit, debt }: Bucket): number {
  return Math.ceil(debt / limit);
}

/** Milliseconds, rounded up, until there is room for `units`, at most the capacity; 0: now. */
export function msUntilRoom({ limit, debt }: Bucket, units: number): number {
  return Math.max(0, Math.ceil((debt + (Math.min(units, limit) - limit) * REFILL_MS) / limit));
}

/** Tokens that a call takes from a limit: at most the capacity, or a large call could never begin. */
export function tokensTaken({ tpmLimit }: CallLimits, tokens: number): number {
  return tpmLimit === null ? 0 : Math.min(tokens, tpmLimit);
}

/** Field names of the limits, in the order of their checks. */
export const LIMIT_NAMES = ['max_parallel_requests', 'rpm_limit', 'tpm_limit'] as const;
export type LimitName = (typeof LIMIT_NAMES)[number];

export type LimitOwner = 'key' | 'account';

/** A limit that has no room for a call. */
export interface FullLimit {
  readonly owner: LimitOwner;
  readonly name: LimitName;
  readonly limit: number;
  /** Milliseconds until there is room if no other call arrives; undefined if unknown, as with calls in flight. */
  readonly waitMs: number | undefined;
}

/**
 * Limits without room for one more call of `tokens`; empty if all have room. Undefined tokens: it counts tokens, which
 * takes a place alone.
 */
export function fullLimits(states: LimitStates, tokens: number | undefined): FullLimit[] {
  return [...fullLimitsOf('key', states.key, tokens), ...fullLimitsOf('account', states.account, tokens)];
}

function fullLimitsOf(owner: LimitOwner, state: LimitState, tokens: number | undefined): FullLimit[] {
  const full: FullLimit[] = [];
  const { parallel, requests, tokens: bucket } = state;
  if (parallel && parallel.open >= parallel.limit) {
    full.push({ owner, name: 'max_parallel_requests', limit: parallel.limit, waitMs: undefined });
  }
  if (tokens === undefined) return full;
  const add = (name: LimitName, of: Bucket | undefined, units: number) => {
    const waitMs = of ? msUntilRoom(of, units) : 0;
    if (of && waitMs > 0) full.push({ owner, name, limit: of.limit, waitMs });
  };
  add('rpm_limit', requests, 1);
  add('tpm_limit', bucket, tokens);
  return full;
}
