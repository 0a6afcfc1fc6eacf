import { signal } from '@preact/signals';
import { useLayoutEffect } from 'react';
import { isOtherPage } from '../address.ts';

/** A navigation that would lose unsaved work, and waits for the user's answer. */
export interface Leaving {
  /** Description of what would be lost. */
  readonly lost: string;
  /** Reason why the page is left; "" where the user chose to. */
  readonly reason: string;
  readonly go: () => void;
}

/** The navigation that the user is asked about now. */
export const leaving = signal<Leaving | undefined>(undefined);

const EDITS = 'Your changes on this page are not saved.';
/** Descriptions of unsaved work, by the component that holds it. */
const held = new Map<symbol, string>();

/**
 * Asks the user, while `isUnsaved` is true, before the page is left in any way: by its links, Back and Forward, reload,
 * closing, signing out and the end of the session. `lost` describes what would be lost.
 */
export function useUnsaved(isUnsaved: boolean, lost = EDITS): void {
  // useEffect would be too late: saved work must be unregistered before saving changes the address.
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
 * Runs `go` at once, or after a question where unsaved work would be lost. `reason` says why the page is left, where
 * the user did not choose to.
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

/** Has the browser ask, in its own words, before the tab is closed or reloaded. */
function refuse(event: BeforeUnloadEvent): void {
  event.preventDefault();
  // For older browsers, which ignore preventDefault here.
  event.returnValue = true;
}

// Asks before a link is followed, so that no address has to be put back.
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

/**
 * Asks after Back, Forward or a typed address; true if the page stays until the user answers. The browser has already
 * changed the address, which is put back. The listener in route.ts calls this before it shows another page.
 */
export function asksBeforeLeaving({ oldURL, newURL }: HashChangeEvent): boolean {
  if (held.size === 0 || !isOtherPage(oldURL, newURL)) return false;
  history.pushState(null, '', oldURL);
  leave(() => history.back());
  return true;
}
