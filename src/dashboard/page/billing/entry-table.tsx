import type { KeyView } from '../../../api/keys/key-view.ts';
import type { EntryView } from '../../../api/ledger/entry-view.ts';
import { isGain } from '../format/credits.ts';
import { shortUsage, usageWords } from '../format/usage.ts';
import { KeyLink } from '../keys/key-label.tsx';
import { Amount } from '../ui/amount.tsx';
import { Badge, Time } from '../ui/elements.tsx';
import { opening, Table } from '../ui/table.tsx';
import { ENTRY_NAMES, named, OUTCOME_NAMES } from './entry-names.ts';

/** Ledger entries, a line each. */
export function EntryTable({
  entries,
  keys,
  hasBalance,
  onOpen,
}: {
  entries: readonly EntryView[];
  keys: readonly KeyView[];
  /** False for a key that sees itself only, which is not shown the balance. */
  hasBalance: boolean;
  onOpen: (entry: EntryView) => void;
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
        ['Used', 'wide-only'],
        ['Status', 'number'],
      ]}
    >
      {entries.map((entry) => (
        <tr key={entry.id} className="opens compact" onClick={opening(() => onOpen(entry))}>
          <th scope="row" className="nowrap">
            <button type="button" className="link">
              <Time at={entry.created_at} seconds brief />
              <span className="unseen"> Details of {entry.id}</span>
            </button>
          </th>
          <td className="clip compact-whole">
            {named(ENTRY_NAMES, entry.type)}
            {(entry.model ?? entry.note) && (
              <>
                {' '}
                <span className="beside">{entry.model ?? entry.note}</span>
              </>
            )}
          </td>
          <td className={isGain(entry.credits) ? 'number compact-figure gain' : 'number compact-figure'}>
            <Amount of={entry.credits} isInRow isChange />
          </td>
          {hasBalance && (
            <td className="number compact-hidden">
              {entry.balance_after === null ? '–' : <Amount of={entry.balance_after} isInRow />}
            </td>
          )}
          <td className="clip-short">
            <KeyLink id={entry.key_id} keys={keys} />
          </td>
          <td className="clip used wide-only compact-hidden">
            <span title={usageWords(entry.usage) || undefined}>
              {entry.estimated && <Badge kind="plain">estimated</Badge>} {shortUsage(entry.usage) || '–'}
            </span>
          </td>
          <td className="number at-right">{status(entry)}</td>
        </tr>
      ))}
    </Table>
  );
}

function status({ status: answered, outcome }: EntryView) {
  if (answered === null) return '–';
  if (outcome === null || outcome === 'complete') return answered;
  // A status of success says nothing of how the answer ended.
  const words = answered < 400 ? named(OUTCOME_NAMES, outcome) : String(answered);
  return (
    <Badge kind="bad" title={words}>
      {words}
    </Badge>
  );
}
