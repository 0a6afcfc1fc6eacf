import { useEffect, useRef } from 'react';
import type { Loaded } from './use-load.ts';

/** Loads again every `everyMs` while the tab is seen, and at once when it is seen again; never before the answer is there. */
export function usePolling(
  loaded: Pick<Loaded<unknown>, 'reload' | 'isLoading'>,
  everyMs: number,
  isOn = true,
): void {
  const latest = useRef(loaded);
  latest.current = loaded;
  useEffect(() => {
    if (!isOn) return undefined;
    const look = () => {
      if (!document.hidden && !latest.current.isLoading) latest.current.reload();
    };
    const timer = setInterval(look, everyMs);
    document.addEventListener('visibilitychange', look);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', look);
    };
  }, [everyMs, isOn]);
}
