import { rounded } from '../format/amount.ts';
import { dayName } from '../format/time.ts';
import { StackedChart } from '../ui/stacked-chart.tsx';
import type { DaySpend } from './use-spend.ts';

/** Bars of the spend by day, with its table. */
export function DayChart({ days }: { days: readonly DaySpend[] }) {
  const rows = days.map(({ day, credits }) => ({
    label: dayName(day),
    values: { Credits: Number(credits) },
  }));
  return <StackedChart title="Spend by day" axis="Day (UTC)" rows={rows} format={rounded} />;
}
