/** Names of the limits of calls in the API and in the book (specification section 11). */
export const LIMIT_FIELDS = ['rpm_limit', 'tpm_limit', 'max_parallel_requests'] as const;
export type LimitField = (typeof LIMIT_FIELDS)[number];

export type Limits = Readonly<Record<LimitField, number | null>>;

export const NO_LIMITS: Limits = { rpm_limit: null, tpm_limit: null, max_parallel_requests: null };

/** A limit that was asked for. Times in milliseconds since the epoch. */
export interface LimitChange {
  /** Null for none. */
  readonly limit: number | null;
  /** Time from which on it may be in force. */
  readonly askedAt: number;
  /** Time of the answer that it is in force; undefined where there was no such answer. */
  answeredAt: number | undefined;
  /** Time from which on a change that was not answered takes force no more, unless it has by then. */
  settledAt: number;
}

/** The limits of a key or an account that were asked for, in their order. */
export type LimitsModel = Readonly<Record<LimitField, LimitChange[]>>;

/** Time for which a change may still be on its way to the book after its client was refused, or got no answer. */
export const STRAY_MS = 3_000;

/** The limits of a key or an account that has had these from its creation on. */
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

/** Time at which a later change had surely taken its place. */
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

/** Whether there was surely no limit at some time between these, so that a later one is full and gets nothing back. */
export function wasSurelyNoneWithin(changes: readonly LimitChange[], from: number, to: number): boolean {
  return changes.some(({ limit, answeredAt = 0 }) => {
    // The change before it may be in force in the millisecond of the answer.
    const at = answeredAt + 1;
    const isWithin = limit === null && at > from && at < to;
    return isWithin && limitsWithin(changes, at, at).every((each) => each === null);
  });
}

/** Whether any limit may have been in force at some time from `from` to `to`. */
export function mayBeLimited(limits: LimitsModel, from: number, to: number): boolean {
  return LIMIT_FIELDS.some((field) => limitsWithin(limits[field], from, to).some((limit) => limit !== null));
}
