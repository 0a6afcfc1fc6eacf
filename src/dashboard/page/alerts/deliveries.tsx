import type { AlertListView, AlertView, DeliveryView, ReceiverView } from '../../../api/alerts/alert-view.ts';
import { useScope } from '../session/scope.ts';
import { Amount } from '../ui/amount.tsx';
import { Badge, Card, Empty, Time } from '../ui/elements.tsx';
import { PageLink } from '../ui/link.tsx';
import { type Column, Table } from '../ui/table.tsx';

const RECEIVER_COLUMNS: readonly Column<ReceiverView>[] = [
  {
    id: 'key',
    title: 'Key',
    cell: ({ key_id, key_name }) => <KeyLink id={key_id} name={key_name} />,
    sort: ({ key_name }) => key_name,
  },
  { id: 'url', title: 'Address', cell: ({ url }) => <div className="alert-address">{url}</div> },
  {
    id: 'last',
    title: 'Last delivery',
    cell: ({ last }) => (last === null ? 'Nothing was sent yet' : <Outcome of={last} />),
  },
  {
    id: 'at',
    title: 'Time',
    cell: ({ last }) => (last === null ? '–' : <Time at={last.attempted_at} brief />),
  },
];

/** The keys and addresses that get the next alert. */
export function Receivers({ of: receivers }: { of: readonly ReceiverView[] }) {
  return (
    <Card title="Receivers">
      <Table
        label="Receivers"
        columns={RECEIVER_COLUMNS}
        rows={receivers}
        rowKey={({ key_id }) => key_id}
        empty={
          <Empty title="Nobody gets alerts">
            <p>No active key has a webhook. Set one in the settings of a key.</p>
          </Empty>
        }
      />
    </Card>
  );
}

/** The newest alerts with the outcome of each delivery. */
export function Alerts({ of: { alerts, receivers } }: { of: AlertListView }) {
  const names = new Map(receivers.map(({ key_id, key_name }) => [key_id, key_name]));
  return (
    <Card title="Alerts sent">
      {alerts.length === 0 ? (
        <Empty title="No alerts yet">
          <p>Alerts appear here with the result of each delivery.</p>
        </Empty>
      ) : (
        alerts.map((alert) => <Alert key={alert.id} of={alert} names={names} />)
      )}
    </Card>
  );
}

function Alert({ of: alert, names }: { of: AlertView; names: ReadonlyMap<number, string> }) {
  const columns: readonly Column<DeliveryView>[] = [
    {
      id: 'key',
      title: 'Key',
      cell: ({ key_id }) => <KeyLink id={key_id} name={names.get(key_id) ?? `Key ${key_id}`} />,
    },
    { id: 'outcome', title: 'Result', cell: (delivery) => <Outcome of={delivery} /> },
    { id: 'answer', title: 'Response', cell: answerOf },
    { id: 'url', title: 'Address', cell: ({ url }) => <div className="alert-address">{url}</div> },
  ];
  return (
    <div className="alert">
      <p>
        <strong>{alert.test ? 'Test alert' : 'Low credits'}</strong> <Time at={alert.created_at} seconds />,
        at a balance of <Amount of={alert.credits_balance} />
      </p>
      {alert.deliveries.length === 0 ? (
        <p className="hint">Sent to nobody: no active key had a webhook.</p>
      ) : (
        <Table
          label={`Deliveries of alert ${alert.id}`}
          columns={columns}
          rows={alert.deliveries}
          rowKey={({ key_id }) => key_id}
        />
      )}
    </div>
  );
}

function KeyLink({ id, name }: { id: number; name: string }) {
  const scope = useScope();
  return scope.can('read keys') ? <PageLink to={`keys/${id}`}>{name}</PageLink> : name;
}

const OUTCOMES: Readonly<Record<DeliveryView['status'], { kind: 'good' | 'bad' | 'warning'; word: string }>> =
  {
    delivered: { kind: 'good', word: 'Delivered' },
    failed: { kind: 'bad', word: 'Failed' },
    timeout: { kind: 'bad', word: 'Timed out' },
    blocked: { kind: 'bad', word: 'Blocked' },
    unknown: { kind: 'warning', word: 'Unknown' },
  };

const REASONS: Readonly<Record<NonNullable<DeliveryView['error']>, string>> = {
  dns: 'The host name has no address.',
  refused: 'The receiver refused the connection, or no network leads there.',
  reset: 'The receiver closed the connection without a response.',
  timeout: 'The receiver did not respond in time.',
  certificate: "The receiver's certificate is not valid for its name, or no known authority signed it.",
  tls: 'The receiver does not speak TLS, or not the same version.',
  protocol: 'The receiver did not respond in HTTP.',
  blocked: 'The address is not public.',
  http_status: 'The receiver did not return a 2xx status.',
};

/** Explains a delivery's outcome to the person who has to fix it. */
function meaningOf({ status, http_status: answer, error }: DeliveryView): string {
  switch (status) {
    case 'delivered':
      return '';
    case 'timeout':
      return 'The receiver did not respond within 10 seconds.';
    case 'blocked':
      return 'Not sent, because the host resolves to an address that is not public.';
    case 'unknown':
      return 'No response yet, or the gateway stopped while sending. It is not resent.';
  }
  if (answer === null) return error === null ? 'No connection.' : REASONS[error];
  if (answer >= 300 && answer < 400)
    return 'The receiver returned a redirect, which is not followed. Set the webhook URL to its target.';
  return 'The receiver did not return a 2xx status.';
}

function Outcome({ of: delivery }: { of: DeliveryView }) {
  const { kind, word } = OUTCOMES[delivery.status];
  const meaning = meaningOf(delivery);
  return (
    <div>
      <Badge kind={kind}>{word}</Badge>
      {meaning && <span className="sub">{meaning}</span>}
    </div>
  );
}

/** The status that a receiver returned, and after how long. */
function answerOf({ http_status: answer, duration_ms: ms }: DeliveryView): string {
  const after = ms === null ? '' : ` after ${Math.round(ms)} ms`;
  return answer === null ? `None${after && `, given up${after}`}` : `${answer}${after}`;
}
