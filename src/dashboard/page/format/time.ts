import { type Zone, zoneNow } from './zone.ts';

const FORMATS = new Map<string, Intl.DateTimeFormat>();

/** A time as `21 Nov 2026, 07:36:05`, in the browser's zone or in UTC. */
export function moment(iso: string, where: 'local' | 'utc', seconds = false): string {
  const key = `${where} ${seconds}`;
  let format = FORMATS.get(key);
  if (!format) {
    format = new Intl.DateTimeFormat('en-GB', {
      dateStyle: 'medium',
      timeStyle: seconds ? 'medium' : 'short',
      ...(where === 'utc' ? { timeZone: 'UTC' } : {}),
    });
    FORMATS.set(key, format);
  }
  return format.format(new Date(iso));
}

/** The date of a time, as `21 Nov 2026`, in the zone that the user chose. */
export function dateOf(iso: string): string {
  return moment(iso, zoneNow()).split(',', 1)[0] ?? '';
}

/** A UTC day such as `2026-11-21` as `21 Nov`. */
export function dayName(day: string): string {
  const format = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
  return format.format(new Date(`${day}T00:00:00Z`));
}

export function zoneName(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** Value of a datetime-local input for a timestamp, in local time; "" for null. */
export function toLocalInput(iso: string | null): string {
  if (iso === null) return '';
  const at = new Date(iso);
  const two = (part: number) => String(part).padStart(2, '0');
  const date = `${String(at.getFullYear()).padStart(4, '0')}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${date}T${two(at.getHours())}:${two(at.getMinutes())}`;
}

/** Timestamp for the value of a datetime-local input; undefined if that is no time. */
export function fromLocalInput(text: string): string | undefined {
  const ms = new Date(text).getTime();
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString();
}

/** Value of a datetime-local input for a timestamp, in the zone of the reader; "" for "". */
export function toInput(iso: string, zone: Zone): string {
  if (iso === '') return '';
  return zone === 'utc' ? iso.slice(0, 16) : toLocalInput(iso);
}

/** Timestamp for the value of a datetime-local input in the zone of the reader; undefined if that is no time. */
export function fromInput(text: string, zone: Zone): string | undefined {
  return fromLocalInput(zone === 'utc' ? `${text}Z` : text);
}

/** A UTC time `HH:MM` in local time, by today's offset. */
export function localClock(utcClock: string): string {
  const [hours = 0, minutes = 0] = utcClock.split(':').map(Number);
  const at = new Date();
  at.setUTCHours(hours, minutes, 0, 0);
  return `${String(at.getHours()).padStart(2, '0')}:${String(at.getMinutes()).padStart(2, '0')}`;
}
