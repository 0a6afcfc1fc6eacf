import type { ReactNode } from 'react';
import type { AccountView } from '../../../api/account/account-view.ts';
import type { UsageReportView } from '../../../api/usage/usage-view.ts';
import { count } from '../format/credits.ts';
import { Amount } from '../ui/amount.tsx';
import { changeOf, daysLeft, endsOf, paceOf } from './pace.ts';

/** A figure with its name above and a note below. */
export function Figure(props: { name: string; note?: ReactNode; isLow?: boolean; children: ReactNode }) {
  return (
    <div className={props.isLow ? 'figure figure-low' : 'figure'}>
      <dt>{props.name}</dt>
      <dd className="figure-value">{props.children}</dd>
      {props.note !== undefined && <dd className="figure-note">{props.note}</dd>}
    </div>
  );
}

/** The balance, and how many days it lasts at the pace of the last seven. `days` are sums by day of the last 60. */
export function BalanceFigure({
  account,
  days,
}: {
  account: AccountView;
  days: UsageReportView | undefined;
}) {
  const left = days && daysLeft(account.credits_balance, days.rows, Date.now());
  return (
    <Figure
      name="Balance"
      isLow={account.credits_balance < account.alert_threshold}
      note={left === undefined ? undefined : `lasts ${daysInWords(left)} at the 7-day pace`}
    >
      <Amount of={account.credits_balance} />
    </Figure>
  );
}

/** `about 12 days`; `less than a day`; beyond two years nobody counts. */
export function daysInWords(days: number): string {
  if (days < 1) return 'less than a day';
  if (days > 730) return 'more than 2 years';
  const whole = Math.floor(days);
  return `about ${count(whole)} ${whole === 1 ? 'day' : 'days'}`;
}

const MOST_PERCENTS = 999;

const SPANS = [
  [1, 'Spent today', 'yesterday'],
  [7, 'Spent in 7 days', 'prior 7 days'],
  [30, 'Spent in 30 days', 'prior 30 days'],
] as const;

/** Spend of today, 7 and 30 days with the change, and calls with the shares refused and failed. */
export function SpendFigures({ days, isUnknown }: { days: UsageReportView | undefined; isUnknown: boolean }) {
  const missing = isUnknown ? 'could not be read' : 'loading';
  return (
    <>
      {SPANS.map(([span, name, before]) => {
        const pace = days && paceOf(days.rows, span, Date.now());
        return (
          <Figure key={span} name={name} note={pace ? changeAgainst(before, changeOf(pace)) : missing}>
            {pace ? <Amount of={pace.spent} /> : isUnknown ? '–' : '…'}
          </Figure>
        );
      })}
      <CallsFigure days={days} missing={missing} isUnknown={isUnknown} />
    </>
  );
}

function changeAgainst(before: string, percents: number | undefined): string {
  return percents === undefined
    ? `none ${before === 'yesterday' ? '' : 'in '}${before}`
    : `${changeWords(percents)} vs ${before}`;
}

function CallsFigure(props: { days: UsageReportView | undefined; missing: string; isUnknown: boolean }) {
  const ends = props.days && endsOf(lastDays(props.days, 30));
  return (
    <Figure
      name="Calls in 30 days"
      note={ends ? `${percent(ends.refused)} refused, ${percent(ends.failed)} failed` : props.missing}
    >
      {ends ? count(ends.calls) : props.isUnknown ? '–' : '…'}
    </Figure>
  );
}

function lastDays({ rows }: UsageReportView, days: number): UsageReportView['rows'] {
  const from = new Date(Date.now() - (days - 1) * 86_400_000).toISOString().slice(0, 10);
  return rows.filter(({ day = '' }) => day >= from);
}

/** A change in percent: `▲ 12%`. Beyond ten times as much, the number says nothing. */
export function changeWords(percents: number): string {
  const sign = percents > 0 ? '▲ ' : percents < 0 ? '▼ ' : '';
  return percents > MOST_PERCENTS ? `${sign}>${MOST_PERCENTS}%` : `${sign}${count(Math.abs(percents))}%`;
}

/** A share between 0 and 1: `4.2%`. */
export function percent(share: number): string {
  return `${count(Math.round(share * 1_000) / 10)}%`;
}

/** What is held, and what may be overdrawn, in a line; nothing where both are 0. */
export function HeldLine({ account }: { account: AccountView }) {
  const { credits_held: held, overdraft } = account;
  if (held === 0 && overdraft === 0) return null;
  return (
    <p className="call-limits">
      {held > 0 && (
        <>
          <strong>
            <Amount of={held} />
          </strong>{' '}
          held for calls in flight.{' '}
        </>
      )}
      {overdraft > 0 && (
        <>
          Overdraft{' '}
          <strong>
            <Amount of={overdraft} />
          </strong>
          : calls in flight can go that far below 0.
        </>
      )}
    </p>
  );
}
