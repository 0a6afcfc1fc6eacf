import { useState } from 'react';
import { FieldWords } from './field.tsx';
import { type ItemKind, partsOf, type TypedList, taken, wrongIn } from './typed-list.ts';

/** A list that is typed item by item. */
export interface ChipInputProps {
  name: string;
  label: string;
  hint: string;
  placeholder: string;
  list: TypedList;
  onList: (list: TypedList) => void;
  kind: ItemKind;
  /** Text of an item; default: the item itself. */
  show?: (item: string) => string;
  /** Suggestions while typing. */
  suggestions?: readonly string[];
  error?: string | undefined;
}

/** Chips for the items of the list, and an input that checks the next item while it is typed. */
export function ChipInput(props: ChipInputProps) {
  const { name, list, onList, kind, show = (item: string) => item } = props;
  const { items, text } = list;
  const [refused, setRefused] = useState(false);
  const id = `field-${name}`;
  const state = props.error ? NOTHING_TYPED : stateOf(text, kind, show);

  const take = () => {
    const next = taken(list, kind);
    onList(next);
    setRefused(next.text !== '');
  };
  const type = (next: string) => {
    onList({ items, text: next });
    if (next === '') setRefused(false);
  };
  const keep = (kept: readonly string[]) => onList({ items: kept, text });
  return (
    <div className="field">
      <label htmlFor={id}>{props.label}</label>
      <Chips label={props.label} items={items} show={show} onItems={keep} />
      <div className="with-button">
        <input
          id={id}
          name={name}
          type="text"
          autoComplete="off"
          autoCapitalize="off"
          spellCheck="false"
          placeholder={props.placeholder}
          list={props.suggestions ? `${id}-list` : undefined}
          value={text}
          aria-describedby={`${id}-hint ${id}-state ${id}-error`}
          aria-invalid={props.error || refused ? 'true' : undefined}
          onInput={(event) => type(event.currentTarget.value)}
          onBlur={() => text !== '' && take()}
          onKeyDown={(event) => {
            if (event.key === 'Enter') {
              event.preventDefault();
              take();
            } else if (event.key === 'Backspace' && text === '' && items.length > 0) {
              keep(items.slice(0, -1));
            }
          }}
        />
        <button type="button" disabled={text.trim() === ''} onClick={take}>
          Add
        </button>
      </div>
      {props.suggestions && (
        <datalist id={`${id}-list`}>
          {props.suggestions.map((suggestion) => (
            <option key={suggestion} value={suggestion} />
          ))}
        </datalist>
      )}
      <p id={`${id}-state`} className={`typing typing-${state.kind}`} aria-live="polite">
        {state.words}
      </p>
      <FieldWords id={id} hint={props.hint} error={props.error} />
    </div>
  );
}

function Chips({
  label,
  items,
  show,
  onItems,
}: {
  label: string;
  items: readonly string[];
  show: (item: string) => string;
  onItems: (items: readonly string[]) => void;
}) {
  if (items.length === 0) return null;
  return (
    <ul className="chips" aria-label={`${label}: in the list`}>
      {items.map((item) => (
        <li key={item}>
          {show(item)}
          <button
            type="button"
            aria-label={`Remove ${show(item)}`}
            onClick={() => onItems(items.filter((other) => other !== item))}
          >
            ×
          </button>
        </li>
      ))}
    </ul>
  );
}

interface Typing {
  readonly kind: 'none' | 'wrong' | 'right';
  readonly words: string;
}
const NOTHING_TYPED: Typing = { kind: 'none', words: '' };

function stateOf(text: string, kind: ItemKind, show: (item: string) => string): Typing {
  const words = wrongIn(text, kind);
  if (words !== '') return { kind: 'wrong', words };
  const { good } = partsOf(text, kind);
  return good.length === 0 ? NOTHING_TYPED : { kind: 'right', words: `✓ ${good.map(show).join(', ')}` };
}
