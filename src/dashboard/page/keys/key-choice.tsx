import { useEffect, useId, useState } from 'react';
import type { KeyView } from '../../../api/keys/key-view.ts';
import { onCommit } from '../ui/on-commit.ts';

/**
 * Field that chooses one of any number of keys by a part of its name or prefix. Text that matches no key stays in the
 * field with an error, and chooses nothing.
 */
export function KeyChoice(props: {
  keys: readonly KeyView[];
  /** Id of the chosen key; "" for none. */
  chosen: string;
  /** Label of the choice of no key; absent where a key has to be chosen. */
  none?: string;
  onChosen: (id: string) => void;
}) {
  const { keys, chosen, none } = props;
  const id = useId();
  const known = keys.find((key) => String(key.id) === chosen);
  const written = known ? labelOf(known) : chosen && `Key ${chosen}`;
  const [text, setText] = useState(written);
  const [isUnknown, setUnknown] = useState(false);
  // The browser's Back, or a link, may have chosen another key.
  useEffect(() => {
    setText(written);
    setUnknown(false);
  }, [written]);
  const take = (key: KeyView | undefined) =>
    key && String(key.id) !== chosen && props.onChosen(String(key.id));
  /** Takes typed text. While the user types, a name that is the beginning of a longer one is not chosen yet. */
  const type = (typed: string) => {
    setText(typed);
    setUnknown(false);
    if (typed === '' && none !== undefined) props.onChosen('');
    else take(keys.find((key) => labelOf(key) === typed));
  };
  const finish = (typed: string) => {
    if (typed === written || (typed === '' && none !== undefined)) return;
    const named = keyNamed(typed, keys);
    setUnknown(named === undefined);
    if (named && String(named.id) === chosen) setText(written);
    take(named);
  };
  return (
    <div className="field key-choice">
      <label htmlFor={id}>Key</label>
      <input
        id={id}
        name="key"
        type="search"
        list={`${id}-keys`}
        autoComplete="off"
        spellCheck="false"
        placeholder={none}
        value={text}
        aria-invalid={isUnknown ? 'true' : undefined}
        aria-describedby={`${id}-fault`}
        onFocus={(event) => event.currentTarget.select()}
        onInput={(event) => type(event.currentTarget.value)}
        {...onCommit(written, finish)}
      />
      <datalist id={`${id}-keys`}>
        {keys.map((key) => (
          <option key={key.id} value={labelOf(key)} />
        ))}
      </datalist>
      <p className="field-error" id={`${id}-fault`} aria-live="polite">
        {isUnknown && 'Choose a key.'}
      </p>
    </div>
  );
}

function labelOf(key: KeyView): string {
  return `${key.name} (${key.prefix}…, no. ${key.id})`;
}

/** The only key with this name or prefix; undefined if there is none, or several. */
function keyNamed(text: string, keys: readonly KeyView[]): KeyView | undefined {
  const typed = text.trim().toLowerCase();
  const named = keys.filter(({ name, prefix }) => [name.toLowerCase(), prefix.toLowerCase()].includes(typed));
  return named.length === 1 ? named[0] : undefined;
}
