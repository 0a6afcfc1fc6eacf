import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { Announcements } from './announcements.tsx';

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
