import { useSyncExternalStore } from 'react';

export type Zone = 'local' | 'utc';

let current: Zone = 'local';
const listeners = new Set<() => void>();

/** The time zone in which the page shows times. */
export function zoneNow(): Zone {
  return current;
}

/** Sets the time zone, which the address keeps as `times=utc`. */
export function setZone(zone: Zone): void {
  if (zone === current) return;
  current = zone;
  for (const listener of listeners) listener();
}

export function useZone(): Zone {
  return useSyncExternalStore((tell) => {
    listeners.add(tell);
    return () => listeners.delete(tell);
  }, zoneNow);
}
