import type { KeyView } from '../../../api/views/key-view.ts';
import type { LedgerFilter } from '../api/account.ts';
import { KeyChoice } from '../keys/key-choice.tsx';
import { manages } from '../session/session.ts';
import { Choice, Day } from '../ui/filters.tsx';
import { ENTRY_NAMES } from './entry-names.ts';

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
  return (
    <search class="filters">
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
        choices={Object.entries(ENTRY_NAMES)}
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
