const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A length of time in its two largest units, rounded up: `3 h 12 min`, `42 s`. */
export function durationWords(ms: number): string {
  // A time just below a unit would be rounded up to that unit, and so is worded in it.
  if (ms > DAY - MINUTE) return inTwo(ms, [DAY, 'd'], [HOUR, 'h']);
  if (ms > HOUR - SECOND) return inTwo(ms, [HOUR, 'h'], [MINUTE, 'min']);
  if (ms > MINUTE - SECOND) return inTwo(ms, [MINUTE, 'min'], [SECOND, 's']);
  return `${Math.ceil(ms / SECOND)} s`;
}

/** The time that a call took: `412 ms`, `4.75 s`, `12.5 s`. */
export function callDuration(ms: number): string {
  if (ms < SECOND) return `${ms} ms`;
  return ms < 10 * SECOND ? `${(ms / SECOND).toFixed(2)} s` : `${(ms / SECOND).toFixed(1)} s`;
}

type Unit = readonly [ms: number, name: string];

function inTwo(ms: number, [large, largeName]: Unit, [small, smallName]: Unit): string {
  const parts = Math.ceil(ms / small);
  const each = large / small;
  return `${Math.floor(parts / each)} ${largeName} ${parts % each} ${smallName}`;
}

/** Milliseconds after which the words for a remaining time change. */
export function msUntilOtherWords(ms: number): number {
  const step = ms > HOUR ? MINUTE : SECOND;
  return ms % step || Math.min(step, ms);
}

const AGO = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const STEPS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['year', 365 * DAY],
  ['month', 30 * DAY],
  ['day', DAY],
  ['hour', HOUR],
  ['minute', MINUTE],
];

/** How long ago a time is: `3 hours ago`, `yesterday`, `just now`. */
export function agoWords(iso: string, nowMs = Date.now()): string {
  const ms = nowMs - Date.parse(iso);
  const [unit, size] = STEPS.find(([, least]) => ms >= least) ?? [];
  return unit && size ? AGO.format(-Math.floor(ms / size), unit) : 'just now';
}

/** Days without a call after which a key counts as unused. */
export const UNUSED_AFTER_DAYS = 30;

/** True if a key is younger than `UNUSED_AFTER_DAYS`, so that it says nothing if it was never used. */
export function isNew(createdAt: string, nowMs = Date.now()): boolean {
  return nowMs - Date.parse(createdAt) <= UNUSED_AFTER_DAYS * DAY;
}

/** True if a key's latest call is longer ago than `UNUSED_AFTER_DAYS`, or there was none. */
export function isUnused(lastUsedAt: string | null, nowMs = Date.now()): boolean {
  return lastUsedAt === null || nowMs - Date.parse(lastUsedAt) > UNUSED_AFTER_DAYS * DAY;
}
