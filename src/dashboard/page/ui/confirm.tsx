import type { ReactNode } from 'react';
import { useRef } from 'react';
import { useAction } from '../api/use-action.ts';
import { Dialog } from './dialog.tsx';
import { focusFirstFault } from './field.tsx';
import { FailureNote } from './note.tsx';

interface Asked {
  /** Label of the button: a verb that names the action. */
  verb: string;
  danger?: boolean;
  act: () => Promise<unknown>;
  onClose: () => void;
}

/** Dialog that asks before an action. Where the action fails, it stays open and shows the reason. */
export function Confirm({ title, children, ...asked }: Asked & { title: string; children: ReactNode }) {
  const act = async () => {
    await asked.act();
    asked.onClose();
  };
  return (
    <Dialog title={title} onCancel={asked.onClose}>
      {children}
      <Decision {...asked} act={act} />
    </Dialog>
  );
}

/** End of a dialog that asks before an action: the reason where the action failed, and the buttons. */
export function Decision({ verb, danger = false, act, onClose }: Asked) {
  const action = useAction(act);
  const frame = useRef<HTMLDivElement>(null);
  const confirm = async () => {
    await action.run();
    focusFirstFault(frame.current?.closest('dialog') ?? null);
  };
  return (
    <>
      <div ref={frame}>
        <FailureNote error={action.error} />
      </div>
      <div className="actions">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button
          type="button"
          className={danger ? 'danger' : 'primary'}
          aria-disabled={action.isBusy}
          onClick={confirm}
        >
          {verb}
        </button>
      </div>
    </>
  );
}
