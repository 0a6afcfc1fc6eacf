import type { KeyView } from '../../../api/views/key-view.ts';
import type { LedgerFilter } from '../api/account.ts';
import { KeyChoice } from '../keys/key-choice.tsx';
import { manages } from '../session/session.ts';
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
        value={filter.type}
        choices={Object.entries(ENTRY_NAMES)}
        onValue={(type) => onFilter({ type })}
      />
      <Choice
        label="Model"
        value={filter.model}
        choices={[...known].map((model) => [model, model])}
        onValue={(model) => onFilter({ model })}
      />
      <Day label="From (UTC)" value={filter.from} onValue={(from) => onFilter({ from }, 'replace')} />
      <Day label="To (UTC)" value={filter.to} onValue={(to) => onFilter({ to }, 'replace')} />
    </search>
  );
}

/** Input for one end of a range of UTC days, both of which are included. */
function Day(props: { label: string; value: string; onValue: (day: string) => void }) {
  return (
    <label>
      <span>{props.label}</span>
      <input
        type="date"
        min="1970-01-01"
        max="9999-12-31"
        value={props.value}
        onInput={(event) => {
          const { value, validity } = event.currentTarget;
          // A year that is being typed goes through 0002, 0020 and 0202, which are not valid here; half a date has no
          // value.
          if (validity.valid) props.onValue(value);
        }}
      />
    </label>
  );
}

function Choice(props: {
  label: string;
  value: string;
  choices: readonly (readonly [value: string, name: string])[];
  onValue: (value: string) => void;
}) {
  return (
    <label>
      <span>{props.label}</span>
      <select value={props.value} onChange={(event) => props.onValue(event.currentTarget.value)}>
        <option value="">All</option>
        {props.choices.map(([value, name]) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
