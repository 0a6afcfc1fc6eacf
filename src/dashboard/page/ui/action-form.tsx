import type { ReactNode } from 'react';
import { useRef } from 'react';
import type { Action } from '../api/use-action.ts';
import { focusFirstFault } from './field.tsx';
import { FailureNote } from './note.tsx';

/** Form that runs an action. Where that fails, the first field with a fault gets the focus, else the message. */
export function ActionForm(props: {
  action: Action<void>;
  /** True if the failure is shown at one of the fields; otherwise it is shown below them. */
  isAtField: boolean;
  verb: string;
  className?: string;
  /** With it, as in a dialog, the form has a button that cancels. */
  onCancel?: () => void;
  /** The fields of the form. */
  children: ReactNode;
}) {
  const { action } = props;
  const form = useRef<HTMLFormElement>(null);
  const submit = (
    <button type="submit" className="primary" aria-disabled={action.isBusy}>
      {props.verb}
    </button>
  );
  return (
    <form
      ref={form}
      className={props.className}
      noValidate
      onSubmit={async (event) => {
        event.preventDefault();
        // A date that is only partly typed has no value, and would be sent as if the field were empty.
        if (halfTyped(event.currentTarget)?.reportValidity() === false) return;
        if (!(await action.run())) focusFirstFault(form.current);
      }}
    >
      {props.children}
      {!props.isAtField && <FailureNote error={action.error} />}
      {props.onCancel ? (
        <div className="actions">
          <button type="button" onClick={props.onCancel}>
            Cancel
          </button>
          {submit}
        </div>
      ) : (
        submit
      )}
    </form>
  );
}

function halfTyped(form: HTMLFormElement): HTMLInputElement | undefined {
  return Array.from(form.querySelectorAll('input')).find((input) => input.validity.badInput);
}
