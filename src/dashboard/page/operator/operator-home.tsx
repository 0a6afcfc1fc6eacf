import type { MarginRowView } from '../../../api/operator/margin-view.ts';
import { NO_FILTER, readCalls } from '../api/calls.ts';
import { listAccounts, readModelsOfOperator, readUsageOfAll } from '../api/operator.ts';
import { useLoad } from '../api/use-load.ts';
import { rounded } from '../format/amount.ts';
import { callsInWords, count } from '../format/credits.ts';
import { daysInWords, Figure } from '../home/figures.tsx';
import { sumOf } from '../home/pace.ts';
import { chartRows } from '../home/spend-chart.tsx';
import { Amount } from '../ui/amount.tsx';
import { Empty, Section } from '../ui/elements.tsx';
import { PageFrame } from '../ui/page.tsx';
import { dayOf, rangeOf } from '../ui/range-picker.tsx';
import { Shown } from '../ui/shown.tsx';
import { StackedChart } from '../ui/stacked-chart.tsx';
import { Table } from '../ui/table.tsx';
import { type AccountSums, readAccountSums } from './account-sums.ts';
import { FirstSteps } from './first-steps.tsx';

/** Accounts that are looked through for balances that run dry; the card says if there are more. */
const MOST_ACCOUNTS = 1_000;
const MOST_REFUSALS = 200;
const SHOWN = 5;
const SOON_DAYS = 3;
const LAST_30 = rangeOf(new URLSearchParams());

/** Home page of the operator: charges, cost and margin, what fails, and which accounts need attention. */
export function OperatorHome() {
  const loaded = useLoad(read);
  return (
    <PageFrame
      title="Home"
      actions={
        <button type="button" disabled={loaded.isLoading} onClick={loaded.reload}>
          Refresh
        </button>
      }
    >
      <Shown of={loaded}>
        {(data) => (
          <>
            <FirstSteps accounts={data.accounts.length} models={data.models} />
            <dl className="figures">
              <MarginFigures name="today" rows={data.days.filter(({ day }) => day === dayOf(Date.now()))} />
            </dl>
            <dl className="figures">
              <MarginFigures name="in 30 days" rows={data.days} />
            </dl>
            <section className="card">
              <div className="card-head">
                <h2>Charged by day</h2>
                <p className="hint">
                  <a href="#/usage">By account, key or model</a>
                </p>
              </div>
              {data.days.every(({ calls }) => calls === 0) ? (
                <Empty title="No calls in 30 days">
                  <p>Charges appear here by day.</p>
                </Empty>
              ) : (
                <StackedChart
                  title="Charged by day"
                  axis="Day (UTC)"
                  rows={chartRows(
                    data.report,
                    LAST_30,
                    ({ charged }) => Number(charged),
                    () => 'Charged',
                  )}
                  format={rounded}
                  height={180}
                />
              )}
            </section>
            <div className="columns">
              <LargestAccounts sums={data.sums} />
              <RunningDry accounts={data.accounts} sums={data.sums} isWhole={data.isEveryAccount} />
              <Failures rows={data.upstreams} />
              <Refusals codes={data.codes} isWhole={data.isWhole} />
            </div>
          </>
        )}
      </Shown>
    </PageFrame>
  );
}

async function read(signal: AbortSignal) {
  const report = (group_by: string) => readUsageOfAll({ group_by, from: '', to: '' }, signal);
  const [days, upstreams, sums, page, refused, models] = await Promise.all([
    report('day'),
    report('day,upstream'),
    readAccountSums(signal),
    listAccounts('', MOST_ACCOUNTS, { signal }),
    readCalls(
      '/api/admin/',
      { ...NO_FILTER, result: 'refused', from: dayOf(Date.now()) },
      '',
      MOST_REFUSALS,
      signal,
    ),
    readModelsOfOperator(signal),
  ]);
  const codes = new Map<string, number>();
  for (const { code, repeated } of refused.calls) {
    codes.set(code ?? 'none', (codes.get(code ?? 'none') ?? 0) + repeated);
  }
  return {
    days: days.rows,
    report: days,
    upstreams: upstreams.rows,
    sums,
    accounts: page.accounts,
    isEveryAccount: page.next === null,
    codes: [...codes].toSorted((one, other) => other[1] - one[1]),
    isWhole: refused.next === null,
    models: models.models,
  };
}

function MarginFigures({ name, rows }: { name: string; rows: readonly MarginRowView[] }) {
  const known = (field: 'cost' | 'margin') => {
    const amounts = rows.flatMap((row) => row[field] ?? []);
    return amounts.length === 0 ? undefined : sumOf(amounts);
  };
  const [cost, margin] = [known('cost'), known('margin')];
  const calls = rows.reduce((sum, row) => sum + row.calls, 0);
  const failed = rows.reduce((sum, row) => sum + (row.failed ?? 0), 0);
  return (
    <>
      <Figure name={`Charged ${name}`} note={`${callsInWords(calls)}, ${count(failed)} failed`}>
        <Amount of={sumOf(rows.map(({ charged }) => charged))} />
      </Figure>
      <Figure
        name={`Cost ${name}`}
        note={calls === 0 ? 'no calls' : cost === undefined ? 'no list price is known' : 'by the price list'}
      >
        {cost === undefined ? '–' : <Amount of={cost} />}
      </Figure>
      <Figure name={`Margin ${name}`} note={calls === 0 ? 'no calls' : 'of charges with a known cost'}>
        {margin === undefined ? '–' : <Amount of={margin} />}
      </Figure>
    </>
  );
}

