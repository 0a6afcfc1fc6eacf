import { OWN } from '../api/account.ts';
import { readOwnKey } from '../api/keys.ts';
import { useLoad } from '../api/use-load.ts';
import { thisPeriod } from '../format/words.ts';
import { CallLimitsLine } from '../home/call-limits-line.tsx';
import { SpendFigures } from '../home/figures.tsx';
import { UseOwnKey } from '../home/home.tsx';
import { LimitsLeft } from '../home/limits-left.tsx';
import { SpendChart } from '../home/spend-chart.tsx';
import { Troubles } from '../home/troubles.tsx';
import { useDays } from '../home/use-days.ts';
import { Amount } from '../ui/amount.tsx';
import { Time } from '../ui/elements.tsx';
import { PageFrame } from '../ui/page.tsx';
import { Shown } from '../ui/shown.tsx';
import { KeyStatus } from './key-label.tsx';
import { LastUse } from './last-used.tsx';
import { PreviousValue } from './previous-value.tsx';
import { ReadOnlyNote } from './read-only-settings.tsx';

/** Home page of a key that may not manage, with its own limit and spend. */
export function KeyOverview() {
  const own = useLoad(readOwnKey);
  const days = useDays(OWN);
  const hasCalls = days.data === undefined || days.data.total.calls > 0;
  const reload = () => {
    own.reload();
    days.reload();
  };
  return (
    <PageFrame
      title={own.data?.name ?? 'This key'}
      actions={
        <button type="button" onClick={reload} disabled={own.isLoading || days.isLoading}>
          Refresh
        </button>
      }
    >
      <Shown of={own}>
        {(key) => (
          <>
            <p className="key-line">
              <KeyStatus of={key} /> <code>{key.prefix}…</code> <LastUse of={key} />{' '}
              <a href="#/keys">Settings</a>
            </p>
            <PreviousValue of={key} onEnded={own.reload} />
            <ReadOnlyNote />
            <dl className="figures">
              <div className="figure">
                <dt>Spent {thisPeriod(key.spending_period)}</dt>
                <dd className="figure-value">
                  <Amount of={key.spending_current} />
                </dd>
                <dd className="figure-note">
                  until <Time at={key.period_ends_at} />
                </dd>
              </div>
              <div className="figure">
                <dt>Remaining</dt>
                <dd className="figure-value">
                  {key.limit_remaining === null ? 'No limit' : <Amount of={key.limit_remaining} />}
                </dd>
                {key.spending_limit !== null && (
                  <dd className="figure-note">
                    of <Amount of={key.spending_limit} /> credits
                  </dd>
                )}
              </div>
              <SpendFigures days={days.data} isUnknown={days.error !== undefined} />
            </dl>
            <LimitsLeft of={key.limits} />
            <CallLimitsLine of={key} whose="of this key" />
          </>
        )}
      </Shown>
      {days.error !== undefined && <Shown of={days}>{() => null}</Shown>}
      {!hasCalls && <UseOwnKey />}
      <SpendChart of={OWN} />
      <Troubles of={OWN} href="#/requests" />
      {hasCalls && <UseOwnKey />}
    </PageFrame>
  );
}
