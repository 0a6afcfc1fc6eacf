import { Button, TextInput } from '@mantine/core';
import { useState } from 'react';
import { count } from '../format/credits.ts';
import { useScope } from '../session/scope.ts';
import { useChoices } from '../ui/choices.ts';
import { ClearFilters } from '../ui/filters.tsx';
import { FIRST_PAGE } from '../ui/pager.tsx';
import type { Summary } from './columns.tsx';

/** Filters by their names in the API and the address, with their titles; those of the operator alone come last. */
const TITLES = {
  result: 'Result',
  code: 'Error code',
  model: 'Model',
  key_id: 'Key',
  person_id: 'Member',
  endpoint: 'Endpoint',
  account_id: 'Account',
  upstream: 'Provider',
} as const;
type Filter = keyof typeof TITLES;
export const FILTERS = Object.keys(TITLES) as readonly Filter[];

const RESULTS = { ok: 'OK', refused: 'Refused', failed: 'Failed' } as const;
/** Values from which a facet can be searched. */
const LONG = 9;
/** Most values of a facet that the API returns. */
const MOST = 50;

interface Value {
  readonly value: string;
  readonly label: string;
  readonly count: number;
}

/** Values of each filter with their numbers of calls, the most frequent first. */
function facetsOf(of: Summary): Readonly<Record<Filter, readonly Value[]>> {
  const plain = (value: string, count: number): Value => ({ value, label: value, count });
  const results = (['ok', 'refused', 'failed'] as const).map((result) => ({
    value: result,
    label: RESULTS[result],
    count: of.results[result],
  }));
  return {
    result: results.filter(({ count }) => count > 0),
    code: of.codes.map(({ code, count }) => plain(code, count)),
    model: of.models.map(({ model, count }) => plain(model, count)),
    key_id: named(of.keys, 'Key'),
    person_id: named(of.members, 'Member'),
    endpoint: of.endpoints.map(({ endpoint, count }) => plain(endpoint, count)),
    account_id: named(
      (of.accounts ?? []).map(({ email, ...rest }) => ({ name: email, ...rest })),
      'Account',
    ),
    upstream: (of.providers ?? []).map(({ provider, count }) => plain(provider, count)),
  };
}

/** Values with ids. A name that several have is followed by the id. */
function named(
  values: readonly { readonly id: number; readonly name: string | null; readonly count: number }[],
  kind: string,
): Value[] {
  const isShared = (name: string) => values.filter((other) => other.name === name).length > 1;
  return values.map(({ id, name, count }) => {
    const label = name === null ? `${kind} ${id}` : isShared(name) ? `${name} (${id})` : name;
    return { value: String(id), label, count };
  });
}

/** The facets: each value filters by it, and the chosen one no longer. */
export function Facets({ of }: { of: Summary }) {
  const { kind } = useScope();
  const { choices, choose } = useChoices();
  const facets = facetsOf(of);
  return FILTERS.map((name) => {
    const chosen = choices[name] ?? '';
    // An account's own pages have one account.
    if (name === 'account_id' && kind !== 'operator') return null;
    const isListed = chosen === '' || facets[name].some(({ value }) => value === chosen);
    // A chosen value without calls stays, so that it can be seen and taken back.
    const values = isListed ? facets[name] : [...facets[name], { value: chosen, label: chosen, count: 0 }];
    if (values.length === 0) return null;
    return (
      <Facet
        key={name}
        title={TITLES[name]}
        values={values}
        chosen={chosen}
        onChosen={(value) => choose({ ...FIRST_PAGE, [name]: value === chosen ? '' : value })}
      />
    );
  });
}

function Facet({
  title,
  values,
  chosen,
  onChosen,
}: {
  title: string;
  values: readonly Value[];
  chosen: string;
  onChosen: (value: string) => void;
}) {
  const [sought, setSought] = useState('');
  const found = values.filter(({ label }) => label.toLowerCase().includes(sought.trim().toLowerCase()));
  return (
    <fieldset className="facet">
      <legend>
        {title} {values.length > 1 && <small>{values.length === MOST ? `top ${MOST}` : values.length}</small>}
      </legend>
      {values.length >= LONG && (
        <TextInput
          type="search"
          size="xs"
          aria-label={`Search ${title.toLowerCase()}`}
          placeholder="Search"
          value={sought}
          onChange={(event) => setSought(event.currentTarget.value)}
        />
      )}
      <ul>
        {found.map(({ value, label, count: calls }) => (
          <li key={value}>
            <button type="button" aria-pressed={value === chosen} onClick={() => onChosen(value)}>
              <span>{label}</span> <small>{count(calls)}</small>
            </button>
          </li>
        ))}
      </ul>
      {found.length === 0 && <p className="hint">No results</p>}
    </fieldset>
  );
}

/** The chosen filters, each with a way to take it back. */
export function ChosenFilters({ of }: { of: Summary | undefined }) {
  const { choices, choose } = useChoices();
  const facets = of && facetsOf(of);
  const chosen = FILTERS.flatMap((name) => {
    const value = choices[name];
    if (!value) return [];
    const label = facets?.[name].find((one) => one.value === value)?.label ?? value;
    return [{ name, words: `${TITLES[name]}: ${label}` }];
  });
  if (chosen.length === 0) return null;
  return (
    <div className="chosen-filters">
      {chosen.map(({ name, words }) => (
        <Button
          key={name}
          size="compact-sm"
          variant="light"
          radius="xl"
          aria-label={`Remove filter ${words}`}
          rightSection={<span aria-hidden="true">×</span>}
          onClick={() => choose({ ...FIRST_PAGE, [name]: '' })}
        >
          {words}
        </Button>
      ))}
      <ClearFilters names={FILTERS} />
    </div>
  );
}
