import t from 'tap';
import {
  changeOf,
  changeWords,
  type DaySums,
  daysInWords,
  daysLeft,
  paceOf,
  percent,
  resultsOf,
  sumOf,
} from '../../src/dashboard/page/home/pace.ts';
import { providerErrors } from '../../src/dashboard/page/operator/provider-errors.ts';

const NOW = Date.parse('2026-11-22T12:00:00.000Z');

/** Sums of the day that many days before today. */
function day(ago: number, credits: string, calls = 1): DaySums {
  return { day: new Date(NOW - ago * 86_400_000).toISOString().slice(0, 10), calls, credits };
}

t.test('amounts are summed exactly', async (t) => {
  t.equal(sumOf(['0.100000', '0.200000']), '0.300000');
  t.equal(sumOf(['8500000000.000001', '-0.000002']), '8499999999.999999');
  t.equal(sumOf([]), '0.000000');
});

t.test('the spend of some days and of as many before has its bounds at midnight UTC', async (t) => {
  const rows = [
    day(0, '1.000000'),
    day(6, '2.000000'),
    day(7, '4.000000'),
    day(13, '8.000000'),
    day(14, '16.000000'),
  ];
  t.same(paceOf(rows, 7, NOW), { spent: '3.000000', before: '12.000000' });
  t.same(paceOf(rows, 1, NOW), { spent: '1.000000', before: '0.000000' });
});

t.test('a change is in percent, unless nothing was spent before', async (t) => {
  t.equal(changeOf({ spent: '3.000000', before: '2.000000' }), 50);
  t.equal(changeOf({ spent: '0.000000', before: '2.000000' }), -100);
  t.equal(changeOf({ spent: '3.000000', before: '0.000000' }), undefined);
});

t.test(
  'a balance lasts as long as the spend of seven days says, or of the days since the first call',
  async (t) => {
    for (const [balance, rows, days] of [
      [70, [day(20, '9.000000'), day(3, '14.000000')], 35],
      [70, [day(6, '14.000000')], 35],
      [70, [day(1, '14.000000')], 10],
      [70, [day(0, '14.000000')], 5],
      [70, [day(3, '0.000000', 0), day(0, '14.000000')], 5],
      [70, [day(7, '14.000000')], undefined],
      [0, [day(0, '14.000000')], undefined],
      [-1, [day(0, '14.000000')], undefined],
      [70, [], undefined],
    ] as const) {
      t.equal(daysLeft(balance, rows, NOW), days);
    }
  },
);

t.test('refused and failed requests are part of all, and parts of a percent are not nothing', async (t) => {
  const rows = [
    { ...day(0, '0.000000', 6), refused: 2, failed: 1 },
    { ...day(1, '0.000000', 1), refused: 1 },
    { ...day(30, '0.000000', 5), refused: 5 },
  ];
  t.same(resultsOf(rows, 30, NOW), { all: 10, ok: 6, refused: 3, failed: 1 });
  t.same(resultsOf([], 30, NOW), { all: 0, ok: 0, refused: 0, failed: 0 });
  t.same([percent(0, 0), percent(1, 3), percent(1, 10_000), percent(7, 7)], ['0%', '33.3%', '<0.1%', '100%']);
  t.same([12, -12, 0, 5_000].map(changeWords), ['▲ 12%', '▼ 12%', '0%', '▲ >999%']);
  t.same([0.5, 1, 12.9, 1_000].map(daysInWords), [
    'less than a day',
    'about 1 day',
    'about 12 days',
    'more than 2 years',
  ]);
});

t.test(
  'the provider with the largest share of failed calls comes first, the last hour before the day',
  async (t) => {
    const of = (...providers: (readonly [string, number])[]) => ({
      providers: providers.map(([provider, count]) => ({ provider, count })),
    });
    const hour = { calls: of(['calm', 100], ['dying', 4]), failed: of(['calm', 1], ['dying', 4]) };
    const day = {
      calls: of(['calm', 200], ['past', 10], ['dying', 9]),
      failed: of(['past', 10], ['calm', 1], ['dying', 4]),
    };
    t.same(
      providerErrors(hour, day).map(({ provider }) => provider),
      ['dying', 'calm', 'past'],
    );
  },
);
