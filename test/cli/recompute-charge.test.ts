import { test } from 'tap';
import { recomputedCharge } from '../../src/cli/reconcile-charges.ts';
import { micro } from '../../src/domain/credits.ts';
import type { AppliedUnits } from '../../src/domain/ledger-entry.ts';
import { appliedUnits, chargeFor, priceFromCredits, priceOf } from '../../src/domain/price.ts';
import { UNIT_NAMES, type Usage, unitRow } from '../../src/domain/units.ts';
import fc, { MANY } from '../helper/suite/fast-check.ts';

const millionths = (max: number) => fc.integer({ min: 0, max }).map((count) => count / 1e6);
const usages = fc.record(
  Object.fromEntries(
    UNIT_NAMES.map((unit) => {
      const { usage, isTimed } = unitRow(unit);
      return [usage, isTimed ? fc.double({ min: 0, max: 1e3, noNaN: true }) : fc.nat(100_000)];
    }),
  ),
  { requiredKeys: [] },
);
const prices = fc.record(Object.fromEntries(UNIT_NAMES.map((unit) => [unit, millionths(100_000_000)])));

test('the second arithmetic agrees with the first for any usage', (t) => {
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
    MANY,
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
  // A tenth of a micro-credit rounds up to one, once for the whole sum.
  t.equal(of({ input: 1, output: 1 }, { input: 100_000, output: 100_000 }), 1n);
  // 3 searches at 10 credits for 1,000 and a picture at 0.04: fees, which the tier priority does not multiply; 5 tokens twice.
  t.equal(
    of({ input: 5, webSearches: 3, images: 1 }, { input: 1e6, webSearch: 1e7, image: 4e4 }, 2_000_000),
    70_010n,
  );
  // Half a microsecond rounds up to one, at 1,000,000 credits a second.
  t.equal(of({ audioSeconds: 5e-7 }, { audioSecond: 1e12 }), 1_000_000n);
  t.equal(of({}, {}), 0n);
  t.end();
});

test('a row of passes is the sum of them, each at its own prices', (t) => {
  const short = { usage: { input: 100, output: 10 }, price: { input: micro(1e6), output: micro(2e6) } };
  const long = {
    usage: { input: 900, output: 20, requests: 1 },
    price: { input: micro(3e6), output: micro(4e6), request: micro(7) },
  };
  const row = { usage: { input: 1_000, output: 30, requests: 1 }, price: long.price, multiplier: 2_000_000 };
  t.equal(recomputedCharge({ ...row, passes: [short, long] }), 2n * (120n + 2_780n) + 7n);
  t.equal(
    recomputedCharge({ ...row, usage: { input: 1_000 }, passes: [short, long] }),
    undefined,
    'not the sum',
  );
  t.end();
});

test('a row without the price of a used unit cannot be computed', (t) => {
  t.equal(recomputedCharge({ usage: { input: 1, output: 1 }, price: { input: micro(1) } }), undefined);
  t.equal(recomputedCharge({ usage: { output: -1 }, price: { output: micro(1) } }), undefined);
  t.equal(recomputedCharge({ usage: { newer: 1 } as Usage, price: {} }), undefined);
  t.end();
});
