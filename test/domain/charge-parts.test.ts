import { test } from 'tap';
import { billOf, type Terms } from '../../src/domain/bill.ts';
import { type ChargePart, chargeParts } from '../../src/domain/charge-parts.ts';
import { creditsString, micro } from '../../src/domain/credits.ts';
import { priceFromCredits, priceOf } from '../../src/domain/price.ts';
import type { Unit, Usage } from '../../src/domain/units.ts';

const priced = (units: Readonly<Partial<Record<Unit, number>>>) =>
  Object.fromEntries(
    Object.entries(units).map(([unit, credits]) => [unit, priceFromCredits(unit as Unit, credits) ?? 0n]),
  );

const PRICE = priceOf(
  priced({ input: 0.123457, cachedInput: 0.01, output: 2, request: 0.01, audioSecond: 0.000006 }),
  {
    tiers: [{ above: 100, units: priced({ input: 1 }) }],
    serviceTiers: new Map([['priority', 1_750_000]]),
  },
);

/** The parts of the charge of a usage, and the charge. */
function partsOf(usage: Usage, terms: Terms = {}) {
  const { charge, ...bill } = billOf({ price: PRICE }, usage, [], terms);
  return { parts: chargeParts({ ...bill, credits: micro(-charge) }) ?? [], charge };
}

/** Adds decimal strings exactly. */
function sumOf(parts: readonly ChargePart[]): bigint {
  return parts.reduce((sum, { credits }) => {
    const [whole = '', fraction = ''] = credits.split('.');
    return sum + BigInt(`${whole}${fraction.padEnd(24, '0')}`);
  }, 0n);
}

test('the parts of a charge add up to it exactly', async (t) => {
  for (const [usage, terms] of [
    [{ input: 7, output: 1 }, {}],
    [{ input: 1, cachedInput: 3 }, { serviceTiers: ['priority'] }],
    [
      { input: 333, output: 77 },
      {
        passes: [
          { input: 300, output: 70 },
          { input: 33, output: 7 },
        ],
      },
    ],
    [{ input: 101 }, { isUnbilled: true }],
    [{ audioSeconds: 1.2345678 }, {}],
    [{}, {}],
  ] as const satisfies readonly (readonly [Usage, Terms])[]) {
    const { parts, charge } = partsOf(usage, terms);
    t.equal(sumOf(parts), BigInt(charge) * 10n ** 18n, JSON.stringify(usage));
  }
});

test('a part is used x price x multiplier, exactly, and rounding has its own', async (t) => {
  const { parts, charge } = partsOf({ input: 7, output: 1 }, { serviceTiers: ['priority'] });
  t.same(parts, [
    {
      unit: 'input',
      used: 7,
      price: 123_457,
      per: 1_000_000,
      multiplier: 1_750_000,
      credits: '0.00000151234825',
    },
    {
      unit: 'output',
      used: 1,
      price: 2_000_000,
      per: 1_000_000,
      multiplier: 1_750_000,
      credits: '0.0000035',
    },
    { unit: 'request', used: 1, price: 10_000, per: 1, multiplier: 1_000_000, credits: '0.010000' },
    { unit: 'rounding', credits: '0.00000098765175' },
  ]);
  t.equal(creditsString(charge), '0.010006');
});

test('passes in different length tiers have parts at their own prices', async (t) => {
  const { parts } = partsOf({ input: 333 }, { passes: [{ input: 300 }, { input: 33 }] });
  t.match(parts, [
    { unit: 'input', used: 300, price: 1_000_000, credits: '0.000300' },
    { unit: 'input', used: 33, price: 123_457, credits: '0.000004074081' },
    { unit: 'request' },
    { unit: 'rounding' },
  ]);
});

test('what is not a call has no parts, and a call that cost nothing has none', async (t) => {
  t.equal(chargeParts({ credits: micro(5), usage: {} }), undefined);
  t.same(chargeParts({ credits: micro(0), usage: { input: 5 }, price: { input: micro(0) } }), []);
});
