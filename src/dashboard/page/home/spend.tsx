import { type Base, OWN } from '../api/account.ts';
import { localClock, zone, zoneName } from '../format/time.ts';
import { keyName } from '../keys/key-label.tsx';
import { manages } from '../session/session.ts';
import { Empty } from '../ui/elements.tsx';
import { DayChart } from './day-chart.tsx';
import { Ranking } from './ranking.tsx';
import { everyDay, type SpendReports } from './use-spend.ts';

/** Charts of the spend of the last 30 days by day, key and model. */
export function Spend({ of: base, byDay, byKey, byModel, keys }: SpendReports & { of: Base }) {
  const hrefOf = (keyId: number) => (base === OWN ? `#/keys/${keyId}` : `${ledger}?key_id=${keyId}`);
  const ledger = base === OWN ? '#/billing' : `#/accounts/${base.split('/')[4]}/billing`;
  if (byDay.total.calls === 0) {
    return (
      <section className="card">
        <h2>Spend</h2>
        <Empty title="No calls in the last 30 days">
          <p>Spend appears here by day, key and model.</p>
        </Empty>
      </section>
    );
  }
  const days = everyDay(byDay);
  return (
    <>
      <section className="card">
        <h2>Spend by day</h2>
        <p className="hint">
          Credits per day, last 30 days. Days are UTC days
          {zone.value === 'local' && `: here (${zoneName()}) one begins at ${localClock('00:00')}`}.
        </p>
        <DayChart days={days} />
      </section>
      <div className="columns">
        {manages() && (
          <Ranking
            title="Spend by key"
            subject="Key"
            rows={byKey.rows.map((row) => ({
              ...row,
              name: keyName(row.key_id ?? null, keys),
              href: row.key_id == null ? undefined : hrefOf(row.key_id),
            }))}
          />
        )}
        <Ranking
          title="Spend by model"
          subject="Model"
          rows={byModel.rows.map((row) => ({
            ...row,
            name: row.model ?? 'none',
            href: row.model == null ? undefined : `${ledger}?model=${encodeURIComponent(row.model)}`,
          }))}
        />
      </div>
    </>
  );
}
