const MINUTE_MS = 60_000;
const MINUTES_A_DAY = 1_440;

/** A daily UTC range in minutes after midnight: start inclusive, end exclusive. Wraps midnight if start > end. */
export interface ActiveHours {
  /** 0–1439. */
  readonly startMinute: number;
  /** 0–1440. */
  readonly endMinute: number;
}

const HOURS = /^([01]\d|2[0-3]):([0-5]\d)-(?:([01]\d|2[0-3]):([0-5]\d)|24:00)$/;

/**
 * Parses `HH:MM-HH:MM` (specification section 2, `active_hours`). `24:00` is allowed only as the end. Undefined for
 * other text, or if start and end are equal, which could mean always or never.
 */
export function parseActiveHours(text: string): ActiveHours | undefined {
  const match = HOURS.exec(text);
  if (!match) return undefined;
  const [, startHour, startMinutes, endHour, endMinutes] = match;
  const startMinute = Number(startHour) * 60 + Number(startMinutes);
  const endMinute = endHour === undefined ? MINUTES_A_DAY : Number(endHour) * 60 + Number(endMinutes);
  return startMinute === endMinute ? undefined : { startMinute, endMinute };
}

/** True if `nowMs` (milliseconds since the epoch) lies within the hours. */
export function isWithin(hours: ActiveHours, nowMs: number): boolean {
  const minute = minuteOfDay(nowMs);
  const { startMinute, endMinute } = hours;
  return startMinute < endMinute
    ? minute >= startMinute && minute < endMinute
    : minute >= startMinute || minute < endMinute;
}

function minuteOfDay(ms: number): number {
  const minute = Math.floor(ms / MINUTE_MS) % MINUTES_A_DAY;
  return minute < 0 ? minute + MINUTES_A_DAY : minute;
}
