import type { ReactNode } from 'react';
import { FieldWords } from './field.tsx';

export interface Choice {
  readonly value: string;
  readonly name: string;
  readonly note?: string;
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
        {choices.map((choice) => (
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
      </div>
      <FieldWords id={id} hint={props.hint} error={props.error} />
    </fieldset>
  );
}
