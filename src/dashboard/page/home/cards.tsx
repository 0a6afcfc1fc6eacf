import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { CallSummaryView } from '../../../api/calls/summary-view.ts';
import type { KeyListView } from '../../../api/keys/key-view.ts';
import type { AccountLimitsView } from '../../../api/limits/account-limit-view.ts';
import type { UsageReportView } from '../../../api/usage/usage-view.ts';
import { POLL_MS, read } from '../data/query.ts';
import { rounded } from '../format/amount.ts';
import { count } from '../format/credits.ts';
import { agoWords } from '../format/duration.ts';
import { STATUSES } from '../format/words.ts';
import { limitOf, WhatIsLeft } from '../limits/what-is-left.tsx';
import { useScope } from '../session/scope.ts';
import { Amount } from '../ui/amount.tsx';
import { StackedBars } from '../ui/chart.tsx';
import { Ago, Badge, Card, Empty } from '../ui/elements.tsx';
import { PageLink } from '../ui/link.tsx';
import { type Range, RangePicker, useRange } from '../ui/range.tsx';
import { Shown } from '../ui/shown.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { barsOf } from '../usage/sums.ts';
import { dayOf } from './pace.ts';

const DAY_MS = 86_400_000;
const FALLBACK = '30d';
/** Names of models other than their ids. */
const NAMES = new Map([['', 'No model']]);

/**
 * A range as reports of usage take it. Hours are those of the last 24, which is their default; named ranges count today,
 * chosen ones the days that they touch.
 */
function daysOf({ name, from, to }: Range): string {
  const first = Date.parse(from) + (name === 'own' ? 0 : DAY_MS);
  const last = to === '' ? Date.now() : Date.parse(to) - 1;
  return `${from === '' ? '' : `&from=${dayOf(first)}`}&to=${dayOf(last)}`;
}

/** Spend over the chosen range, stacked by model. */
export function SpendByModel() {
  const scope = useScope();
  const range = useRange(FALLBACK);
  const isHours = range.name === '24h';
  const span = isHours ? '' : daysOf(range);
  const usage = useQuery({
    ...read<UsageReportView>(scope, `${scope.api}usage/?group_by=${isHours ? 'hour' : 'day'},model${span}`),
    placeholderData: keepPreviousData,
  });
  return (
    <Card
      title="Spend by model"
      actions={<RangePicker names={['24h', '7d', '30d', '90d']} fallback={FALLBACK} />}
    >
      <Shown of={usage}>
        {(report) => (
          <StackedBars
            label="Spend by model"
            {...barsOf(report, 'model', 'credits', NAMES, Date.now())}
            unit={report.group_by.startsWith('hour') ? 'hour' : 'day'}
            format={rounded}
            empty={
              <Empty title="Nothing spent in this range">
                <p>Spend appears here by model.</p>
              </Empty>
            }
          />
        )}
      </Shown>
    </Card>
  );
}

/** The limits of which the largest share is spent. */
export function NearestLimits() {
  const scope = useScope();
  const limits = useQuery({
    ...read<AccountLimitsView>(scope, `${scope.api}limits/?limit=3`),
    refetchInterval: POLL_MS,
  });
  return (
    <Card title="Limits nearest their end" actions={<PageLink to="limits">All limits</PageLink>}>
      <Shown of={limits}>
        {(list) => <WhatIsLeft limits={list.limits.map(limitOf)} none="No spending limit is set." />}
      </Shown>
    </Card>
  );
}

const ERRORS_SHOWN = 5;
type ErrorGroup = CallSummaryView['groups'][number];

/** Refused and failed calls of the last 24 hours, equal ones together, each a link to exactly those. */
export function Errors({ title = 'Errors in 24 hours' }: { title?: string }) {
  const scope = useScope();
  const from = new Date(Math.floor(Date.now() / 60_000) * 60_000 - DAY_MS).toISOString();
  const summary = useQuery({
    ...read<CallSummaryView>(scope, `${scope.api}calls/summary/?from=${from}`),
    refetchInterval: POLL_MS,
    // Each minute asks for another span.
    placeholderData: keepPreviousData,
  });
  return (
    <Card title={title} actions={<PageLink to="requests">All requests</PageLink>}>
      <Shown of={summary}>
        {({ groups }) => (
          <>
            <Table
              label={title}
              columns={ERROR_COLUMNS}
              rows={groups.slice(0, ERRORS_SHOWN)}
              rowKey={({ code, endpoint, model }) => `${code} ${endpoint} ${model}`}
              empty={<p className="hint">No refused or failed calls.</p>}
            />
            {groups.length > ERRORS_SHOWN && (
              <p className="hint">
                The {ERRORS_SHOWN} most frequent of {groups.length}.
              </p>
            )}
          </>
        )}
      </Shown>
    </Card>
  );
}

