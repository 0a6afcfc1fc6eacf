import { Button, Modal } from '@mantine/core';
import { type ReactNode, useEffect, useId, useState } from 'react';
import { useChange } from '../data/query.ts';
import { Failure } from './note.tsx';

/** Modal dialog, open while it is rendered. Escape and a click beside it cancel it, if `onCancel` is given. */
export function Dialog({
  title,
  onCancel,
  size = 'md',
  centered = true,
  children,
}: {
  title: string;
  onCancel?: () => void;
  size?: string;
  /** False: near the top of the page, where it stays if its height changes. */
  centered?: boolean;
  children: ReactNode;
}) {
  const id = useId();
  const isFree = onCancel !== undefined;
  const [opener] = useState(() => document.activeElement);
  useEffect(() => () => focusAgain(opener), [opener]);
  return (
    <Modal
      opened
      id={id}
      onClose={() => onCancel?.()}
      title={title}
      size={size}
      centered={centered}
      withCloseButton={isFree}
      closeOnEscape={isFree}
      closeOnClickOutside={isFree}
      // Mantine returns it only from a dialog that is closed before it is taken away.
      returnFocus={false}
      transitionProps={{ duration: 0 }}
    >
      {children}
    </Modal>
  );
}

/** Focuses what had the focus before, or the title of the page if that is gone. */
function focusAgain(opener: Element | null): void {
  const place = opener?.isConnected ? opener : document.querySelector('h1');
  if (place instanceof HTMLElement) place.focus();
}

/** Dialog that asks before an action. If the action fails, it stays open and shows the reason. */
export function Confirm({
  title,
  verb,
  danger = false,
  act,
  onClose,
  children,
}: {
  title: string;
  /** Label of the button: a verb that names the action. */
  verb: string;
  danger?: boolean;
  act: () => Promise<unknown>;
  onClose: () => void;
  children?: ReactNode;
}) {
  const change = useChange(act);
  return (
    <Dialog title={title} onCancel={onClose}>
      {children}
      <Failure error={change.error} />
      <div className="dialog-actions">
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button
          color={danger ? 'red' : 'blue'}
          loading={change.isPending}
          onClick={() => change.mutate(undefined, { onSuccess: onClose })}
        >
          {verb}
        </Button>
      </div>
    </Dialog>
  );
}
