import type { KeyView } from '../../../api/keys/key-view.ts';
import type { ListedCall } from '../api/calls.ts';
import { named, OUTCOME_NAMES } from '../billing/entry-names.ts';
import { count } from '../format/credits.ts';
import { callDuration } from '../format/duration.ts';
import { keyName } from '../keys/key-label.tsx';
import { Amount } from '../ui/amount.tsx';
import { Badge, Time } from '../ui/elements.tsx';
import { opening, Table } from '../ui/table.tsx';
import { tokensOf } from '../usage/measures.ts';

/** Requests, a line each. `emails`: of accounts, in the operator's list over all of them. */
export function RequestTable({
  calls,
  keys,
  emails,
  onOpen,
}: {
  calls: readonly ListedCall[];
  keys: readonly KeyView[];
  emails: ReadonlyMap<number, string> | undefined;
  onOpen: (call: ListedCall) => void;
}) {
  return (
    <Table
      label="Requests"
      columns={[
        ...(emails ? ['Account'] : []),
        'Time',
        'Key',
        'Model',
        'Status',
        ['Tokens', 'number'],
        ['Charge', 'number'],
        ['Duration', 'number'],
      ]}
    >
      {calls.map((call) => {
        const { account_id = 0, created_at, key_id, model, charge, duration_ms } = call;
        return (
          <tr key={call.id} className="opens compact" onClick={opening(() => onOpen(call))}>
            {emails && (
              <td className="clip-short compact-whole">
                <span title={emails.get(account_id)}>{emails.get(account_id) ?? `No. ${account_id}`}</span>
              </td>
            )}
            <th scope="row" className="nowrap">
              <button type="button" className="link">
                <Time at={created_at} seconds brief />
                <span className="unseen"> Request {call.id}</span>
              </button>
            </th>
            <td className="clip-short">
              <span title={keyName(key_id, keys)}>{keyName(key_id, keys)}</span>
            </td>
            <td className="clip-short at-right">
              <span title={model ?? undefined}>{model ?? '–'}</span>
            </td>
            <td className="clip compact-whole">
              <CallStatus of={call} />
            </td>
            <td className="number compact-hidden">{count(tokensOf(call.usage))}</td>
            <td className="number compact-figure">
              <Amount of={charge} isInRow />
            </td>
            <td className="number compact-hidden">
              {duration_ms === null ? '–' : callDuration(duration_ms)}
            </td>
          </tr>
        );
      })}
    </Table>
  );
}

/** The status with the code of the error, and the number of calls that the line stands for. */
export function CallStatus({ of: { status, outcome, code, repeated } }: { of: ListedCall }) {
  // A status of success says nothing of how the answer ended.
  const isBroken = outcome !== null && outcome !== 'complete' && status !== null && status < 400;
  const kind = outcome === 'complete' ? 'good' : outcome === 'refused' ? 'warning' : 'bad';
  return (
    <>
      <Badge kind={kind}>{isBroken ? named(OUTCOME_NAMES, outcome) : (status ?? '–')}</Badge>{' '}
      {code ?? (isBroken || outcome === 'complete' ? '' : named(OUTCOME_NAMES, outcome ?? ''))}
      {repeated > 1 && ` × ${count(repeated)}`}
    </>
  );
}
