import { test } from 'tap';
import { SPENDING_PERIODS } from '../../src/domain/key.ts';
import {
  dayString,
  parseDay,
  parseTimestamp,
  periodEndsAt,
  periodStart,
  periodStarts,
  timestamp,
} from '../../src/domain/period.ts';

const STARTS: readonly [now: string, day: string, week: string, month: string][] = [
  ['2026-11-18T12:34:56.789Z', '2026-11-18', '2026-11-16', '2026-11-01'],
  ['2026-11-16T00:00:00.000Z', '2026-11-16', '2026-11-16', '2026-11-01'],
  ['2026-11-15T23:59:59.999Z', '2026-11-15', '2026-11-09', '2026-11-01'],
  ['2026-11-01T00:00:00.000Z', '2026-11-01', '2026-10-26', '2026-11-01'],
  ['2027-01-01T00:00:00.000Z', '2027-01-01', '2026-12-28', '2027-01-01'],
  ['2026-12-31T23:59:59.999Z', '2026-12-31', '2026-12-28', '2026-12-01'],
  ['2028-02-29T10:00:00.000Z', '2028-02-29', '2028-02-28', '2028-02-01'],
  ['2026-03-29T01:30:00.000Z', '2026-03-29', '2026-03-23', '2026-03-01'],
  ['1970-01-01T00:00:00.000Z', '1970-01-01', '1969-12-29', '1970-01-01'],
];

for (const [now, day, week, month] of STARTS) {
  test(`at ${now} the periods start on ${day}, ${week} and ${month}`, async (t) => {
    const starts = periodStarts(Date.parse(now));
    t.equal(dayString(starts.day), day);
    t.equal(dayString(starts.week), week);
    t.equal(dayString(starts.month), month);
  });
}

test('a week starts on Monday, on any day', async (t) => {
  for (let day = 20_000; day < 20_400; day += 1) {
    const { week } = periodStarts(day * 86_400_000 + 1);
    const weekday = new Date(week * 86_400_000).getUTCDay();
    if (weekday !== 1 || week > day || day - week > 6) t.fail(dayString(day));
  }
  t.pass('all weeks');
});

test('the starts are kept within a UTC day and new on the next, also when the clock goes back', async (t) => {
  const noon = Date.parse('2026-11-15T12:00:00Z');
  const first = periodStarts(noon);
  t.equal(periodStarts(noon + 1), first, 'the same object');
  t.equal(dayString(periodStarts(noon + 86_400_000).week), '2026-11-16');
  t.same(periodStarts(noon), first);
});

test('each spending period has its start', async (t) => {
  const starts = { day: 3, week: 2, month: 1 };
  t.same(
    SPENDING_PERIODS.map((period) => periodStart(starts, period)),
    [3, 2, 1],
  );
});

const ENDS: readonly [now: string, daily: string, weekly: string, monthly: string][] = [
  ['2026-11-18T12:34:56.789Z', '2026-11-19', '2026-11-23', '2026-12-01'],
  ['2026-11-16T00:00:00.000Z', '2026-11-17', '2026-11-23', '2026-12-01'],
  ['2026-12-31T23:59:59.999Z', '2027-01-01', '2027-01-04', '2027-01-01'],
  ['2027-01-31T00:00:00.000Z', '2027-02-01', '2027-02-01', '2027-02-01'],
  ['2028-02-28T23:00:00.000Z', '2028-02-29', '2028-03-06', '2028-03-01'],
];

for (const [now, ...days] of ENDS) {
  test(`at ${now} the periods end on ${days.join(', ')}`, async (t) => {
    t.same(
      SPENDING_PERIODS.map((period) => periodEndsAt(Date.parse(now), period)),
      days.map((day) => `${day}T00:00:00.000Z`),
    );
  });
}

test('a timestamp has milliseconds and Z', async (t) => {
  t.equal(timestamp(0), '1970-01-01T00:00:00.000Z');
  t.equal(timestamp(1_795_001_696_789), '2026-11-18T11:34:56.789Z');
  t.equal(timestamp(Date.UTC(10_000) - 1), '9999-12-31T23:59:59.999Z');
  t.equal(timestamp(Date.UTC(-1, 12)), '0000-01-01T00:00:00.000Z');
});

