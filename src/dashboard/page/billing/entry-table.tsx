import type { KeyView } from '../../../api/keys/key-view.ts';
import type { EntryView } from '../../../api/ledger/entry-view.ts';
import { isGain } from '../format/credits.ts';
import { usageWords } from '../format/usage.ts';
import { KeyLink } from '../keys/key-label.tsx';
import { Amount } from '../ui/amount.tsx';
import { Badge, Time } from '../ui/elements.tsx';
import { Table } from '../ui/table.tsx';
import { EntryDetail } from './entry-detail.tsx';
import { ENTRY_NAMES, named, OUTCOME_NAMES } from './entry-names.ts';

export function EntryTable({
  entries,
  keys,
  hasBalance,
}: {
  entries: readonly EntryView[];
  keys: readonly KeyView[];
  /** False for a key that sees itself only, which is not shown the balance. */
  hasBalance: boolean;
}) {
  return (
    <Table
      label="Ledger entries"
      columns={[
        'Time',
        'Entry',
        ['Credits', 'number'],
        ...(hasBalance ? [['Balance after', 'number'] as const] : []),
        'Key',
        'Used',
        'Answered',
      ]}
    >
      {entries.map((entry) => (
        <tr key={entry.id}>
          <th scope="row" className="nowrap">
            <Time at={entry.created_at} seconds />
          </th>
          <td>
            {named(ENTRY_NAMES, entry.type)}
            {entry.model && <span className="sub">{entry.model}</span>}
            {entry.note && <span className="sub entry-note">{entry.note}</span>}
          </td>
          <td className={isGain(entry.credits) ? 'number gain' : 'number'}>
            <Amount of={entry.credits} isInRow isChange />
          </td>
          {hasBalance && (
            <td className="number">
              {entry.balance_after === null ? '–' : <Amount of={entry.balance_after} isInRow />}
            </td>
          )}
          <td>
            <KeyLink id={entry.key_id} keys={keys} />
          </td>
          <td className="used">
            {usageWords(entry.usage) || '–'}
            {entry.estimated && (
              <>
                {' '}
                <Badge kind="plain">estimated</Badge>
              </>
            )}
            <EntryDetail of={entry} />
          </td>
          <td>{answered(entry)}</td>
        </tr>
      ))}
    </Table>
  );
}

function answered({ status, outcome, endpoint }: EntryView) {
  if (status === null) return '–';
  const isComplete = outcome === 'complete';
  return (
    <span title={endpoint ?? undefined}>
      {isComplete ? status : <Badge kind="warning">{status}</Badge>}
      {!isComplete && outcome && <span className="sub">{named(OUTCOME_NAMES, outcome)}</span>}
    </span>
  );
}
