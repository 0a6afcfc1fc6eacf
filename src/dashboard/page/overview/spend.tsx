import type { KeyView } from '../../../domain/key-view.ts';
import type { UsageReport } from '../api/account.ts';
import { keyName } from '../keys/key-name.ts';
import { Empty } from '../ui/empty.tsx';
import { DayChart } from './day-chart.tsx';
import { DayTable } from './day-table.tsx';
import { everyDay } from './every-day.ts';
import { Ranking } from './ranking.tsx';

/** Where the credits went in the last 30 days: by day, by key, by model. */
export function Spend({
  byDay,
  byKey,
  byModel,
  keys,
}: {
  byDay: UsageReport;
  byKey: UsageReport;
  byModel: UsageReport;
  keys: readonly KeyView[];
}) {
  if (byDay.total.calls === 0) {
    return (
      <section class="card">
        <h2>Spend</h2>
        <Empty title="No calls in the last 30 days">
          <p>
            What calls cost shows here by day, key and model. <a href="#/keys">See your keys</a>.
          </p>
        </Empty>
      </section>
    );
  }
  const days = everyDay(byDay);
  return (
    <>
      <section class="card">
        <h2>Spend by day</h2>
        <p class="hint">Credits a day (UTC), the last 30 days</p>
        <DayChart days={days} />
        <details>
          <summary>The same as a table</summary>
          <DayTable days={days} />
        </details>
      </section>
      <div class="columns">
        <Ranking
          title="Spend by key"
          subject="Key"
          rows={byKey.rows.map((row) => ({
            ...row,
            name: keyName(row.key_id ?? null, keys),
            href: row.key_id == null ? undefined : `#/keys/${row.key_id}`,
          }))}
        />
        <Ranking
          title="Spend by model"
          subject="Model"
          rows={byModel.rows.map((row) => ({ ...row, name: row.model ?? 'none', href: undefined }))}
        />
      </div>
    </>
  );
}
