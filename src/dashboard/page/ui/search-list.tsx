import { type ReactNode, useState } from 'react';
import type { Choice } from './check-list.tsx';
import { FieldWords } from './field.tsx';

/** Options that are shown before the user asks for all of them. Those that are chosen always are. */
const SHOWN = 24;
/** Options from which on there is a search. */
const SEARCHED_FROM = 9;

/**
 * Choice of several of many options: the chosen ones first, their number, and a search. None chosen means all. An option
 * keeps its place while it is ticked, so that nothing moves under the pointer.
 */
export function SearchList(props: {
  name: string;
  legend: string;
  /** What is chosen where nothing is: "All models". */
  none: string;
  hint: ReactNode;
  choices: readonly Choice[];
  chosen: readonly string[];
  onChosen: (chosen: readonly string[]) => void;
  error?: string | undefined;
}) {
  const { name, choices, chosen, onChosen } = props;
  const [search, setSearch] = useState('');
  const [isAll, setAll] = useState(false);
  /** Options that stand first: those that were chosen when the list was drawn, or last searched. */
  const [first, setFirst] = useState<readonly string[]>(chosen);
  const id = `field-${name}`;
  const typed = search.trim().toLowerCase();
  const found = choices.filter(({ name, note = '' }) => `${name} ${note}`.toLowerCase().includes(typed));
  const ordered = [
    ...found.filter(({ value }) => first.includes(value)),
    ...found.filter(({ value }) => !first.includes(value)),
  ];
  const shown = isAll
    ? ordered
    : ordered.filter(({ value }, index) => index < SHOWN || chosen.includes(value));
  const tick = (value: string, isTicked: boolean) =>
    onChosen(isTicked ? [...chosen, value] : chosen.filter((other) => other !== value));
  return (
    <fieldset className="field" aria-describedby={`${id}-hint ${id}-error`}>
      <legend>{props.legend}</legend>
      <div className="search-list-head">
        {choices.length >= SEARCHED_FROM && (
          <input
            type="search"
            aria-label={`Search ${props.legend.toLowerCase()}`}
            placeholder="Search"
            value={search}
            onInput={(event) => {
              setSearch(event.currentTarget.value);
              setFirst(chosen);
            }}
          />
        )}
        <span className="hint" role="status">
          {chosen.length === 0 ? props.none : `${chosen.length} chosen`}
        </span>
        {chosen.length > 0 && (
          <button type="button" className="link" onClick={() => onChosen([])}>
            Clear
          </button>
        )}
      </div>
      <div className="choices choices-whole" id={id} tabIndex={-1} data-fault={props.error ? '' : undefined}>
        {shown.map((choice) => (
          <label key={choice.value} className="choice">
            <input
              type="checkbox"
              name={name}
              value={choice.value}
              checked={chosen.includes(choice.value)}
              onChange={(event) => tick(choice.value, event.currentTarget.checked)}
            />
            <span>
              {choice.name}
              {choice.note && <small> {choice.note}</small>}
            </span>
          </label>
        ))}
        {choices.length > 0 && found.length === 0 && <p className="hint">Nothing is named like this.</p>}
      </div>
      {shown.length < ordered.length && (
        <button type="button" className="link" onClick={() => setAll(true)}>
          Show all {ordered.length}
        </button>
      )}
      <FieldWords id={id} hint={props.hint} error={props.error} />
    </fieldset>
  );
}
