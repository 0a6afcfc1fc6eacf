import type { Sums, UsageReport } from '../api/account.ts';

const DAY_MS = 86_400_000;

export interface DaySpend extends Sums {
  readonly day: string;
}

/** The report with the days in it on which nothing was called. */
export function everyDay({ from, to, rows }: UsageReport): readonly DaySpend[] {
  const known = new Map(rows.map((row) => [row.day, row]));
  const days: DaySpend[] = [];
  for (let ms = Date.parse(`${from}T00:00:00Z`); ms <= Date.parse(`${to}T00:00:00Z`); ms += DAY_MS) {
    const day = new Date(ms).toISOString().slice(0, 10);
    const { calls, credits } = known.get(day) ?? { calls: 0, credits: '0.000000' };
    days.push({ day, calls, credits });
  }
  return days;
}
