import { moment } from '../format/time.ts';
import type { Zone } from '../format/zone.ts';

/** A series of bars. Its id tells it from others of the same name; its color follows from its place in the list. */
export interface Series {
  readonly id: string;
  readonly name: string;
  /** Default: the next color of the palette. `good`, `warning` and `bad` are for results. */
  readonly tone?: 'good' | 'warning' | 'bad';
}

/** Values of the series in one span of time, by their ids. */
export interface Bucket {
  /** Start of the span, as the API gives it: a timestamp, or a UTC day. */
  readonly at: string;
  readonly values: Readonly<Record<string, number>>;
}

export type Unit = 'minute' | 'hour' | 'day';

/** A bar of the chart, and the span of time that it stands for. */
export interface Bar {
  readonly from: string;
  readonly to: string;
  /** The span in words. */
  readonly words: string;
  readonly values: readonly number[];
  readonly sum: number;
}

const UNIT_MS: Readonly<Record<Unit, number>> = { minute: 60_000, hour: 3_600_000, day: 86_400_000 };

/** Bars of the buckets, with the values in the order of the series. */
export function barsOf(buckets: readonly Bucket[], series: readonly Series[], unit: Unit, zone: Zone): Bar[] {
  const starts = buckets.map(({ at }) => Date.parse(at));
  // A bucket may be several days long.
  const length = starts.length > 1 ? (starts[1] ?? 0) - (starts[0] ?? 0) : UNIT_MS[unit];
  return buckets.map(({ values: byId }, place) => {
    const start = starts[place] ?? 0;
    const from = new Date(start).toISOString();
    const to = new Date(start + length).toISOString();
    const values = series.map(({ id }) => byId[id] ?? 0);
    const sum = values.reduce((one, other) => one + other, 0);
    return { from, to, words: spanWords(start, length, unit, zone), values, sum };
  });
}

/** A span of time in words: `21 Nov, 14:03–14:04`; of days, which are those of UTC, `21 Nov`. */
function spanWords(start: number, length: number, unit: Unit, zone: Zone): string {
  const [day, time] = partsOf(start, unit, zone);
  if (unit !== 'day') return `${day}, ${time}–${partsOf(start + length, unit, zone)[1]}`;
  return length > UNIT_MS.day ? `${day} – ${partsOf(start + length - 1, unit, zone)[0]}` : day;
}

/** Day and time in the zone of the reader; days begin in UTC. The current year is left out. */
function partsOf(ms: number, unit: Unit, zone: Zone): readonly [day: string, time: string] {
  const [day = '', time = ''] = moment(new Date(ms).toISOString(), unit === 'day' ? 'utc' : zone).split(', ');
  return [day.replace(` ${new Date().getFullYear()}`, ''), time];
}

/** Labels below some of the bars, as many as fit; the day is named where it changes. */
export function labelsOf(bars: readonly Bar[], unit: Unit, zone: Zone, width: number) {
  const every = Math.max(1, Math.ceil((bars.length * (unit === 'day' ? 64 : 112)) / width));
  let lastDay = '';
  return bars.flatMap(({ from }, place) => {
    if (place % every !== 0 || (place > 0 && place + every / 2 > bars.length)) return [];
    const [day, time] = partsOf(Date.parse(from), unit, zone);
    const words = unit === 'day' ? day : day === lastDay ? time : `${day}, ${time}`;
    lastDay = day;
    return [{ place, words }];
  });
}

/** The values of a bar in words. */
export function barWords(
  bar: Bar | undefined,
  series: readonly Series[],
  format: (value: number) => string,
): string {
  if (bar === undefined) return '';
  return `${bar.words}: ${series.map(({ name }, index) => `${name} ${format(bar.values[index] ?? 0)}`).join(', ')}`;
}

/** Steps that people count in: axes read 0, 2, 4 rather than 0, 1.7, 3.4. */
const STEPS = [1, 2, 5, 10];
const MOST_STEPS = 4;

/** Marks of the axis from 0 to the first that is not below the highest bar. */
export function ticksOf(bars: readonly Bar[]): number[] {
  const max = Math.max(...bars.map(({ sum }) => sum));
  if (max <= 0) return [0, 1];
  const least = max / MOST_STEPS;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = power * (STEPS.find((one) => one * power >= least) ?? 10);
  const whole = bars.every(({ values }) => values.every(Number.isInteger)) ? Math.max(1, step) : step;
  // Without the noise of floats, which would be written out.
  return Array.from({ length: Math.ceil(max / whole) + 1 }, (_, at) => Number((at * whole).toPrecision(12)));
}
