import type { KeyView } from '../../../api/keys/key-view.ts';
import type { CallFilter } from '../api/calls.ts';
import { KeyChoice } from '../keys/key-choice.tsx';
import { choose } from '../route.ts';
import { manages } from '../session/session.ts';
import { Choice } from '../ui/filters.tsx';
import { onCommit } from '../ui/on-commit.ts';

const RESULTS = [
  ['ok', 'OK'],
  ['refused', 'Refused'],
  ['failed', 'Failed'],
] as const;

/** Filters of requests. `keys`: to choose from; undefined in the list over all accounts. */
export function RequestFilters({
  filter,
  keys,
  onFilter,
}: {
  filter: CallFilter;
  keys: readonly KeyView[] | undefined;
  onFilter: (changes: Partial<CallFilter>, how?: 'push' | 'replace') => void;
}) {
  const text = (label: string, name: 'account_id' | 'code' | 'model' | 'endpoint' | 'upstream') => (
    <label>
      <span>{label}</span>
      <input
        type="search"
        spellCheck="false"
        autoComplete="off"
        placeholder="All"
        defaultValue={filter[name]}
        {...onCommit(filter[name], (value) => onFilter({ [name]: value }))}
      />
    </label>
  );
  return (
    <search className="filters filters-line">
      {keys === undefined && text('Account no.', 'account_id')}
      {keys !== undefined && manages() && (
        <KeyChoice
          keys={keys}
          chosen={filter.key_id}
          none="All"
          onChosen={(key_id) => onFilter({ key_id })}
        />
      )}
      <Choice
        label="Result"
        none="All"
        value={filter.result}
        choices={RESULTS}
        onValue={(result) => onFilter({ result })}
      />
      {text('Error code', 'code')}
      {text('Model', 'model')}
      {text('Endpoint', 'endpoint')}
      {keys === undefined && text('Provider', 'upstream')}
      <label>
        <span>Request ID</span>
        <input
          type="search"
          spellCheck="false"
          autoComplete="off"
          placeholder="Opens the request"
          {...onCommit('', (request) => choose({ request }))}
        />
      </label>
    </search>
  );
}
