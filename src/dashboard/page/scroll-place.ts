/** Position of the reader on a page: how far down, and at which link. */
interface Place {
  readonly top: number;
  readonly href: string | null | undefined;
}

/** Positions by the number of the history entry; a tab gives no number twice. */
const places = new Map<number, Place>();
let latest = Date.now();
let entry = 0;
let returning: Place | undefined;

/** Numbers the current history entry. */
export function setOut(): void {
  entry = numberOf(history.state) ?? ++latest;
  returning = undefined;
  history.replaceState({ entry }, '');
}

/** Stores the reader's position before another page is drawn. */
export function leavePlace(): void {
  places.set(entry, { top: scrollY, href: document.activeElement?.getAttribute('href') });
}

/** Called when the history entry has changed. Returns true if the new entry has a stored position. */
export function returnTo(): boolean {
  const known = numberOf(history.state);
  setOut();
  if (known === undefined) return false;
  returning = places.get(known);
  return true;
}

/**
 * Scrolls a page that the reader returns to as far down as it was, as soon as it is long enough again, and focuses the
 * link by which they left. Returns false for a page that they do not return to, which begins at its top.
 */
export function isBroughtBack(): boolean {
  if (returning === undefined) return false;
  const { top, href } = returning;
  returning = undefined;
  const end = whilePageGrows(() => {
    scrollTo(0, top);
    const link = href ? document.querySelector<HTMLElement>(`a[href="${CSS.escape(href)}"]`) : undefined;
    if (link === null || Math.abs(scrollY - top) > 1) return;
    link?.focus({ preventScroll: true });
    end.abort();
  });
  return true;
}

/** Acts soon, and again each time that the page changes its height, until the reader does something. */
export function whilePageGrows(act: () => void): AbortController {
  const end = new AbortController();
  const watch = new ResizeObserver(act);
  end.signal.addEventListener('abort', () => watch.disconnect());
  // A reader who scrolls, types or clicks meanwhile must not be moved.
  for (const event of ['wheel', 'touchstart', 'pointerdown', 'keydown', 'hashchange']) {
    addEventListener(event, () => end.abort(), { signal: end.signal, passive: true });
  }
  watch.observe(document.body);
  return end;
}

function numberOf(state: unknown): number | undefined {
  const { entry: number } = (state ?? {}) as { entry?: number };
  return number;
}
