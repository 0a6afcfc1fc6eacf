import { signal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';

/** A navigation that would lose unsaved work, and waits for the user's answer. */
export interface Leaving {
  /** What would be lost. */
  readonly lost: string;
  /** Why the page is left, where the user did not choose to; else "". */
  readonly reason: string;
  readonly go: () => void;
}

/** The navigation that the user is asked about now. */
export const leaving = signal<Leaving | undefined>(undefined);

const EDITS = 'What you changed on this page is not saved.';
/** Descriptions of unsaved work, by the component that holds it. */
const held = new Map<symbol, string>();

/**
 * While `isUnsaved`, asks before the page is left: by its links, Back and Forward, reload, closing, signing out and the
 * end of the session. `lost` describes what would be lost.
 */
export function useUnsaved(isUnsaved: boolean, lost = EDITS): void {
  // Not useEffect: work that is saved must be unregistered before saving changes the address.
  useLayoutEffect(() => {
    if (!isUnsaved) return undefined;
    const holder = Symbol();
    held.set(holder, lost);
    addEventListener('beforeunload', refuse);
    return () => {
      held.delete(holder);
      if (held.size === 0) removeEventListener('beforeunload', refuse);
    };
  }, [isUnsaved, lost]);
}

/**
 * Runs `go` at once, or after a question where unsaved work would be lost. `reason`: why the page is left, where the user
 * did not choose to.
 */
export function leave(go: () => void, reason = ''): void {
  const lost = [...held.values()].at(-1);
  if (lost === undefined) {
    go();
    return;
  }
  leaving.value = {
    lost,
    reason,
    go() {
      held.clear();
      removeEventListener('beforeunload', refuse);
      go();
    },
  };
}

/** Has the browser ask before the tab is closed or reloaded, in its own words. */
function refuse(event: BeforeUnloadEvent): void {
  event.preventDefault();
  // Older browsers look at this property.
  event.returnValue = true;
}

/** Links are asked about before they are followed, so that no address has to be put back. */
addEventListener(
  'click',
  (event) => {
    const { target } = event;
    const link = target instanceof Element ? target.closest<HTMLAnchorElement>('a[href^="#"]') : null;
    const isElsewhere =
      event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey;
    if (held.size === 0 || link === null || isElsewhere || !isOtherPage(location.href, link.href)) return;
    event.preventDefault();
    leave(() => {
      location.href = link.href;
    });
  },
  { capture: true },
);

/** Back, Forward and a typed address: the browser has gone already. The address is put back until the answer is there. */
addEventListener(
  'hashchange',
  (event) => {
    if (held.size === 0 || !isOtherPage(event.oldURL, event.newURL)) return;
    event.stopImmediatePropagation();
    history.pushState(null, '', event.oldURL);
    leave(() => history.back());
  },
  { capture: true },
);

/** Whether two addresses name different pages; what follows `?` in the hash says only how a page is shown. */
function isOtherPage(one: string, other: string): boolean {
  return pageOf(one) !== pageOf(other);
}

function pageOf(address: string): string {
  return new URL(address).hash.split('?', 1)[0] ?? '';
}
