import { useState } from 'preact/hooks';
import { FieldWords } from './field.tsx';

/** A list that is typed item by item. */
export interface ChipInputProps {
  name: string;
  label: string;
  hint: string;
  placeholder: string;
  items: readonly string[];
  onItems: (items: readonly string[]) => void;
  /** The item as it will be kept, or undefined where the text is none. */
  read: (text: string) => string | undefined;
  /** What is wanted: "an address or range". */
  wanted: string;
  /** How an item is shown; default as it is. */
  show?: (item: string) => string;
  /** Offered while typing. */
  suggestions?: readonly string[];
  /** Whether a space parts two items, as in a pasted list. */
  spaceParts?: boolean;
  error?: string | undefined;
}

/** Chips for what is in the list, and a field that says while one types whether the next one is right. */
export function ChipInput(props: ChipInputProps) {
  const { name, items, onItems, read, show = (item: string) => item } = props;
  const [text, setText] = useState('');
  const [refused, setRefused] = useState(false);
  const id = `field-${name}`;
  const parts = text.split(props.spaceParts ? /[\s,;]+/ : /[,;\n]+/).map((part) => part.trim());
  const typed = parts.filter(Boolean);
  const wrong = typed.filter((part) => read(part) === undefined);
  const state = stateOf(typed, wrong, props, show);

  const take = () => {
    const good = typed.flatMap((part) => read(part) ?? []);
    if (good.length > 0) onItems([...new Set([...items, ...good])]);
    setText(wrong.join(', '));
    setRefused(wrong.length > 0);
  };
  const type = (next: string) => {
    setText(next);
    if (next === '') setRefused(false);
  };
  return (
    <div class="field">
      <label for={id}>{props.label}</label>
      <Chips label={props.label} items={items} show={show} onItems={onItems} />
      <div class="with-button">
        <input
          id={id}
          name={name}
          type="text"
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          placeholder={props.placeholder}
          list={props.suggestions ? `${id}-list` : undefined}
          value={text}
          aria-describedby={`${id}-hint ${id}-state ${id}-error`}
          aria-invalid={props.error || refused ? 'true' : undefined}
          onInput={(event) => type(event.currentTarget.value)}
          onBlur={take}
          onKeyDown={(event) => {
            if (event.key === 'Enter') {
              event.preventDefault();
              take();
            } else if (event.key === 'Backspace' && text === '' && items.length > 0) {
              onItems(items.slice(0, -1));
            }
          }}
        />
        <button type="button" disabled={typed.length === 0} onClick={take}>
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
      <p id={`${id}-state`} class={`typing typing-${state.kind}`} aria-live="polite">
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
    <ul class="chips" aria-label={`${label}: in the list`}>
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

function stateOf(
  typed: readonly string[],
  wrong: readonly string[],
  { wanted, read }: ChipInputProps,
  show: (item: string) => string,
): { kind: 'none' | 'wrong' | 'right'; words: string } {
  if (typed.length === 0) return { kind: 'none', words: '' };
  if (wrong.length > 0) return { kind: 'wrong', words: `“${wrong[0]}” is not ${wanted}.` };
  const kept = typed.map((part) => show(read(part) ?? '')).join(', ');
  return { kind: 'right', words: `✓ ${kept}` };
}
