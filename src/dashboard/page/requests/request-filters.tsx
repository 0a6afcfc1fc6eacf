import { useId, useState } from 'react';
import type { KeyView } from '../../../api/keys/key-view.ts';
import type { CallFilter } from '../api/calls.ts';
import { listAccounts } from '../api/operator.ts';
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
  emails,
  onFilter,
}: {
  filter: CallFilter;
  keys: readonly KeyView[] | undefined;
  /** Email addresses of accounts by number, in the list over all accounts. */
  emails: ReadonlyMap<number, string> | undefined;
  onFilter: (changes: Partial<CallFilter>, how?: 'push' | 'replace') => void;
}) {
  const text = (label: string, name: 'code' | 'model' | 'endpoint' | 'upstream') => (
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
      {keys === undefined && (
        <AccountChoice
          key={filter.account_id}
          chosen={emails?.get(Number(filter.account_id)) ?? filter.account_id}
          onChosen={(account_id) => onFilter({ account_id })}
        />
      )}
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

/** Accounts that are looked through for the one whose address is just the typed text. */
const MOST_MATCHES = 50;

/** Field that chooses an account by its number, or by a part of its email address that no other has. */
function AccountChoice({ chosen, onChosen }: { chosen: string; onChosen: (id: string) => void }) {
  const id = useId();
  const [fault, setFault] = useState('');
  const find = async (typed: string) => {
    setFault('');
    if (typed === '' || /^\d+$/.test(typed)) return onChosen(typed);
    try {
      const { accounts } = await listAccounts('', MOST_MATCHES, {}, typed);
      const [first, another] = accounts;
      const one =
        accounts.find(({ email }) => email === typed.toLowerCase()) ?? (another ? undefined : first);
      if (one) onChosen(String(one.id));
      else setFault(first ? 'Several accounts match.' : 'No account matches.');
    } catch {
      setFault('The accounts could not be read.');
    }
  };
  return (
    <div className="field key-choice">
      <label htmlFor={id}>Account</label>
      <input
        key={chosen}
        id={id}
        type="search"
        spellCheck="false"
        autoComplete="off"
        placeholder="Email or number"
        defaultValue={chosen}
        aria-invalid={fault === '' ? undefined : 'true'}
        aria-describedby={`${id}-fault`}
        {...onCommit(chosen, (typed) => void find(typed))}
      />
      <p className="field-error" id={`${id}-fault`} aria-live="polite">
        {fault}
      </p>
    </div>
  );
}
