import type { ReactNode } from 'react';
import { FieldWords } from './field.tsx';

export interface Choice {
  readonly value: string;
  readonly name: string;
  readonly note?: string;
  /** Heading of the choice in a list that has several. */
  readonly group?: string;
}

/** Choice of several options as chips to tick. None ticked means all. */
export function CheckList(props: {
  name: string;
  legend: string;
  hint: ReactNode;
  choices: readonly Choice[];
  chosen: readonly string[];
  onChosen: (chosen: readonly string[]) => void;
  error?: string | undefined;
}) {
  const { name, choices, chosen, onChosen } = props;
  const id = `field-${name}`;
  const tick = (value: string, isTicked: boolean) =>
    onChosen(isTicked ? [...chosen, value] : chosen.filter((other) => other !== value));
  return (
    <fieldset className="field" aria-describedby={`${id}-hint ${id}-error`}>
      <legend>{props.legend}</legend>
      <div className="choices" id={id} tabIndex={-1} data-fault={props.error ? '' : undefined}>
        <ChoiceChips name={name} choices={choices} chosen={chosen} onTick={tick} />
      </div>
      <FieldWords id={id} hint={props.hint} error={props.error} />
    </fieldset>
  );
}

/** A chip to tick for each choice. */
export function ChoiceChips(props: {
  name: string;
  choices: readonly Choice[];
  chosen: readonly string[];
  onTick: (value: string, isTicked: boolean) => void;
}) {
  return props.choices.map(({ value, name, note }) => (
    <label key={value} className="choice">
      <input
        type="checkbox"
        name={props.name}
        value={value}
        checked={props.chosen.includes(value)}
        onChange={(event) => props.onTick(value, event.currentTarget.checked)}
      />
      <span>
        {name}
        {note && <small> {note}</small>}
      </span>
    </label>
  ));
}
