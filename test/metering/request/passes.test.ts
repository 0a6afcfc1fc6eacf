import { test } from 'tap';
import { allTokens, longestPass, type Passes, sumsByTier } from '../../../src/metering/bounds.ts';
import fc, { MANY } from '../../helper/suite/fast-check.ts';

const passes = fc
  .record({
    first: fc.nat(300),
    rounds: fc.nat(12),
    growing: fc.nat(12),
    growth: fc.nat(90),
    most: fc.nat(500),
  })
  .map((drawn): Passes => ({ ...drawn, first: Math.min(drawn.first, drawn.most) }));

/** The passes one by one. */
function listed({ first, rounds, growing, growth, most }: Passes): number[] {
  return Array.from({ length: rounds + 1 }, (_, index) =>
    Math.min(most, first + Math.min(index, growing) * growth),
  );
}

const sum = (numbers: readonly number[]) => numbers.reduce((a, b) => a + b, 0);

test('the sums are those of the passes one by one', (t) => {
  fc.assert(
    fc.property(passes, fc.uniqueArray(fc.nat(500), { maxLength: 3 }), (drawn, boundaries) => {
      const all = listed(drawn);
      boundaries.sort((a, b) => a - b);
      const tierOf = (tokens: number) => boundaries.filter((above) => tokens > above).length;
      const expected = [...Map.groupBy(all, tierOf).values()].map((some) => ({
        input: sum(some),
        longest: Math.max(...some),
      }));
      const real = sumsByTier(drawn, boundaries);
      if (JSON.stringify(real) !== JSON.stringify(expected))
        throw new Error(`${JSON.stringify(real)}, not ${JSON.stringify(expected)}`);
      if (allTokens(drawn) !== sum(all)) throw new Error('all');
      if (longestPass(drawn) !== Math.max(...all)) throw new Error('longest');
    }),
    MANY,
  );
  t.end();
});

test('endless rounds are summed in one step', (t) => {
  const endless = {
    first: 1,
    rounds: Number.MAX_SAFE_INTEGER,
    growing: Number.MAX_SAFE_INTEGER,
    growth: 1,
    most: 1_000_000,
  };
  t.ok(allTokens(endless) > Number.MAX_SAFE_INTEGER);
  t.equal(longestPass(endless), 1_000_000);
  t.equal(sumsByTier(endless, [10, 100]).length, 3);
  t.end();
});
