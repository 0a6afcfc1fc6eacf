import type { ComponentChildren } from 'preact';
import { useAction } from '../api/use-action.ts';
import { Dialog } from './dialog.tsx';
import { FailureNote } from './note.tsx';

/** Asks before it acts, and stays where acting fails, with the reason. */
export function Confirm(props: {
  title: string;
  /** What the button says: the verb. */
  verb: string;
  danger?: boolean;
  act: () => Promise<unknown>;
  onClose: () => void;
  children: ComponentChildren;
}) {
  const action = useAction(props.act);
  const confirm = async () => {
    if (await action.run()) props.onClose();
  };
  return (
    <Dialog title={props.title} onCancel={props.onClose}>
      {props.children}
      <FailureNote error={action.error} />
      <div class="actions">
        <button type="button" onClick={props.onClose}>
          Cancel
        </button>
        <button
          type="button"
          class={props.danger ? 'danger' : 'primary'}
          disabled={action.isBusy}
          onClick={confirm}
        >
          {props.verb}
        </button>
      </div>
    </Dialog>
  );
}
