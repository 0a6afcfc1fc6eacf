import { useQuery } from '@tanstack/react-query';
import type { HealthView } from '../../../api/operator/health-view.ts';
import { POLL_MS, read } from '../data/query.ts';
import { Message } from '../home/attention.tsx';
import { useScope } from '../session/scope.ts';
import { Badge } from '../ui/elements.tsx';
import { Page } from '../ui/page.tsx';
import { Shown } from '../ui/shown.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { type Check, checksOf } from './health-checks.ts';

/** State of the gateway that answers, in words; read again every few seconds. */
export default function HealthPage() {
  const health = useQuery({
    ...read<HealthView>(useScope(), '/api/admin/health/'),
    refetchInterval: POLL_MS,
  });
  return (
    <Page title="Health">
      <p className="lead">
        As seen by the gateway process that answered. The metrics and the Prometheus rules have the same
        values.
      </p>
      <Shown of={health}>
        {(data) => (
          <>
            <Table label="Health" columns={COLUMNS} rows={checksOf(data)} rowKey={({ part }) => part} />
            <p className="hint">Tollgate {data.version}</p>
          </>
        )}
      </Shown>
    </Page>
  );
}

const COLUMNS: readonly Column<Check>[] = [
  { id: 'part', title: 'Part', cell: ({ part }) => part },
  {
    id: 'state',
    title: 'State',
    phone: 'figure',
    cell: ({ kind, word }) => <Badge kind={kind}>{word}</Badge>,
  },
  { id: 'detail', title: 'Detail', cell: ({ detail }) => <Message text={detail} /> },
  { id: 'advice', title: 'What to do', cell: ({ advice = 'Nothing' }) => advice },
];
