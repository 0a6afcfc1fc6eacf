export const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** Ranges by their names in the address, with their lengths. */
export const RANGES = {
  '15m': ['15 min', 15 * MINUTE_MS],
  '1h': ['1 hour', 60 * MINUTE_MS],
  '24h': ['24 hours', DAY_MS],
  '7d': ['7 days', 7 * DAY_MS],
  '30d': ['30 days', 30 * DAY_MS],
  '90d': ['90 days', 90 * DAY_MS],
} as const;
export type RangeName = keyof typeof RANGES;

/** A span of time. `from` and `to` are timestamps, `to` is left out; "" is open. */
export interface Range {
  readonly name: RangeName | 'own';
  readonly from: string;
  readonly to: string;
}

/** The range that an address names, or `fallback`. */
export function rangeOf(
  { range, from, to }: { range?: string | undefined; from: string; to: string },
  fallback: RangeName,
  now: number,
): Range {
  const own = { name: 'own', from: timestampOf(from, 0), to: timestampOf(to, DAY_MS) } as const;
  if (own.from !== '' || own.to !== '') return own;
  const name = range !== undefined && Object.hasOwn(RANGES, range) ? (range as RangeName) : fallback;
  // The next whole minute, so that the latest calls are in it and a page asks the same within a minute.
  const end = Math.ceil((now + 1) / MINUTE_MS) * MINUTE_MS;
  return {
    name,
    from: new Date(end - RANGES[name][1]).toISOString(),
    to: new Date(end).toISOString(),
  };
}

/** A time of the address; a UTC day, as older links have it, becomes its start plus `ofDay` ms. "": no time. */
function timestampOf(text: string, ofDay: number): string {
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) return '';
  return new Date(text.length > 10 ? ms : ms + ofDay).toISOString();
}

/** A range three times as long around a span of time, which ends now at the latest. */
export function zoomedOut(
  { from, to }: { from: string; to: string },
  now: number,
): { from: string; to: string } {
  const length = Math.max(MINUTE_MS, Date.parse(to) - Date.parse(from));
  const end = Math.min(Date.parse(to) + length, Math.ceil((now + 1) / MINUTE_MS) * MINUTE_MS);
  return { from: new Date(end - 3 * length).toISOString(), to: new Date(end).toISOString() };
}
