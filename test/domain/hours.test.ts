import { test } from 'tap';
import { isWithin, parseActiveHours } from '../../src/domain/hours.ts';

const READ: readonly [text: string, startMinute: number, endMinute: number][] = [
  ['08:00-18:00', 480, 1080],
  ['00:00-24:00', 0, 1440],
  ['00:00-00:01', 0, 1],
  ['22:30-06:15', 1350, 375],
  ['23:59-24:00', 1439, 1440],
  ['12:00-00:00', 720, 0],
  ['23:59-00:00', 1439, 0],
];

for (const [text, startMinute, endMinute] of READ) {
  test(`${text} is read`, async (t) => {
    t.same(parseActiveHours(text), { startMinute, endMinute });
  });
}

const WRONG = [
  '',
  '-',
  '08:00',
  '8:00-18:00',
  '08:00-18:0',
  '08:00 - 18:00',
  ' 08:00-18:00',
  '08:00-18:00\n',
  '08:00–18:00',
  '08:60-18:00',
  '24:00-08:00',
  '08:00-24:01',
  '25:00-26:00',
  '08:00-08:00',
  '00:00-00:00',
  '08.00-18.00',
  '08:00:00-18:00:00',
  '-8:00-18:00',
  '١٢:٠٠-13:00',
  '１２:00-13:00',
  '08:00-18:00,20:00-22:00',
  '08:00-18:00'.repeat(100_000),
];

for (const text of WRONG) {
  test(`${JSON.stringify(text.slice(0, 30))} is no range of hours`, async (t) => {
    t.equal(parseActiveHours(text), undefined);
  });
}

/** `time` as HH:MM:SS.sss on a day. */
function within(range: string, time: string, day = '2026-06-15'): boolean {
  const hours = parseActiveHours(range);
  if (!hours) throw new Error(`not a range: ${range}`);
  return isWithin(hours, Date.parse(`${day}T${time}Z`));
}

const MOMENTS: readonly [range: string, time: string, inside: boolean][] = [
  ['08:00-18:00', '07:59:59.999', false],
  ['08:00-18:00', '08:00:00.000', true],
  ['08:00-18:00', '17:59:59.999', true],
  ['08:00-18:00', '18:00:00.000', false],
  ['22:00-06:00', '21:59:59.999', false],
  ['22:00-06:00', '22:00:00.000', true],
  ['22:00-06:00', '23:59:59.999', true],
  ['22:00-06:00', '00:00:00.000', true],
  ['22:00-06:00', '05:59:59.999', true],
  ['22:00-06:00', '06:00:00.000', false],
  ['22:00-06:00', '12:00:00.000', false],
  ['12:00-00:00', '23:59:59.999', true],
  ['12:00-00:00', '00:00:00.000', false],
  ['12:00-24:00', '23:59:59.999', true],
  ['12:00-24:00', '00:00:00.000', false],
  ['00:00-24:00', '00:00:00.000', true],
  ['00:00-24:00', '23:59:59.999', true],
];

for (const [range, time, inside] of MOMENTS) {
  test(`${time} is ${inside ? 'within' : 'outside'} ${range}`, async (t) => {
    t.equal(within(range, time), inside);
  });
}

test('hours are UTC on the days on which clocks change elsewhere', async (t) => {
  for (const day of ['2026-03-08', '2026-03-29', '2026-10-25', '2026-11-01']) {
    t.equal(within('02:00-03:00', '01:59:59.999', day), false, day);
    t.equal(within('02:00-03:00', '02:30:00.000', day), true, day);
    t.equal(within('02:00-03:00', '03:00:00.000', day), false, day);
  }
});

test('moments before 1970 have their time of day too', async (t) => {
  t.equal(within('23:59-24:00', '23:59:30.000', '1969-12-31'), true);
  t.equal(within('00:00-00:01', '23:59:30.000', '1969-12-31'), false);
});

test('a range and its reverse share the day between them', async (t) => {
  const day = parseActiveHours('08:00-18:00');
  const night = parseActiveHours('18:00-08:00');
  if (!day || !night) return t.fail('not read');
  for (let minute = 0; minute < 1440; minute += 1) {
    if (isWithin(day, minute * 60_000) === isWithin(night, minute * 60_000)) t.fail(`minute ${minute}`);
  }
  t.pass('each minute is in one of them');
});
