import { useEffect, useState } from 'react';
import { msUntilOtherWords } from '../format/duration.ts';

/**
 * Milliseconds until a time, by the browser's clock; 0 once it has passed, and for null. The component is drawn again
 * as the time runs down.
 */
export function useTimeLeft(until: string | null): number {
  const [, redraw] = useState(0);
  const left = until === null ? 0 : Math.max(0, Date.parse(until) - Date.now());
  useEffect(() => {
    if (left === 0) return undefined;
    // One more millisecond, because timers may fire early by less than that.
    const timer = setTimeout(() => redraw((count) => count + 1), msUntilOtherWords(left) + 1);
    return () => clearTimeout(timer);
  });
  return left;
}
