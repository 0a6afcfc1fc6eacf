import t from 'tap';
import {
  agoWords,
  durationWords,
  isNew,
  isUnused,
  msUntilOtherWords,
} from '../../src/dashboard/page/format/duration.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

t.test('a duration shows its two largest units, rounded up', async (t) => {
  for (const [ms, words] of [
    [1, '1 s'],
    [59 * SECOND, '59 s'],
    [59 * SECOND + 1, '1 min 0 s'],
    [HOUR - SECOND, '59 min 59 s'],
    [HOUR - 1, '1 h 0 min'],
    [3 * HOUR + 11 * MINUTE + 1, '3 h 12 min'],
    [DAY - MINUTE, '23 h 59 min'],
    [DAY - 1, '1 d 0 h'],
    [30 * DAY, '30 d 0 h'],
  ] as const) {
    t.equal(durationWords(ms), words);
  }
});

t.test('its text changes as time passes, and when it is over', async (t) => {
  for (const ms of [1, 999, SECOND, 5_500, HOUR - 1, HOUR, HOUR + 1, 3 * HOUR + 12_345]) {
    const next = msUntilOtherWords(ms);
    t.ok(next > 0 && next <= ms, `${ms} ms: in ${next} ms`);
    if (next > 1) t.equal(durationWords(ms - next + 1), durationWords(ms), `${ms} ms: not sooner`);
    if (next < ms) t.not(durationWords(ms - next - 1), durationWords(ms), `${ms} ms: then`);
  }
});

t.test('how long ago a time is, and whether that is too long', async (t) => {
  const now = Date.parse('2026-11-22T12:00:00.000Z');
  for (const [ms, words, unused] of [
    [-5 * SECOND, 'just now', false],
    [59 * SECOND, 'just now', false],
    [MINUTE, '1 minute ago', false],
    [3 * HOUR, '3 hours ago', false],
    [DAY, 'yesterday', false],
    [29 * DAY, '29 days ago', false],
    [30 * DAY, 'last month', false],
    [30 * DAY + 1, 'last month', true],
    [800 * DAY, '2 years ago', true],
  ] as const) {
    const at = new Date(now - ms).toISOString();
    t.equal(agoWords(at, now), words);
    t.equal(isUnused(at, now), unused, `${words}: ${unused ? 'unused' : 'used'}`);
  }
  t.equal(isUnused(null, now), true);
  t.equal(isNew(new Date(now - 30 * DAY).toISOString(), now), true);
  t.equal(isNew(new Date(now - 30 * DAY - 1).toISOString(), now), false);
});
