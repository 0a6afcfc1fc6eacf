/** Names of the rate limits in the API and the book (specification section 11). */
export const LIMIT_FIELDS = ['rpm_limit', 'tpm_limit', 'max_parallel_requests'] as const;
export type LimitField = (typeof LIMIT_FIELDS)[number];

export type Limits = Readonly<Record<LimitField, number | null>>;

export const NO_LIMITS: Limits = { rpm_limit: null, tpm_limit: null, max_parallel_requests: null };

/** A requested limit. Times in milliseconds since the epoch. */
export interface LimitChange {
  /** Null for none. */
  readonly limit: number | null;
  /** Earliest time at which it may be in force. */
  readonly askedAt: number;
  /** Time of the answer that confirmed it; undefined without one. */
  answeredAt: number | undefined;
  /** Time after which an unanswered change can no longer take effect. */
  settledAt: number;
}

/** The requested limits of a key or an account, in order. */
export type LimitsModel = Readonly<Record<LimitField, LimitChange[]>>;

/** Time for which a change may still reach the book after its client got a refusal or no answer. */
export const STRAY_MS = 3_000;

/** The limits of a key or an account that has had these since its creation. */
export function limitsFrom(limits: Limits): LimitsModel {
  const first = (field: LimitField): LimitChange[] => [
    { limit: limits[field], askedAt: 0, answeredAt: 0, settledAt: 0 },
  ];
  return {
    rpm_limit: first('rpm_limit'),
    tpm_limit: first('tpm_limit'),
    max_parallel_requests: first('max_parallel_requests'),
  };
}

/** Limits that may have been in force at some time from `from` to `to`, both included; null for none. */
export function limitsWithin(changes: readonly LimitChange[], from: number, to: number): (number | null)[] {
  const within: (number | null)[] = [];
  for (const [index, change] of changes.entries()) {
    if (change.askedAt > to) break;
    if (endOf(change, changes.slice(index + 1)) >= from) within.push(change.limit);
  }
  return within;
}

/** Time by which a later change had certainly replaced it. */
function endOf(change: LimitChange, later: readonly LimitChange[]): number {
  const next = later.find(
    ({ askedAt, answeredAt }) => answeredAt !== undefined && askedAt >= change.settledAt,
  );
  return next?.answeredAt ?? Infinity;
}

/** The largest limit that may have been in force at some time from `from` to `to`; null: there may have been none. */
export function highestWithin(changes: readonly LimitChange[], from: number, to: number): number | null {
  let highest = 0;
  for (const limit of limitsWithin(changes, from, to)) {
    if (limit === null) return null;
    highest = Math.max(highest, limit);
  }
  return highest;
}

/** Whether there was certainly no limit at some time in between, so that a later limit starts full. */
export function wasSurelyNoneWithin(changes: readonly LimitChange[], from: number, to: number): boolean {
  return changes.some(({ limit, answeredAt = 0 }) => {
    // In the millisecond of the answer, the previous change may be in force.
    const at = answeredAt + 1;
    const isWithin = limit === null && at > from && at < to;
    return isWithin && limitsWithin(changes, at, at).every((each) => each === null);
  });
}

/** Whether any limit may have been in force at some time from `from` to `to`. */
export function mayBeLimited(limits: LimitsModel, from: number, to: number): boolean {
  return LIMIT_FIELDS.some((field) => limitsWithin(limits[field], from, to).some((limit) => limit !== null));
}
