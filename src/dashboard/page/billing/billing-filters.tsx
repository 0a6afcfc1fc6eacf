import type { KeyView } from '../../../api/keys/key-view.ts';
import type { LedgerFilter } from '../api/account.ts';
import { KeyChoice } from '../keys/key-choice.tsx';
import { manages } from '../session/session.ts';
import { Choice, Day } from '../ui/filters.tsx';
import { ENTRY_NAMES } from './entry-names.ts';

/** Types of entries that a key which may not manage never sees. */
const OF_THE_ACCOUNT: ReadonlySet<string> = new Set(['top_up', 'adjustment']);

export function LedgerFilters({
  filter,
  keys,
  models,
  onFilter,
}: {
  filter: LedgerFilter;
  /** Keys to choose from; undefined while they load. */
  keys: readonly KeyView[] | undefined;
  models: readonly string[];
  onFilter: (changes: Partial<LedgerFilter>, how?: 'push' | 'replace') => void;
}) {
  // The model of the filter stays a choice even if it was not called in the last 30 days.
  const known = new Set([...models, filter.model].filter(Boolean));
  // Entries of the account itself are of no key. One that the address names stays a choice.
  const types = Object.entries(ENTRY_NAMES).filter(
    ([type]) => manages() || !OF_THE_ACCOUNT.has(type) || type === filter.type,
  );
  return (
    <search className="filters filters-line">
      {manages() && (
        <KeyChoice
          keys={keys ?? []}
          chosen={filter.key_id}
          none="All"
          onChosen={(key_id) => onFilter({ key_id })}
        />
      )}
      <Choice
        label="Type"
        none="All"
        value={filter.type}
        choices={types}
        onValue={(type) => onFilter({ type })}
      />
      <Choice
        label="Model"
        none="All"
        value={filter.model}
        choices={[...known].map((model) => [model, model])}
        onValue={(model) => onFilter({ model })}
      />
      <Day label="From (UTC)" value={filter.from} onValue={(from) => onFilter({ from }, 'replace')} />
      <Day label="To (UTC)" value={filter.to} onValue={(to) => onFilter({ to }, 'replace')} />
    </search>
  );
}
