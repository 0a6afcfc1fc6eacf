import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { Announcements } from './announcements.tsx';

/** A modal dialog, open while it is rendered. `onCancel` is called on Escape; without it, only its own buttons close it. */
export function Dialog({
  title,
  onCancel,
  children,
}: {
  title: string;
  onCancel?: () => void;
  children: ComponentChildren;
}) {
  const element = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    const before = document.activeElement;
    element.current?.showModal();
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={element}
      aria-labelledby={titleId}
      onKeyDown={(event) => {
        // A second Escape would close a dialog whose cancel event was refused.
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
