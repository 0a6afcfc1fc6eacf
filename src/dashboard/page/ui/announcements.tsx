import { signal } from '@preact/signals';
import { useLayoutEffect, useMemo } from 'react';

const SHOWN_FOR_MS = 6_000;
const latest = signal('');
let timer = 0;

/** Announces that something is done: the text is shown for a while, and read out by screen readers. */
export function announce(text: string): void {
  clearTimeout(timer);
  latest.value = text;
  timer = setTimeout(() => {
    latest.value = '';
  }, SHOWN_FOR_MS);
}

/** Takes the latest announcement away: another page, or a dialog, is about something else. */
export function clearAnnouncement(): void {
  clearTimeout(timer);
  latest.value = '';
}

addEventListener('hashchange', clearAnnouncement);

/** Stack of the places where announcements can be shown: the page and, above it, the open dialogs. */
const places = signal<readonly symbol[]>([]);

/**
 * The latest announcement, shown in the topmost place only, because the page behind a dialog is dimmed and not read
 * out.
 */
export function Announcements() {
  const place = useMemo(() => Symbol(), []);
  useLayoutEffect(() => {
    places.value = [...places.value, place];
    return () => {
      places.value = places.value.filter((other) => other !== place);
    };
  }, [place]);
  const isInFront = places.value.at(-1) === place;
  return (
    <div className="announcements" role="status" aria-live="polite">
      {isInFront && latest.value && <p>{latest.value}</p>}
    </div>
  );
}
