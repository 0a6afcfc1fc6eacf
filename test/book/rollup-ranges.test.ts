import { type Test, test } from 'tap';
import { rollupRanges } from '../../src/book/usage.ts';
import { monthStart } from '../../src/domain/period.ts';

/** How often each day is counted. A whole month counts each of its days. */
function counted(from: number, to: number): Map<number, number> {
  const times = new Map<number, number>();
  for (const part of rollupRanges(from, to)) {
    for (let day = part.from; day < part.to; day++) times.set(day, (times.get(day) ?? 0) + part.times);
  }
  return times;
}

const FIRST = Date.UTC(2027, 10, 20) / 86_400_000;

/** Every span that begins or ends on a day of 130, February of a leap year among them. */
function everySpan(work: (from: number, to: number) => void): void {
  for (let from = FIRST; from < FIRST + 130; from++) {
    for (let to = from; to <= FIRST + 130; to++) work(from, to);
  }
}

function none(t: Test, faults: readonly string[]): void {
  t.same(faults.slice(0, 10), []);
}

test('each day of a span counts once, and no other', (t) => {
  const faults: string[] = [];
  everySpan((from, to) => {
    const times = counted(from, to);
    const wrong = [...times].filter(([day, count]) => count !== Number(day >= from && day < to));
    const missing = to - from - [...times.values()].reduce((sum, count) => sum + count, 0);
    if (wrong.length > 0 || missing !== 0) faults.push(`${from} to ${to}`);
  });
  none(t, faults);
  t.end();
});

test('months are whole', (t) => {
  const faults: string[] = [];
  everySpan((from, to) => {
    const months = rollupRanges(from, to).filter(({ sums }) => sums === 'months');
    const cut = months.filter((part) => [part.from, part.to].some((day) => monthStart(day) !== day));
    if (cut.length > 0) faults.push(`${from} to ${to}`);
  });
  none(t, faults);
  t.end();
});

test('no span reads more than 15 single days at either end, nor more than it has', (t) => {
  const faults: string[] = [];
  everySpan((from, to) => {
    const single = rollupRanges(from, to).filter(({ sums }) => sums === 'days');
    const days = single.reduce((sum, part) => sum + part.to - part.from, 0);
    if (days > Math.min(30, to - from)) faults.push(`${from} to ${to}: ${days}`);
  });
  none(t, faults);
  t.end();
});
