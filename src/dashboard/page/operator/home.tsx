import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { AccountPageView } from '../../../api/account/account-view.ts';
import type { OperatorCallSummaryView } from '../../../api/calls/summary-view.ts';
import type { OperatorModelListView } from '../../../api/models/model-view.ts';
import type { MarginReportView } from '../../../api/operator/margin-view.ts';
import { POLL_MS, read } from '../data/query.ts';
import { callsInWords, count } from '../format/credits.ts';
import { Attention } from '../home/attention.tsx';
import { dayOf, percent, sumOf } from '../home/pace.ts';
import { useScope } from '../session/scope.ts';
import { Amount } from '../ui/amount.tsx';
import { Card, Figure, Figures } from '../ui/elements.tsx';
import { PageLink } from '../ui/link.tsx';
import { Page } from '../ui/page.tsx';
import { Shown } from '../ui/shown.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { type ProviderErrors, providerErrors } from './provider-errors.ts';
import '../style/home.css';

const SHOWN = 5;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Sums over a day are read less often than what changes by the minute. */
const SLOW_POLL_MS = 4 * POLL_MS;

/** First page of the operator: what needs attention, what is earned, and what fails. Each card fails alone. */
export default function OperatorHomePage() {
  return (
    <Page title="Home">
      <Attention />
      <FirstSteps />
      <Money />
      <div className="columns">
        <Providers />
        <LargestAccounts />
        <Refusals />
      </div>
    </Page>
  );
}

/** Charges, cost and margin of today, with the part of the charges for which the cost is known. */
function Money() {
  const scope = useScope();
  const days = useQuery({
    ...read<MarginReportView>(scope, '/api/admin/usage/?group_by=day'),
    refetchInterval: POLL_MS,
  });
  return (
    <Shown of={days}>
      {({ rows, total }) => {
        const today = rows.filter(({ day }) => day === dayOf(Date.now()));
        const sum = (field: 'charged' | 'charged_with_cost' | 'cost' | 'margin') =>
          sumOf(today.flatMap((row) => row[field] ?? []));
        const calls = today.reduce((all, row) => all + row.calls, 0);
        const failed = today.reduce((all, row) => all + (row.failed ?? 0), 0);
        const isKnown = today.some(({ cost }) => cost !== null);
        const [charged, known] = [sum('charged'), sum('charged_with_cost')];
        const share = percent(Number(known), Number(charged));
        const coverage = isKnown ? `known for ${share} of charges` : 'no list price is known';
        return (
          <Figures>
            <Figure name="Charged today" note={`${callsInWords(calls)}, ${count(failed)} failed`}>
              <Amount of={charged} />
            </Figure>
            <Figure name="Cost today" note={calls === 0 ? 'no calls' : coverage}>
              {isKnown ? <Amount of={sum('cost')} /> : '–'}
            </Figure>
            <Figure
              name="Margin today"
              note={
                isKnown ? (
                  <>
                    on <Amount of={known} /> of charges
                  </>
                ) : calls === 0 ? (
                  'no calls'
                ) : (
                  coverage
                )
              }
            >
              {isKnown ? <Amount of={sum('margin')} /> : '–'}
            </Figure>
            <Figure name="Charged in 30 days" note={callsInWords(total.calls)}>
              <Amount of={total.charged} />
            </Figure>
          </Figures>
        );
      }}
    </Shown>
  );
}

/** Sums of the calls of a span that ends now, of one result or all. Each minute asks for another span. */
function useSummary(spanMs: number, result?: 'failed' | 'refused') {
  const from = new Date(Math.floor(Date.now() / 60_000) * 60_000 - spanMs).toISOString();
  const path = `/api/admin/calls/summary/?from=${from}${result === undefined ? '' : `&result=${result}`}`;
  return useQuery({
    ...read<OperatorCallSummaryView>(useScope(), path),
    refetchInterval: spanMs > HOUR_MS ? SLOW_POLL_MS : POLL_MS,
    placeholderData: keepPreviousData,
  });
}

/** Error rates of the providers, worst first. */
function Providers() {
  const [hour, hourFailed] = [useSummary(HOUR_MS), useSummary(HOUR_MS, 'failed')];
  const [day, dayFailed] = [useSummary(DAY_MS), useSummary(DAY_MS, 'failed')];
  return (
    <Card title="Errors by provider" actions={<PageLink to="providers">Providers</PageLink>}>
      <Shown of={day}>
        {(ofDay) => (
          <Shown of={dayFailed}>
            {(failedOfDay) => (
              <Shown of={hour}>
                {(ofHour) => (
                  <Shown of={hourFailed}>
                    {(failedOfHour) => (
                      <Table
                        label="Errors by provider"
                        columns={PROVIDER_COLUMNS}
                        rows={providerErrors(
                          { calls: ofHour, failed: failedOfHour },
                          { calls: ofDay, failed: failedOfDay },
                        )}
                        rowKey={({ provider }) => provider}
                        empty={<p className="hint">No calls reached a provider in 24 hours.</p>}
                      />
                    )}
                  </Shown>
                )}
              </Shown>
            )}
          </Shown>
        )}
      </Shown>
    </Card>
  );
}

