import { useQuery } from '@tanstack/react-query';
import type { CallPageView } from '../../../api/calls/call-view.ts';
import type { KeyView } from '../../../api/keys/key-view.ts';
import type { UsageReportView } from '../../../api/usage/usage-view.ts';
import { read } from '../data/query.ts';
import { count } from '../format/credits.ts';
import { agoWords } from '../format/duration.ts';
import { thisPeriod } from '../format/words.ts';
import { WhatIsLeft } from '../limits/what-is-left.tsx';
import { Explain } from '../requests/explain.tsx';
import { useScope } from '../session/scope.ts';
import { Amount } from '../ui/amount.tsx';
import { Ago, Badge, Card, Empty, Figure, Figures } from '../ui/elements.tsx';
import { PageLink } from '../ui/link.tsx';
import { Shown } from '../ui/shown.tsx';
import { type Column, Table } from '../ui/table.tsx';

/** What a key does: what is left of its limits, its spend, and its last calls. */
export function KeyOverview({ of: key }: { of: KeyView }) {
  const scope = useScope();
  return (
    <>
      <Spend of={key} />
      <Card title="What is left">
        <WhatIsLeft limits={key.limits} none="This key has no spending limits of its own." />
      </Card>
      <LastCalls of={key} />
      {scope.can('explain calls') && (
        <Card title="Explain a call">
          <details className="more-settings">
            <summary>Would the gateway accept a call with this key?</summary>
            <Explain keyId={key.id} />
          </details>
        </Card>
      )}
    </>
  );
}

function Spend({ of: key }: { of: KeyView }) {
  const scope = useScope();
  const usage = useQuery(read<UsageReportView>(scope, `${scope.api}usage/?group_by=day&key_id=${key.id}`));
  return (
    <Shown of={usage}>
      {({ total }) => (
        <Figures>
          <Figure name={`Spent ${thisPeriod(key.spending_period)}`} note="credits">
            <Amount of={key.spending_current} />
          </Figure>
          <Figure name="Spent in 30 days" note="credits">
            <Amount of={total.credits} />
          </Figure>
          <Figure
            name="Calls in 30 days"
            note={`${count(total.refused ?? 0)} refused, ${count(total.failed ?? 0)} failed`}
          >
            {count(total.calls)}
          </Figure>
        </Figures>
      )}
    </Shown>
  );
}

type Call = CallPageView['calls'][number];

const COLUMNS: readonly Column<Call>[] = [
  {
    id: 'time',
    title: 'Time',
    cell: ({ created_at: at }) => (
      <span className="nowrap">
        <Ago at={at} words={agoWords(at)} />
      </span>
    ),
  },
  { id: 'model', title: 'Model', cell: ({ model }) => model ?? '–' },
  {
    id: 'result',
    title: 'Result',
    cell: (call) => (
      <div>
        {call.code === null ? (
          <Badge kind="good">{call.status}</Badge>
        ) : (
          <Badge kind="bad">{call.code}</Badge>
        )}
        {call.message && <span className="sub">{call.message}</span>}
      </div>
    ),
  },
  {
    id: 'charge',
    title: 'Charge',
    kind: 'number',
    phone: 'figure',
    cell: ({ charge }) => <Amount of={charge} isInRow />,
  },
];

function LastCalls({ of: { id } }: { of: KeyView }) {
  const scope = useScope();
  const calls = useQuery(read<CallPageView>(scope, `${scope.api}calls/?key_id=${id}&limit=5`));
  const choices = { key_id: String(id), range: '30d' };
  return (
    <Card
      title="Last calls"
      actions={
        <PageLink to="requests" choices={choices}>
          All requests
        </PageLink>
      }
    >
      <Shown of={calls}>
        {(page) => (
          <Table
            label="Last calls"
            columns={COLUMNS}
            rows={page.calls}
            rowKey={(call) => call.id}
            empty={<Empty title="No calls with this key yet" />}
          />
        )}
      </Shown>
    </Card>
  );
}