const ERROR_COLUMNS: readonly Column<ErrorGroup>[] = [
  {
    id: 'code',
    title: 'Error',
    cell: ({ code, endpoint, model }) => (
      <div>
        <PageLink
          to="requests"
          choices={{
            code,
            range: '24h',
            ...(model !== null && { model }),
            ...(endpoint !== null && { endpoint }),
          }}
        >
          {code}
        </PageLink>
        <span className="sub">{model ?? endpoint}</span>
      </div>
    ),
  },
  { id: 'count', title: 'Calls', kind: 'number', cell: ({ count: calls }) => count(calls) },
  {
    id: 'last',
    title: 'Last',
    kind: 'number',
    cell: ({ last_at }) => <Ago at={last_at} words={agoWords(last_at)} />,
  },
];

const KEYS_SHOWN = 8;

/** Spend of 30 days by key. */
export function SpendByKey() {
  const scope = useScope();
  const usage = useQuery(read<UsageReportView>(scope, `${scope.api}usage/?group_by=key`));
  return (
    <Card title="Spend by key, 30 days" actions={<PageLink to="usage">Usage</PageLink>}>
      <Shown of={usage}>
        {({ rows }) => (
          <>
            <Table
              label="Spend by key"
              columns={SPEND_COLUMNS}
              rows={rows
                .toSorted((one, other) => Number(other.credits) - Number(one.credits))
                .slice(0, KEYS_SHOWN)}
              rowKey={({ key_id }) => key_id ?? 0}
              empty={<p className="hint">No calls in 30 days.</p>}
            />
            {rows.length > KEYS_SHOWN && (
              <p className="hint">
                The {KEYS_SHOWN} with the largest spend of {count(rows.length)}.
              </p>
            )}
          </>
        )}
      </Shown>
    </Card>
  );
}

const SPEND_COLUMNS: readonly Column<UsageReportView['rows'][number]>[] = [
  { id: 'key', title: 'Key', cell: ({ key_id, key_name }) => key_name ?? `No. ${key_id}` },
  { id: 'calls', title: 'Calls', kind: 'number', cell: ({ calls }) => count(calls) },
  {
    id: 'spend',
    title: 'Spent',
    kind: 'number',
    cell: ({ credits }) => <Amount of={credits} isInRow />,
  },
];

/** The first keys of the reader with what is left of each. */
export function MyKeys({ create }: { create: ReactNode }) {
  const scope = useScope();
  const keys = useQuery(read<KeyListView>(scope, `${scope.keysApi}?limit=4`));
  return (
    <Card title="My keys" actions={<PageLink to="keys">All my keys</PageLink>}>
      <Shown of={keys}>
        {({ keys: [first, second, third, ...more] }) =>
          first === undefined ? (
            <Empty title="You have no key yet">{create}</Empty>
          ) : (
            <>
              <Table
                label="My keys"
                columns={KEY_COLUMNS}
                rows={[first, second, third].filter((key) => key !== undefined)}
                rowKey={({ id }) => id}
              />
              {more.length > 0 && <p className="hint">There are more on My keys.</p>}
            </>
          )
        }
      </Shown>
    </Card>
  );
}

const KEY_COLUMNS: readonly Column<KeyListView['keys'][number]>[] = [
  { id: 'name', title: 'Key', cell: ({ id, name }) => <PageLink to={`keys/${id}`}>{name}</PageLink> },
  {
    id: 'status',
    title: 'Status',
    cell: ({ status }) => {
      const [words, kind] = STATUSES[status];
      return <Badge kind={kind}>{words}</Badge>;
    },
  },
  {
    id: 'last',
    title: 'Last used',
    kind: 'number',
    cell: ({ last_used_at: at }) => (at === null ? 'never' : <Ago at={at} words={agoWords(at)} />),
  },
];
