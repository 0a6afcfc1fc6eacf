import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import type { Action } from '../api/use-action.ts';
import { focusFirstFault } from './field.tsx';
import { FailureNote } from './note.tsx';

/** A form whose sending is an action; where that fails, the first field with a fault, else the reason, gets the focus. */
export function ActionForm(props: {
  action: Action<void>;
  /** Whether the fault is shown at one of the fields; else it is shown below them. */
  isAtField: boolean;
  verb: string;
  class?: string;
  /** Fields. */
  children: ComponentChildren;
}) {
  const { action } = props;
  const form = useRef<HTMLFormElement>(null);
  return (
    <form
      ref={form}
      class={props.class}
      noValidate
      onSubmit={async (event) => {
        event.preventDefault();
        // A date that is typed in part has no value, and would be sent as if the field were empty.
        if (halfTyped(event.currentTarget)?.reportValidity() === false) return;
        if (!(await action.run())) focusFirstFault(form.current);
      }}
    >
      {props.children}
      {!props.isAtField && <FailureNote error={action.error} />}
      <button type="submit" class="primary" aria-disabled={action.isBusy}>
        {props.verb}
      </button>
    </form>
  );
}

function halfTyped(form: HTMLFormElement): HTMLInputElement | undefined {
  return Array.from(form.querySelectorAll('input')).find((input) => input.validity.badInput);
}
