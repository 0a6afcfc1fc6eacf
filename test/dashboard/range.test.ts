import t from 'tap';
import { fromInput, toInput } from '../../src/dashboard/page/format/time.ts';
import { rangeOf, zoomedOut } from '../../src/dashboard/page/ui/range-of.ts';

const NOW = Date.UTC(2026, 10, 29, 14, 3, 20);
const none = { from: '', to: '' };

t.test('a named range ends with the current minute', async (t) => {
  t.same(rangeOf({ range: '15m', ...none }, '7d', NOW), {
    name: '15m',
    from: '2026-11-29T13:49:00.000Z',
    to: '2026-11-29T14:04:00.000Z',
  });
  for (const range of [undefined, 'nonsense', 'toString']) {
    t.equal(rangeOf({ range, ...none }, '7d', NOW).name, '7d', String(range));
  }
});

t.test('from and to are a range of their own, also days and one alone', async (t) => {
  const own = (from: string, to: string) => rangeOf({ range: '7d', from, to }, '7d', NOW);
  t.same(own('2026-11-28T13:00:00.000Z', '2026-11-28T13:05:00.000Z'), {
    name: 'own',
    from: '2026-11-28T13:00:00.000Z',
    to: '2026-11-28T13:05:00.000Z',
  });
  t.same(own('2026-11-27', '2026-11-28'), {
    name: 'own',
    from: '2026-11-27T00:00:00.000Z',
    to: '2026-11-29T00:00:00.000Z',
  });
  t.same(own('', '2026-11-28T13:00:00.000Z'), { name: 'own', from: '', to: '2026-11-28T13:00:00.000Z' });
  t.equal(own('yesterday', '').name, '7d');
});

t.test('zooming out triples the span around it, and ends now at the latest', async (t) => {
  t.same(zoomedOut({ from: '2026-11-28T13:00:00.000Z', to: '2026-11-28T14:00:00.000Z' }, NOW), {
    from: '2026-11-28T12:00:00.000Z',
    to: '2026-11-28T15:00:00.000Z',
  });
  t.same(zoomedOut({ from: '2026-11-29T13:34:00.000Z', to: '2026-11-29T14:04:00.000Z' }, NOW), {
    from: '2026-11-29T12:34:00.000Z',
    to: '2026-11-29T14:04:00.000Z',
  });
});

t.test('a typed time is in the zone of the reader', async (t) => {
  t.equal(toInput('2026-01-15T13:03:00.000Z', 'utc'), '2026-01-15T13:03');
  t.equal(fromInput('2026-01-15T13:03', 'utc'), '2026-01-15T13:03:00.000Z');
  for (const zone of ['utc', 'local'] as const) {
    t.equal(fromInput(toInput('2026-06-15T13:03:00.000Z', zone), zone), '2026-06-15T13:03:00.000Z');
    t.equal(fromInput('', zone), undefined);
  }
});
