import type { KeyView } from '../../../domain/key-view.ts';
import type { LedgerFilter } from '../api/account.ts';
import { ENTRY_NAMES } from './entry-names.ts';

export function LedgerFilters({
  filter,
  keys,
  models,
  onFilter,
}: {
  filter: LedgerFilter;
  keys: readonly KeyView[];
  models: readonly string[];
  onFilter: (filter: LedgerFilter) => void;
}) {
  return (
    <search class="filters">
      <Choice
        label="Key"
        value={filter.key_id}
        choices={keys.map((key) => [String(key.id), `${key.name} (${key.prefix}…)`])}
        onValue={(key_id) => onFilter({ ...filter, key_id })}
      />
      <Choice
        label="Type"
        value={filter.type}
        choices={Object.entries(ENTRY_NAMES)}
        onValue={(type) => onFilter({ ...filter, type })}
      />
      <Choice
        label="Model"
        value={filter.model}
        choices={models.map((model) => [model, model])}
        onValue={(model) => onFilter({ ...filter, model })}
      />
    </search>
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