const partColumn = (id: 'hour' | 'day', title: string, range: string): Column<ProviderErrors> => ({
  id,
  title,
  kind: 'number',
  cell: ({ provider, [id]: { failed, calls } }) =>
    failed === 0 ? (
      calls === 0 ? (
        '–'
      ) : (
        '0%'
      )
    ) : (
      <PageLink
        to="requests"
        choices={{ result: 'failed', upstream: provider, range }}
        aria-label={`${count(failed)} of ${callsInWords(calls)} at ${provider} failed`}
      >
        {percent(failed, calls)} of {count(calls)}
      </PageLink>
    ),
});

const PROVIDER_COLUMNS: readonly Column<ProviderErrors>[] = [
  { id: 'provider', title: 'Provider', cell: ({ provider }) => provider },
  partColumn('hour', '1 hour', '1h'),
  partColumn('day', '24 hours', '24h'),
];

type Row = MarginReportView['rows'][number];

function LargestAccounts() {
  const usage = useQuery({
    ...read<MarginReportView>(useScope(), '/api/admin/usage/?group_by=account'),
    refetchInterval: SLOW_POLL_MS,
  });
  return (
    <Card title="Accounts by spend, 30 days" actions={<PageLink to="accounts">All accounts</PageLink>}>
      <Shown of={usage}>
        {({ rows }) => (
          <Table
            label="Accounts by spend"
            columns={ACCOUNT_COLUMNS}
            rows={rows.toSorted((one, other) => Number(other.charged) - Number(one.charged)).slice(0, SHOWN)}
            rowKey={({ account_id }) => account_id ?? 0}
            empty={<p className="hint">No calls in 30 days.</p>}
          />
        )}
      </Shown>
    </Card>
  );
}

const ACCOUNT_COLUMNS: readonly Column<Row>[] = [
  {
    id: 'account',
    title: 'Account',
    cell: ({ account_id, email }) => (
      <PageLink to={`/operator/accounts/${account_id}/home`}>{email ?? `No. ${account_id}`}</PageLink>
    ),
  },
  { id: 'calls', title: 'Calls', kind: 'number', cell: ({ calls }) => count(calls) },
  {
    id: 'charged',
    title: 'Spent',
    kind: 'number',
    cell: ({ charged }) => <Amount of={charged} isInRow />,
  },
];

type Code = OperatorCallSummaryView['codes'][number];

function Refusals() {
  const summary = useSummary(DAY_MS, 'refused');
  return (
    <Card title="Refusals in 24 hours" actions={<PageLink to="requests">All requests</PageLink>}>
      <Shown of={summary}>
        {({ codes, total }) => (
          <>
            <Table
              label="Refusals by code"
              columns={CODE_COLUMNS}
              rows={codes.slice(0, SHOWN)}
              rowKey={({ code }) => code}
              empty={<p className="hint">No refused calls.</p>}
            />
            {codes.length > SHOWN && (
              <p className="hint">
                The {SHOWN} most frequent of {codes.length} codes; {callsInWords(total)} in all.
              </p>
            )}
          </>
        )}
      </Shown>
    </Card>
  );
}

const CODE_COLUMNS: readonly Column<Code>[] = [
  {
    id: 'code',
    title: 'Code',
    cell: ({ code }) => (
      <PageLink to="requests" choices={{ result: 'refused', code, range: '24h' }}>
        {code}
      </PageLink>
    ),
  },
  { id: 'calls', title: 'Calls', kind: 'number', cell: ({ count: calls }) => count(calls) },
];

/** What a new operator does next, each step until it is done; nothing once there is a provider and a second account. */
function FirstSteps() {
  const scope = useScope();
  const accounts = useQuery(read<AccountPageView>(scope, '/api/admin/accounts/?limit=2'));
  const models = useQuery(read<OperatorModelListView>(scope, '/api/admin/models/'));
  // Cards that fail say so themselves; these steps are only a help.
  if (!accounts.data || !models.data) return null;
  const all = models.data.models;
  const hasProvider = all.some(({ targets }) => targets.some((target) => !target.startsWith('demo')));
  const hasMarkup = all.some(
    ({ price, list_price }) => list_price && JSON.stringify(price) !== JSON.stringify(list_price),
  );
  // The demo has one account of its own.
  const hasAccount = accounts.data.accounts.length > 1;
  if (hasProvider && hasAccount) return null;
  return (
    <Card title="What to do next">
      <ol className="steps">
        <Step title="Connect a provider" isDone={hasProvider}>
          Start the gateway with <code>OPENAI_API_KEY</code> or another provider's variable.{' '}
          <PageLink to="providers">Providers</PageLink> then shows it.
        </Step>
        <Step title="Create an account and invite its owner" isDone={hasAccount}>
          Each customer or team has an account with credits, people and keys.{' '}
          <PageLink to="accounts/new">Create account</PageLink>
        </Step>
        <Step title="Choose a markup" isDone={hasMarkup}>
          Set <code>pricing.markup</code> in the configuration. Without it, you charge what providers take.{' '}
          <PageLink to="models">Models</PageLink> shows both prices.
        </Step>
      </ol>
    </Card>
  );
}

function Step({ title, isDone, children }: { title: string; isDone: boolean; children: ReactNode }) {
  return (
    <li className={isDone ? 'step-done' : undefined}>
      <strong>
        {isDone ? '✓ ' : ''}
        {title}
      </strong>
      <p className="hint">{isDone ? 'Done.' : children}</p>
    </li>
  );
}
