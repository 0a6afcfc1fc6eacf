import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import type { AccountView } from '../../../api/account/account-view.ts';
import type { UsageReportView } from '../../../api/usage/usage-view.ts';
import { SOON_DAYS } from '../../../domain/pace.ts';
import { POLL_MS, read } from '../data/query.ts';
import { count } from '../format/credits.ts';
import { useScope } from '../session/scope.ts';
import { Amount } from '../ui/amount.tsx';
import { Figure, Figures } from '../ui/elements.tsx';
import { Failure } from '../ui/note.tsx';
import { changeOf, changeWords, dayOf, daysInWords, daysLeft, paceOf, percent, resultsOf } from './pace.ts';

const DAY_MS = 86_400_000;
/** The last 30 days and the 30 before them. */
const DAYS = 60;

type Days = UseQueryResult<UsageReportView, Error>;

/** Sums by day from which figures compare spans: the last 60 UTC days. */
export function useDays(): Days {
  const scope = useScope();
  const now = Date.now();
  const query = new URLSearchParams({
    group_by: 'day',
    from: dayOf(now - (DAYS - 1) * DAY_MS),
    to: dayOf(now),
  });
  return useQuery({
    ...read<UsageReportView>(scope, `${scope.api}usage/?${query}`),
    refetchInterval: POLL_MS,
  });
}

/** The balance and how long it lasts, if `account` is given, and spend and requests of its days. */
export function SpendFigures({ account, days }: { account?: AccountView; days: Days }) {
  const rows = days.data?.rows;
  return (
    <>
      {days.error && <Failure error={days.error} retry={() => void days.refetch()} />}
      <Figures>
        {account && <BalanceFigure account={account} days={days} />}
        {SPANS.map(([span, name, before]) => {
          const pace = rows && paceOf(rows, span, Date.now());
          return (
            <Figure key={span} name={name} note={pace ? before(pace) : missing(days)}>
              {pace ? <Amount of={pace.spent} /> : '–'}
            </Figure>
          );
        })}
        <RequestsFigure days={days} />
      </Figures>
    </>
  );
}

/** Spans with what each is compared with. Today is not over, so it has no change in percent. */
const SPANS = [
  [1, 'Spent today', ({ before }) => <Yesterday spent={before} />],
  [7, 'Spent in 7 days', (pace) => against(pace, 'the 7 days before')],
  [30, 'Spent in 30 days', (pace) => against(pace, 'the 30 days before')],
] as const satisfies readonly (readonly [number, string, (pace: ReturnType<typeof paceOf>) => unknown])[];

function Yesterday({ spent }: { spent: string }) {
  return (
    <>
      <Amount of={spent} /> yesterday
    </>
  );
}

function against(pace: ReturnType<typeof paceOf>, before: string): string {
  const percents = changeOf(pace);
  return percents === undefined ? `none in ${before}` : `${changeWords(percents)} vs ${before}`;
}

function missing({ error }: Days): string {
  return error ? 'could not be read' : 'loading';
}

/** The balance, and how many days it lasts at the pace of the last seven. */
export function BalanceFigure({ account, days }: { account: AccountView; days: Days }) {
  const { credits_balance: balance, credits_held: held, overdraft } = account;
  const left = days.data && daysLeft(balance, days.data.rows, Date.now());
  return (
    <Figure
      name="Balance"
      isLow={balance <= 0 || (left !== undefined && left < SOON_DAYS)}
      note={
        <>
          {left !== undefined && <>lasts {daysInWords(left)} at the 7-day pace</>}
          {held > 0 && (
            <div>
              <Amount of={held} /> held for calls in flight
            </div>
          )}
          {overdraft > 0 && (
            <div>
              Overdraft <Amount of={overdraft} />: calls in flight can go that far below 0
            </div>
          )}
        </>
      }
    >
      <Amount of={balance} />
    </Figure>
  );
}

function RequestsFigure({ days }: { days: Days }) {
  const results = days.data && resultsOf(days.data.rows, 30, Date.now());
  return (
    <Figure name="Requests in 30 days" note={results ? shares(results) : missing(days)}>
      {results ? count(results.all) : '–'}
    </Figure>
  );
}

function shares({ all, ok, refused, failed }: ReturnType<typeof resultsOf>): string {
  if (all === 0) return 'none yet';
  return `${percent(ok, all)} OK, ${percent(refused, all)} refused, ${percent(failed, all)} failed`;
}
