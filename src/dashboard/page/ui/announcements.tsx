import { signal } from '@preact/signals';

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

export function Announcements() {
  return (
    <div class="announcements" role="status" aria-live="polite">
      {latest.value && <p>{latest.value}</p>}
    </div>
  );
}
