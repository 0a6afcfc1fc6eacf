import type { KeyView } from '../../../api/keys/key-view.ts';
import type { SumsView, UsageReportView } from '../../../api/usage/usage-view.ts';
import { type Base, readKeys, readUsage } from '../api/account.ts';
import { type Loaded, useLoad } from '../api/use-load.ts';

export interface SpendReports {
  readonly byDay: UsageReportView;
  readonly byKey: UsageReportView;
  readonly byModel: UsageReportView;
  readonly keys: readonly KeyView[];
}

/** Loads the reports of the spend of the last 30 days. */
export function useSpend(base: Base): Loaded<SpendReports> {
  return useLoad(async (signal) => {
    const [byDay, byKey, byModel, keys] = await Promise.all([
      readUsage(base, 'day', signal),
      readUsage(base, 'key', signal),
      readUsage(base, 'model', signal),
      readKeys(base, signal),
    ]);
    return { byDay, byKey, byModel, keys };
  });
}

/** A number of calls, and the sum of their charges. */
export type Spent = Omit<SumsView, 'usage'>;

export interface DaySpend extends Spent {
  readonly day: string;
}

const DAY_MS = 86_400_000;

/** Rows of a report by day, with rows of 0 for the days without calls. */
export function everyDay({ from, to, rows }: UsageReportView): readonly DaySpend[] {
  const known = new Map(rows.map((row) => [row.day, row]));
  const days: DaySpend[] = [];
  for (let ms = Date.parse(`${from}T00:00:00Z`); ms <= Date.parse(`${to}T00:00:00Z`); ms += DAY_MS) {
    const day = new Date(ms).toISOString().slice(0, 10);
    const { calls, credits } = known.get(day) ?? { calls: 0, credits: '0.000000' };
    days.push({ day, calls, credits });
  }
  return days;
}
