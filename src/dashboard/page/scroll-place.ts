/** Where the reader was on a page: how far down, and at which link. */
interface Place {
  readonly top: number;
  readonly href: string | null | undefined;
}

/** Places by the number of the history entry; a number is never given twice in a tab. */
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

/** Remembers where the reader is, before another page is drawn. */
export function leavePlace(): void {
  places.set(entry, { top: scrollY, href: document.activeElement?.getAttribute('href') });
}

/** Called when the history entry has changed. Returns whether the reader comes back to a known place. */
export function returnTo(): boolean {
  const known = numberOf(history.state);
  setOut();
  if (known === undefined) return false;
  returning = places.get(known);
  return true;
}

/**
 * Brings a page that the reader comes back to where they left it, as soon as it is long enough again, and the focus to
 * the link by which they left. False: it is a new page, which begins at its top.
 */
export function isBroughtBack(): boolean {
  if (returning === undefined) return false;
  const { top, href } = returning;
  returning = undefined;
  const end = new AbortController();
  const watch = new ResizeObserver(() => {
    scrollTo(0, top);
    const link = href ? document.querySelector<HTMLElement>(`a[href="${CSS.escape(href)}"]`) : undefined;
    if (link === null || Math.abs(scrollY - top) > 1) return;
    link?.focus({ preventScroll: true });
    end.abort();
  });
  end.signal.addEventListener('abort', () => watch.disconnect());
  // A reader who scrolls or clicks meanwhile is not moved.
  for (const event of ['wheel', 'touchstart', 'pointerdown', 'keydown', 'hashchange']) {
    addEventListener(event, () => end.abort(), { signal: end.signal, passive: true });
  }
  watch.observe(document.body);
  return true;
}

function numberOf(state: unknown): number | undefined {
  const { entry: number } = (state ?? {}) as { entry?: number };
  return number;
}