function LargestAccounts({ sums }: { sums: ReadonlyMap<number, AccountSums> }) {
  const largest = [...sums].toSorted((one, other) => Number(other[1].spent) - Number(one[1].spent));
  return (
    <Section title="Largest accounts">
      {largest.length === 0 ? (
        <p className="hint">No calls in 30 days.</p>
      ) : (
        <Table label="Largest accounts" columns={['Account', ['Spent in 30 days', 'number']]}>
          {largest.slice(0, SHOWN).map(([id, { email, spent }]) => (
            <tr key={id}>
              <th scope="row" className="clip">
                <a href={`#/accounts/${id}`}>{email}</a>
              </th>
              <td className="number">
                <Amount of={spent} isInRow />
              </td>
            </tr>
          ))}
        </Table>
      )}
    </Section>
  );
}

function RunningDry(props: {
  accounts: Awaited<ReturnType<typeof read>>['accounts'];
  sums: ReadonlyMap<number, AccountSums>;
  /** False if there are more accounts. */
  isWhole: boolean;
}) {
  const soon = props.accounts.flatMap((account) => {
    const sums = props.sums.get(account.id);
    // One that was used and has nothing left is dry already.
    const left = account.credits_balance <= 0 && sums ? 0 : sums?.daysLeft(account.credits_balance);
    return account.is_active && left !== undefined && left <= SOON_DAYS ? [{ account, left }] : [];
  });
  return (
    <Section title="Accounts that run dry within three days">
      {soon.length === 0 ? (
        <p className="hint">
          {noneRunDry(props.accounts, props.sums)} <a href="#/accounts">See all balances</a>
        </p>
      ) : (
        <Table
          label="Accounts that run dry"
          columns={['Account', ['Balance', 'number'], ['Lasts', 'number']]}
        >
          {soon
            .toSorted((one, other) => one.left - other.left)
            .map(({ account, left }) => (
              <tr key={account.id}>
                <th scope="row" className="clip">
                  <a href={`#/accounts/${account.id}`}>{account.email}</a>
                </th>
                <td className="number">
                  <Amount of={account.credits_balance} isInRow />
                </td>
                <td className="number">{left === 0 ? 'dry' : daysInWords(left)}</td>
              </tr>
            ))}
        </Table>
      )}
      {!props.isWhole && <p className="hint">Of the first {count(MOST_ACCOUNTS)} accounts.</p>}
    </Section>
  );
}

/** The reason why no account runs dry: nothing is spent, every balance lasts, or the pace is unknown. */
function noneRunDry(
  accounts: Awaited<ReturnType<typeof read>>['accounts'],
  sums: ReadonlyMap<number, AccountSums>,
): string {
  if (accounts.length === 0) return 'There are no accounts yet.';
  const spending = accounts.filter(
    ({ id, is_active, credits_balance }) =>
      is_active && sums.get(id)?.daysLeft(credits_balance) !== undefined,
  );
  if (spending.length > 0) return 'At the pace of the last seven days, every balance lasts longer.';
  // Sums of too many accounts have no days.
  return [...sums.values()].some(({ lastUsed }) => lastUsed === '')
    ? 'Unknown: there are too many accounts for sums by day.'
    : 'No account spent credits in the last seven days.';
}

function Failures({ rows }: { rows: readonly MarginRowView[] }) {
  const byUpstream = Map.groupBy(rows, ({ upstream }) => upstream ?? 'none');
  const failures = [...byUpstream]
    .map(([upstream, of]) => ({
      upstream,
      calls: of.reduce((sum, row) => sum + row.calls, 0),
      failed: of.reduce((sum, row) => sum + (row.failed ?? 0), 0),
    }))
    .filter(({ failed }) => failed > 0);
  return (
    <Section title="Failures by provider, 30 days">
      {failures.length === 0 ? (
        <p className="hint">No failed calls.</p>
      ) : (
        <Table label="Failures by provider" columns={['Provider', ['Failed', 'number'], ['Calls', 'number']]}>
          {failures.map(({ upstream, calls, failed }) => (
            <tr key={upstream}>
              <th scope="row">
                <a href={`#/requests?result=failed&range=30d&upstream=${encodeURIComponent(upstream)}`}>
                  {upstream}
                </a>
              </th>
              <td className="number">{count(failed)}</td>
              <td className="number">{count(calls)}</td>
            </tr>
          ))}
        </Table>
      )}
    </Section>
  );
}

function Refusals({ codes, isWhole }: { codes: readonly (readonly [string, number])[]; isWhole: boolean }) {
  return (
    <Section title="Refusals by code, today (UTC)">
      {codes.length === 0 ? (
        <p className="hint">No refused calls.</p>
      ) : (
        <Table label="Refusals by code" columns={['Code', ['Calls', 'number']]}>
          {codes.map(([code, calls]) => (
            <tr key={code}>
              <th scope="row">
                <a href={`#/requests?result=refused&code=${encodeURIComponent(code)}`}>{code}</a>
              </th>
              <td className="number">{count(calls)}</td>
            </tr>
          ))}
        </Table>
      )}
      {!isWhole && <p className="hint">Of the last {MOST_REFUSALS} entries.</p>}
    </Section>
  );
}
