import type { ReactNode } from 'react';
import { useEffect, useId, useRef } from 'react';
import { Announcements, clearAnnouncement } from './announcements.tsx';

/** Number of dialogs that are shown, and what had the focus before the latest of them. */
let shown = 0;
let opener: Element | null = null;

/**
 * Modal dialog, open while it is rendered. `onCancel` is called at Escape; without it, only its own buttons close it.
 */
export function Dialog({
  title,
  onCancel,
  children,
}: {
  title: string;
  onCancel?: () => void;
  children: ReactNode;
}) {
  const element = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    // A dialog that takes another's place is shown when that has gone, with its focus, and before it is cleaned up.
    const isNext = shown > 0 && document.activeElement === document.body;
    const before = isNext ? opener : document.activeElement;
    opener = before;
    shown += 1;
    clearAnnouncement();
    element.current?.showModal();
    return () => {
      shown -= 1;
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={element}
      aria-labelledby={titleId}
      onKeyDown={(event) => {
        // Browsers close a dialog at a second Escape even if its cancel event is prevented.
        if (event.key === 'Escape' && !onCancel) event.preventDefault();
      }}
      onCancel={(event) => {
        event.preventDefault();
        onCancel?.();
      }}
    >
      <h2 id={titleId}>{title}</h2>
      {children}
      <Announcements />
    </dialog>
  );
}
