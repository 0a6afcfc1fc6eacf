import type { KeyView } from '../../../domain/key-view.ts';
import type { Alert, Delivery } from '../api/account.ts';
import { credits } from '../format/credits.ts';
import { keyName } from '../keys/key-name.ts';
import { Badge } from '../ui/badge.tsx';
import { Table } from '../ui/table.tsx';
import { Time } from '../ui/time.tsx';

/** What each outcome means to whoever has to mend it. */
const OUTCOMES: Readonly<
  Record<Delivery['status'], { kind: 'good' | 'bad' | 'warning'; word: string; meaning: string }>
> = {
  delivered: { kind: 'good', word: 'Delivered', meaning: '' },
  failed: { kind: 'bad', word: 'Failed', meaning: 'not reached, or not answered with a 2xx' },
  timeout: { kind: 'bad', word: 'Timed out', meaning: 'no answer within 10 seconds' },
  blocked: { kind: 'bad', word: 'Blocked', meaning: 'not a public address' },
  unknown: {
    kind: 'warning',
    word: 'Unknown',
    meaning: 'not answered yet, or the gateway stopped while sending',
  },
};

export function AlertEvent({ of: alert, keys }: { of: Alert; keys: readonly KeyView[] }) {
  return (
    <li>
      <p>
        <strong>{alert.test ? 'Test alert' : 'Low credits'}</strong> <Time at={alert.created_at} seconds />,
        at a balance of {credits(alert.credits_balance)}
      </p>
      {alert.deliveries.length === 0 ? (
        <p class="hint">Sent to nobody: no active key had a webhook address.</p>
      ) : (
        <Table label={`Deliveries of alert ${alert.id}`} columns={['Key', 'Outcome', 'Answer', 'Address']}>
          {alert.deliveries.map((delivery) => (
            <tr key={delivery.key_id}>
              <th scope="row">
                <a href={`#/keys/${delivery.key_id}`}>{keyName(delivery.key_id, keys)}</a>
              </th>
              <td>
                <Badge kind={OUTCOMES[delivery.status].kind}>{OUTCOMES[delivery.status].word}</Badge>
                <span class="sub">{OUTCOMES[delivery.status].meaning}</span>
              </td>
              <td class="nowrap">
                {delivery.http_status ?? 'none'}
                {delivery.duration_ms !== null && ` in ${Math.round(delivery.duration_ms)} ms`}
              </td>
              <td class="address">{delivery.url}</td>
            </tr>
          ))}
        </Table>
      )}
    </li>
  );
}
