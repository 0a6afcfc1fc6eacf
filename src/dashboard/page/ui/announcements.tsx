import { signal } from '@preact/signals';
import { useLayoutEffect, useMemo } from 'preact/hooks';

const SHOWN_FOR_MS = 6_000;
const latest = signal('');
let timer = 0;

/** Says that something is done: shown for a while, and read out. */
export function announce(text: string): void {
  clearTimeout(timer);
  latest.value = text;
  timer = setTimeout(() => {
    latest.value = '';
  }, SHOWN_FOR_MS);
}

/** Where they can be shown: on the page and, above it, in the dialogs that are open. */
const places = signal<readonly symbol[]>([]);

/** Shows them where nothing is in front: what is outside of an open dialog is dimmed, and not read out. */
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
    <div class="announcements" role="status" aria-live="polite">
      {isInFront && latest.value && <p>{latest.value}</p>}
    </div>
  );
}
