import { test } from 'tap';
import { exchanged } from '../../../src/config/price-list/list-price.ts';
import { priceInMicros } from '../../../src/domain/price.ts';
import type { Unit } from '../../../src/domain/units.ts';
import fc, { MANY } from '../../helper/suite/fast-check.ts';

/** For each unit in which the list prices something: the units of the config file's price and of the list's price. */
const WAYS: readonly (readonly [Unit, ours: bigint, list: number])[] = [
  ['input', 1_000_000n, 1_000_000],
  ['cacheWrite1h', 1_000_000n, 1_000_000],
  ['character', 1_000_000n, 1_000_000],
  ['webSearch', 1_000n, 1_000],
  ['request', 1n, 1_000],
  ['audioSecond', 1n, 3_600],
];

/** Decimal text of at most 12 places as a fraction of 10^12. */
function trillionths(text: string): bigint {
  const [whole = '0', fraction = ''] = text.split('.');
  return BigInt(whole + fraction.padEnd(12, '0'));
}

/** Digits and the number of decimals: `12345` and 3 are 12.345. */
const decimalText = fc
  .tuple(fc.integer({ min: 0, max: 9_999_999 }), fc.integer({ min: 0, max: 9 }))
  .map(([digits, places]) => {
    const text = String(digits).padStart(places + 1, '0');
    return places === 0 ? text : `${text.slice(0, -places)}.${text.slice(-places)}`;
  });

test('a list price × credits per dollar × markup is exact, and rounded up once to a micro-credit', async (t) => {
  fc.assert(
    fc.property(
      decimalText,
      fc.constantFrom(...WAYS),
      fc.integer({ min: 1, max: 200_000_000 }),
      fc.integer({ min: 0, max: 3_000_000 }),
      (usd, [unit, ours, list], creditsPerUsd, markup) => {
        const price = exchanged(Number(usd), { unit, per: list }, { creditsPerUsd, markup });
        const micros = BigInt(priceInMicros(unit, price));
        // usd / list × ours × creditsPerUsd / 10^6 × markup / 10^6 × 10^6 micro-credits, over one denominator.
        const exact = trillionths(usd) * ours * BigInt(creditsPerUsd) * BigInt(markup);
        const one = 10n ** 12n * BigInt(list) * 10n ** 6n;
        return micros * one >= exact && (micros - 1n) * one < exact;
      },
    ),
    MANY,
  );
  t.pass('at 2,000 prices');
});

const PLAIN = { creditsPerUsd: 1_000_000, markup: 1_000_000 };

test('binary fractions do not come near a price', async (t) => {
  const input = { unit: 'input', per: 1_000_000 } as const;
  const micros = (usd: number, exchange = PLAIN) => priceInMicros('input', exchanged(usd, input, exchange));
  t.equal(micros(0.1), 100_000);
  t.equal(micros(1.1), 1_100_000, '1.1 * 1e6 is 1100000.0000000002');
  t.equal(micros(0.07, { ...PLAIN, markup: 1_200_000 }), 84_000);
  t.equal(micros(0.003625), 3_625);
  t.equal(micros(1e-7), 1, 'below a micro-credit: one');
  t.equal(micros(0), 0);
});

test('per second and per request: the next micro-credit above', async (t) => {
  const hour = { unit: 'audioSecond', per: 3_600 } as const;
  t.equal(priceInMicros('audioSecond', exchanged(0.27, hour, PLAIN)), 75);
  t.equal(priceInMicros('audioSecond', exchanged(0.111, hour, PLAIN)), 31, '0.0000308333…');
  t.equal(priceInMicros('request', exchanged(12, { unit: 'request', per: 1_000 }, PLAIN)), 12_000);
});

test('impossible exchange rates are refused', async (t) => {
  const input = { unit: 'input', per: 1_000_000 } as const;
  for (const usd of [-1, Number.NaN, Number.POSITIVE_INFINITY, 1e12])
    t.throws(() => exchanged(usd, input, PLAIN), { message: /not a price|more than a price can be/ });
});
