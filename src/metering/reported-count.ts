/** More tokens than any model reads or writes in one call; a report beyond it is no report. */
const ABSURD = 1_000_000_000;

/** A count that an upstream reports, zero included; undefined where it is no count, negative or absurd. */
export function reportedCount(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) < ABSURD
    ? (value as number)
    : undefined;
}
