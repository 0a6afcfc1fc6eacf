import type { AlertView, DeliveryView } from '../../../api/alerts/alert-view.ts';
import type { KeyView } from '../../../api/keys/key-view.ts';
import { KeyLink } from '../keys/key-label.tsx';
import { Amount } from '../ui/amount.tsx';
import { Badge, Empty, Section, Time } from '../ui/elements.tsx';
import { Table } from '../ui/table.tsx';

/** Table of the alerts with the outcome of each delivery. */
export function Events({ alerts, keys }: { alerts: readonly AlertView[]; keys: readonly KeyView[] }) {
  return (
    <Section title="Events">
      {alerts.length === 0 ? (
        <Empty title="No alerts yet">
          <p>Alerts appear here with the result of each delivery.</p>
        </Empty>
      ) : (
        <ul className="events">
          {alerts.map((alert) => (
            <AlertEvent key={alert.id} of={alert} keys={keys} />
          ))}
        </ul>
      )}
    </Section>
  );
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
  reset: 'The receiver closed the connection without an answer.',
  timeout: 'The receiver did not respond in time.',
  certificate: "The receiver's certificate is not valid for its name, or nobody vouches for it.",
  tls: 'The receiver does not speak TLS, or not the same version.',
  protocol: 'The receiver did not answer in HTTP.',
  blocked: 'The address is not public.',
  http_status: 'The receiver did not return a 2xx status.',
};

/** Explanation of a delivery's outcome, for the person who has to fix it. */
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

function AlertEvent({ of: alert, keys }: { of: AlertView; keys: readonly KeyView[] }) {
  return (
    <li>
      <p>
        <strong>{alert.test ? 'Test alert' : 'Low credits'}</strong> <Time at={alert.created_at} seconds />,
        at a balance of <Amount of={alert.credits_balance} />
      </p>
      {alert.deliveries.length === 0 ? (
        <p className="hint">Sent to nobody: no active key had a webhook address.</p>
      ) : (
        <Table label={`Deliveries of alert ${alert.id}`} columns={['Key', 'Outcome', 'Answer', 'Address']}>
          {alert.deliveries.map((delivery) => (
            <tr key={delivery.key_id}>
              <th scope="row" className="clip-short">
                <KeyLink id={delivery.key_id} keys={keys} />
              </th>
              <td>
                <Badge kind={OUTCOMES[delivery.status].kind}>{OUTCOMES[delivery.status].word}</Badge>
                <span className="sub">{meaningOf(delivery)}</span>
              </td>
              <td className="nowrap">{answerOf(delivery)}</td>
              <td className="address">{delivery.url}</td>
            </tr>
          ))}
        </Table>
      )}
    </li>
  );
}

/** Text with the status that a receiver answered, and after how long. */
function answerOf({ http_status: answer, duration_ms: ms }: DeliveryView): string {
  const after = ms === null ? '' : ` after ${Math.round(ms)} ms`;
  return answer === null ? `none${after && `, given up${after}`}` : `${answer}${after}`;
}
