/** Lengths of buckets, smallest first. */
export const BUCKETS = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;
export type BucketUnit = keyof typeof BUCKETS;
export const BUCKET_UNITS = Object.keys(BUCKETS) as BucketUnit[];

/** Most buckets of a range: more bars than a chart can show. */
const MAX_BUCKETS = 120;

/** Buckets of equal length without gaps, in milliseconds since the epoch. */
export interface CallBuckets {
  readonly unit: BucketUnit;
  /** Length of a bucket: one unit, or several days. */
  readonly ms: number;
  /** Start of the first bucket, a whole number of units in UTC. */
  readonly start: number;
  readonly count: number;
}

/**
 * Divides the times `from` to `to`, inclusive, into the smallest buckets of which at most MAX_BUCKETS cover them: minutes,
 * hours, days, or several days each.
 */
export function callBuckets(from: number, to: number): CallBuckets {
  for (const unit of BUCKET_UNITS) {
    const buckets = bucketsOf(unit, 1, from, to);
    if (buckets.count <= MAX_BUCKETS) return buckets;
  }
  const { count } = bucketsOf('day', 1, from, to);
  return bucketsOf('day', Math.ceil(count / MAX_BUCKETS), from, to);
}

function bucketsOf(unit: BucketUnit, units: number, from: number, to: number): CallBuckets {
  const start = Math.floor(from / BUCKETS[unit]) * BUCKETS[unit];
  const ms = units * BUCKETS[unit];
  return { unit, ms, start, count: Math.floor((to - start) / ms) + 1 };
}
