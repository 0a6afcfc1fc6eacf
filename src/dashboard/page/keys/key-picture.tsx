import type { KeyView } from '../../../api/keys/key-view.ts';
import type { UsageReportView } from '../../../api/usage/usage-view.ts';
import { periodEndsAt } from '../../../domain/period.ts';
import { OWN, readUsageOf } from '../api/account.ts';
import { useLoad } from '../api/use-load.ts';
import { rounded } from '../format/amount.ts';
import { count } from '../format/credits.ts';
import { durationWords } from '../format/duration.ts';
import { thisPeriod } from '../format/words.ts';
import { LimitsLeft } from '../home/limits-left.tsx';
import { SpendChart } from '../home/spend-chart.tsx';
import { Amount } from '../ui/amount.tsx';
import { Ago, Bar } from '../ui/elements.tsx';
import { LastCalls } from './last-calls.tsx';

/** What a key does: its spend against its limit, by day and model, and its last calls. */
export function KeyPicture({ of: key }: { of: KeyView }) {
  const loaded = useLoad(
    (signal) => readUsageOf(OWN, { group_by: 'day', key_id: String(key.id) }, signal),
    String(key.id),
  );
  return (
    <>
      <dl className="figures">
        <LimitFigure of={key} />
        <div className="figure">
          <dt>Spent in 30 days</dt>
          <dd className="figure-value">{loaded.data ? <Amount of={loaded.data.total.credits} /> : '–'}</dd>
          <dd className="figure-note">{loaded.data ? 'credits' : ' '}</dd>
        </div>
        <div className="figure">
          <dt>Calls in 30 days</dt>
          <dd className="figure-value">{loaded.data ? count(loaded.data.total.calls) : '–'}</dd>
          <dd className="figure-note">{loaded.data ? endsWords(loaded.data) : ' '}</dd>
        </div>
      </dl>
      {key.spending_limits.length > 0 && <LimitsLeft of={key.limits} />}
      <SpendChart of={OWN} keyId={String(key.id)} />
      <LastCalls keyId={key.id} />
    </>
  );
}

/** Spend of the current period, against the limit where there is one, and when it begins again. */
function LimitFigure({ of: key }: { of: KeyView }) {
  const { spending_current: spent, spending_limit: limit, spending_period: period } = key;
  const endsAt = periodEndsAt(Date.now(), period);
  const part = limit === null ? 0 : limit === 0 ? 1 : Number(spent) / limit;
  return (
    <div className={part >= 1 ? 'figure figure-low' : 'figure'}>
      <dt>Spent {thisPeriod(period)}</dt>
      <dd className="figure-value">
        <Amount of={spent} />
        {limit !== null && <small> / {rounded(limit)}</small>}
      </dd>
      <dd className="figure-note">
        {limit !== null && <Bar part={part} full={part >= 1} />}
        {limit === null ? 'No limit.' : `${Math.floor(part * 100)}% of the limit.`} Resets{' '}
        <Ago at={endsAt} words={`in ${durationWords(Date.parse(endsAt) - Date.now())}`} />
      </dd>
    </div>
  );
}

function endsWords({ total: { failed, refused } }: UsageReportView): string {
  if (failed === undefined || refused === undefined) return '';
  return `${count(refused)} refused, ${count(failed)} failed`;
}
