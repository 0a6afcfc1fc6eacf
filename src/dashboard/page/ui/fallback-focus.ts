import { useCallback, useRef } from 'react';

/**
 * Ref for a part of the page that may vanish while the focus is in it. The title of the page gets the focus then, so
 * that it does not fall to the beginning of the document.
 */
export function useFallbackFocus(): (element: HTMLElement | null) => void {
  const known = useRef<HTMLElement | null>(null);
  return useCallback((element: HTMLElement | null) => {
    if (element === null && known.current?.contains(document.activeElement)) {
      setTimeout(() => {
        if (document.activeElement !== document.body) return;
        document.querySelector<HTMLElement>('h1')?.focus({ preventScroll: true });
      });
    }
    known.current = element;
  }, []);
}
