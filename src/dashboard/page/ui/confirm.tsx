import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import { useAction } from '../api/use-action.ts';
import { Dialog } from './dialog.tsx';
import { focusFirstFault } from './field.tsx';
import { FailureNote } from './note.tsx';

/** Dialog that asks before an action. Where the action fails, it stays open and shows the reason. */
export function Confirm(props: {
  title: string;
  /** Label of the button: a verb that names the action. */
  verb: string;
  danger?: boolean;
  act: () => Promise<unknown>;
  onClose: () => void;
  children: ComponentChildren;
}) {
  const action = useAction(props.act);
  const frame = useRef<HTMLDivElement>(null);
  const confirm = async () => {
    if (await action.run()) props.onClose();
    else focusFirstFault(frame.current);
  };
  return (
    <Dialog title={props.title} onCancel={props.onClose}>
      {props.children}
      <div ref={frame}>
        <FailureNote error={action.error} />
      </div>
      <div class="actions">
        <button type="button" onClick={props.onClose}>
          Cancel
        </button>
        <button
          type="button"
          class={props.danger ? 'danger' : 'primary'}
          aria-disabled={action.isBusy}
          onClick={confirm}
        >
          {props.verb}
        </button>
      </div>
    </Dialog>
  );
}
