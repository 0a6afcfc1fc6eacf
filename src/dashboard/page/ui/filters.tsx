import { choose, query } from '../route.ts';
import { FIRST_PAGE } from './pager.tsx';

/** The filters of a list, as the address has them; "" where one is not used. */
export function filtersIn<Name extends string>(names: readonly Name[]): Readonly<Record<Name, string>> {
  const filters = names.map((name) => [name, query.value.get(name) ?? '']);
  return Object.fromEntries(filters) as Record<Name, string>;
}

/** True if any filter is used. */
export function isFiltered(filters: Readonly<Record<string, string>>): boolean {
  return Object.values(filters).some((value) => value !== '');
}

/** Button that clears the filters of a list, where any is used. */
export function ShowAll({ filters }: { filters: Readonly<Record<string, string>> }) {
  if (!isFiltered(filters)) return null;
  const none = Object.fromEntries(Object.keys(filters).map((name) => [name, '']));
  return (
    <button type="button" onClick={() => choose({ ...FIRST_PAGE, ...none })}>
      Show all
    </button>
  );
}

/** Input of a UTC day; both ends of a range are included. */
export function Day(props: { label: string; value: string; onValue: (day: string) => void }) {
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
          // While a year is typed it goes through 0002, 0020 and 0202; half a date has no value.
          if (validity.valid) props.onValue(value);
        }}
      />
    </label>
  );
}

/** A choice of one; `none` is what it says where nothing is chosen, and absent where something always is. */
export function Choice(props: {
  label: string;
  none?: string;
  value: string;
  choices: readonly (readonly [value: string, name: string])[];
  onValue: (value: string) => void;
}) {
  return (
    <label>
      <span>{props.label}</span>
      <select
        aria-label={props.label}
        value={props.value}
        onChange={(event) => props.onValue(event.currentTarget.value)}
      >
        {props.none !== undefined && <option value="">{props.none}</option>}
        {props.choices.map(([value, name]) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
