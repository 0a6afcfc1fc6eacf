import fc from 'fast-check';
import { test } from 'tap';
import { recomputedCharge } from '../../src/cli/recompute-charge.ts';
import { micro } from '../../src/domain/credits.ts';
import type { AppliedUnits } from '../../src/domain/ledger-entry.ts';
import { appliedUnits, chargeFor, priceFromCredits, priceOf } from '../../src/domain/price.ts';
import { TIMED, UNIT_NAMES, UNITS } from '../../src/domain/price-units.ts';
import type { Usage } from '../../src/domain/usage.ts';

const millionths = (max: number) => fc.integer({ min: 0, max }).map((count) => count / 1e6);
const usages = fc.record(
  Object.fromEntries(
    UNIT_NAMES.map((unit) => {
      const { usage } = UNITS[unit];
      return [usage, TIMED.has(usage) ? fc.double({ min: 0, max: 1e3, noNaN: true }) : fc.nat(100_000)];
    }),
  ),
  { requiredKeys: [] },
);
const prices = fc.record(Object.fromEntries(UNIT_NAMES.map((unit) => [unit, millionths(100_000_000)])));

test('the second arithmetic comes to what the first one charges, whatever is used', (t) => {
  fc.assert(
    fc.property(usages, prices, fc.integer({ min: 1, max: 10_000_000 }), (used, credits, multiplier) => {
      const usage = used as Usage;
      const given = Object.fromEntries(
        UNIT_NAMES.map((unit) => [unit, priceFromCredits(unit, credits[unit] ?? 0) ?? 0n]),
      );
      const price = priceOf(given);
      const charged = chargeFor(price, usage, multiplier);
      return (
        recomputedCharge({ usage, price: appliedUnits(price.units, usage), multiplier }) === BigInt(charged)
      );
    }),
    { numRuns: 2_000 },
  );
  t.pass('for 2,000 usages');
  t.end();
});

test('charges worked out by hand', (t) => {
  const of = (usage: Usage, price: Record<string, number>, multiplier?: number) => {
    const units = Object.fromEntries(Object.entries(price).map(([unit, amount]) => [unit, micro(amount)]));
    return recomputedCharge({
      usage,
      price: units as AppliedUnits,
      ...(multiplier === undefined ? {} : { multiplier }),
    });
  };
  // 8 tokens at 1 credit a million, 17 at 2, and 0.01 a request: 8 + 34 + 10,000 micro-credits.
  t.equal(of({ input: 8, output: 17, requests: 1 }, { input: 1e6, output: 2e6, request: 1e4 }), 10_042n);
  // A tenth of a micro-credit is a whole one, once for the sum.
  t.equal(of({ input: 1, output: 1 }, { input: 100_000, output: 100_000 }), 1n);
  // 3 searches at 10 credits for 1,000, at the tier priority, twice.
  t.equal(of({ webSearches: 3 }, { webSearch: 1e7 }, 2_000_000), 60_000n);
  // Half a microsecond is a whole one, at 1,000,000 credits a second.
  t.equal(of({ audioSeconds: 5e-7 }, { audioSecond: 1e12 }), 1_000_000n);
  t.equal(of({}, {}), 0n);
  t.end();
});

test('a row without the price of what it used cannot be computed', (t) => {
  t.equal(recomputedCharge({ usage: { input: 1, output: 1 }, price: { input: micro(1) } }), undefined);
  t.equal(recomputedCharge({ usage: { output: -1 }, price: { output: micro(1) } }), undefined);
  t.equal(recomputedCharge({ usage: { newer: 1 } as Usage, price: {} }), undefined);
  t.end();
});