test('there is no timestamp beyond four-digit years', async (t) => {
  for (const ms of [Date.UTC(10_000), Date.UTC(-1, 12) - 1, Number.NaN, Number.POSITIVE_INFINITY]) {
    t.throws(() => timestamp(ms), RangeError, String(ms));
  }
});

const READ: readonly [text: string, utc: string][] = [
  ['2026-11-18T12:34:56.789Z', '2026-11-18T12:34:56.789Z'],
  ['2026-11-18T12:34:56Z', '2026-11-18T12:34:56.000Z'],
  ['2026-11-18T12:34Z', '2026-11-18T12:34:00.000Z'],
  ['2026-11-18T12:34:56.789123456Z', '2026-11-18T12:34:56.789Z'],
  ['2026-11-18T12:34:56+02:00', '2026-11-18T10:34:56.000Z'],
  ['2026-11-18T12:34:56+0200', '2026-11-18T10:34:56.000Z'],
  ['2026-11-18T12:34:56+02', '2026-11-18T10:34:56.000Z'],
  ['2026-11-18T12:34:56-05:30', '2026-11-18T18:04:56.000Z'],
  ['2026-11-18T12:34:56-00:00', '2026-11-18T12:34:56.000Z'],
  ['2026-12-31T23:30:00-01:00', '2027-01-01T00:30:00.000Z'],
  ['2026-11-18T24:00:00Z', '2026-11-19T00:00:00.000Z'],
  ['2028-02-29T00:00:00Z', '2028-02-29T00:00:00.000Z'],
  ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
];

for (const [text, utc] of READ) {
  test(`${text} is read as ${utc}`, async (t) => {
    t.equal(timestamp(parseTimestamp(text) ?? Number.NaN), utc);
  });
}

const NO_TIMESTAMPS = [
  '',
  'tomorrow',
  '2026-11-18',
  '2026-11-18Z',
  '2026-11-18T12:34:56',
  '2026-11-18T12:34:56[Europe/Paris]',
  '2026-11-18 12:34:56Z',
  ' 2026-11-18T12:34:56Z',
  '2026-11-18T12:34:56Z ',
  '2026-11-18T12:34:56Z\n',
  '2026-02-29T00:00:00Z',
  '2026-13-01T00:00:00Z',
  '2026-11-18T25:00:00Z',
  '2026-11-18T12:60:00Z',
  '2026-11-18T12:34:56+24:00',
  '2026-11-18T12:34:56+02:60',
  '2026-11-18T12:34:56+99:99',
  '2026-11-18T12:34:56 UTC',
  '+010000-01-01T00:00:00Z',
  '9999-12-31T23:59:59-01:00',
  '-000001-01-01T00:00:00Z',
  '٢٠٢٦-11-18T12:34:56Z',
  `2026-11-18T12:34:56.${'0'.repeat(1_000_000)}Z`,
];

for (const text of NO_TIMESTAMPS) {
  test(`${JSON.stringify(text.slice(0, 40))} is no timestamp with an offset`, async (t) => {
    t.equal(parseTimestamp(text), undefined);
  });
}

test('a day is written and read', async (t) => {
  t.equal(dayString(0), '1970-01-01');
  t.equal(dayString(-1), '1969-12-31');
  t.equal(parseDay('1970-01-01'), 0);
  t.equal(parseDay('2028-02-29'), Date.UTC(2028, 1, 29) / 86_400_000);
  for (let day = 0; day < 40_000; day += 13) {
    if (parseDay(dayString(day)) !== day) t.fail(dayString(day));
  }
});

for (const text of [
  '',
  '2026-02-29',
  '2026-2-1',
  '2026-13-01',
  '2026-00-10',
  '20260101',
  '2026-01-01T00:00Z',
  '2026-W01',
  ' 2026-01-01',
  '2026-01-01\n',
  '٢٠٢٦-01-01',
]) {
  test(`${JSON.stringify(text)} is no day`, async (t) => {
    t.equal(parseDay(text), undefined);
  });
}
