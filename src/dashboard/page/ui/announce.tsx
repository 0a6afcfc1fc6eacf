import { useSyncExternalStore } from 'react';

const SHOWN_FOR_MS = 6_000;
let latest = '';
let timer: ReturnType<typeof setTimeout> | undefined;
const listeners = new Set<() => void>();

/** Announces that something is done or found: the text is shown for a while, and read out by screen readers. */
export function announce(text: string): void {
  clearTimeout(timer);
  show(text);
  timer = setTimeout(show, SHOWN_FOR_MS, '');
}

function show(text: string): void {
  latest = text;
  for (const listener of listeners) listener();
}

/** Place of the announcements, above the page and its dialogs. */
export function Announcements() {
  const text = useSyncExternalStore(
    (tell) => {
      listeners.add(tell);
      return () => listeners.delete(tell);
    },
    () => latest,
  );
  return (
    <div className="announcements" role="status" aria-live="polite">
      {text && <p>{text}</p>}
    </div>
  );
}
