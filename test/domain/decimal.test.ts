import { test } from 'tap';
import { shiftDecimal } from '../../src/domain/credits.ts';

const CASES: readonly [value: number, places: number, whole: bigint, exact: boolean][] = [
  [0, 6, 0n, true],
  [-0, 6, 0n, true],
  [0.1, 6, 100_000n, true],
  [1.1, 6, 1_100_000n, true],
  [4.35, 2, 435n, true],
  [-4.35, 2, -435n, true],
  [1e-6, 6, 1n, true],
  [1e-7, 6, 0n, false],
  [1.5e-7, 6, 0n, false],
  [-1.0000005, 6, -1_000_000n, false],
  [123456.654321, 6, 123_456_654_321n, true],
  [1e21, 0, 10n ** 21n, true],
  [1.5e21, 3, 15n * 10n ** 23n, true],
  [5e-324, 6, 0n, false],
  [Number.MAX_VALUE, 0, 17976931348623157n * 10n ** 292n, true],
];

for (const [value, places, whole, exact] of CASES) {
  test(`${value} moved by ${places} places is ${whole}${exact ? '' : ' and a rest'}`, async (t) => {
    t.same(shiftDecimal(value, places), { whole, exact });
  });
}

test('only finite numbers can be shifted', async (t) => {
  for (const value of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
    t.equal(shiftDecimal(value, 6), undefined, String(value));
  }
});
