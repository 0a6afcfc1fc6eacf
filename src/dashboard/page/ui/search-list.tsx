import { type ReactNode, useState } from 'react';
import { type Choice, ChoiceChips } from './check-list.tsx';
import { FieldWords } from './field.tsx';

/** Options that are shown before the user asks for all of them. Those that are chosen always are. */
const SHOWN = 24;
/** The same for each of many groups. */
const SHOWN_IN_GROUP = 4;
/** Options from which on there is a search. */
const SEARCHED_FROM = 9;

/**
 * Choice of several of many options: the chosen ones first, their number, and a search. Options of several groups have
 * the headings of these. None chosen means all. An option keeps its place while it is ticked, so that nothing moves
 * under the pointer.
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
  const found = choices.filter(({ name, note = '', group = '' }) =>
    `${name} ${note} ${group}`.toLowerCase().includes(typed),
  );
  const isGrouped = new Set(choices.map(({ group }) => group)).size > 1;
  const groups = groupsOf(found, first, isGrouped);
  const most = found.length <= SHOWN ? SHOWN : Math.max(SHOWN_IN_GROUP, Math.floor(SHOWN / groups.length));
  const shown = groups.map(({ heading, of }) => ({
    heading,
    of: of.filter(({ value }, index) => isAll || index < most || chosen.includes(value)),
  }));
  const isWhole = shown.every(({ of }, index) => of.length === groups[index]?.of.length);
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
      <div className="choice-groups" id={id} tabIndex={-1} data-fault={props.error ? '' : undefined}>
        {shown.map(({ heading, of }) => {
          const chips = <ChoiceChips name={name} choices={of} chosen={chosen} onTick={tick} />;
          return heading === '' ? (
            <div key={heading} className="choices choices-whole">
              {chips}
            </div>
          ) : (
            <fieldset key={heading}>
              <legend>{heading}</legend>
              <div className="choices choices-whole">{chips}</div>
            </fieldset>
          );
        })}
        {choices.length > 0 && found.length === 0 && <p className="hint">Nothing is named like this.</p>}
      </div>
      {!isWhole && (
        <button type="button" className="link" onClick={() => setAll(true)}>
          Show all {found.length}
        </button>
      )}
      <FieldWords id={id} hint={props.hint} error={props.error} />
    </fieldset>
  );
}

/** Options that are shown together; without a heading where there is one group. */
interface Group {
  readonly heading: string;
  readonly of: readonly Choice[];
}

/** The options that stand first, and then the others: in one list, or by their groups. */
function groupsOf(found: readonly Choice[], first: readonly string[], isGrouped: boolean): Group[] {
  const isFirst = ({ value }: Choice) => first.includes(value);
  const others = found.filter((choice) => !isFirst(choice));
  if (!isGrouped) return [{ heading: '', of: [...found.filter(isFirst), ...others] }];
  const byGroup = Map.groupBy(others, ({ group = 'Other' }) => group);
  return [['Chosen', found.filter(isFirst)] as const, ...byGroup]
    .map(([heading, of]) => ({ heading, of }))
    .filter(({ of }) => of.length > 0);
}
