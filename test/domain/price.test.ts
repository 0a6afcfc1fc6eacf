import { test } from 'tap';
import type { Price } from '../../src/domain/catalog.ts';
import { MAX_CREDITS } from '../../src/domain/credits.ts';
import {
  chargeFor,
  FREE_PRICE,
  holdFor,
  isPriced,
  priceFromCredits,
  priceInCredits,
  priceOf,
} from '../../src/domain/price.ts';
import { UNIT_NAMES, type Unit, type Usage } from '../../src/domain/units.ts';
import { creditPrice } from '../helper/fixtures/credit-price.ts';
import fc, { MANY } from '../helper/suite/fast-check.ts';

const PRICES: readonly [unit: Unit, credits: number, pico: bigint | undefined][] = [
  ['input', 0.15, 150_000n],
  ['input', 0, 0n],
  ['input', -0, 0n],
  ['output', 0.000001, 1n],
  ['output', 0.0000001, undefined],
  ['cachedInput', 0.075, 75_000n],
  ['cacheWrite', 3.75, 3_750_000n],
  ['character', 15, 15_000_000n],
  ['image', 0.04, 40_000_000_000n],
  ['audioSecond', 0.0001, 100_000_000n],
  ['videoSecond', 0.1, 100_000_000_000n],
  ['request', 0.000001, 1_000_000n],
  ['request', 1e-7, undefined],
  ['input', MAX_CREDITS, 8_500_000_000_000_000n],
  ['input', MAX_CREDITS + 1, undefined],
  ['input', -0.01, undefined],
  ['input', Number.NaN, undefined],
  ['input', Number.POSITIVE_INFINITY, undefined],
];

for (const [unit, credits, pico] of PRICES) {
  test(`a price of ${credits} for ${unit} is ${pico ?? 'not a price'}`, async (t) => {
    t.equal(priceFromCredits(unit, credits), pico);
  });
}

const MINI = creditPrice({ input: 0.15, output: 0.6, cachedInput: 0.075 });

const CHARGES: readonly [what: string, price: Price, usage: Usage, micros: number][] = [
  ['nothing used', MINI, {}, 0],
  ['nothing but what is free', MINI, { images: 1_000 }, 0],
  ['a million input tokens', MINI, { input: 1_000_000 }, 150_000],
  ['input and output', MINI, { input: 1_000, output: 500 }, 450],
  ['one token, rounded up to a micro-credit', MINI, { input: 1 }, 1],
  ['three parts of a micro-credit, rounded up once', MINI, { input: 1, output: 1, cachedInput: 1 }, 1],
  ['exactly one micro-credit, not rounded', MINI, { input: 20, cachedInput: -0 }, 3],
  ['cached input at its own price', MINI, { input: 0, cachedInput: 1_000_000 }, 75_000],
  ['cache writes', creditPrice({ cacheWrite: 3.75 }), { cacheWrite: 1_000 }, 3_750],
  ['characters', creditPrice({ character: 15 }), { characters: 11 }, 165],
  ['images', creditPrice({ image: 0.04 }), { images: 3 }, 120_000],
  ['requests', creditPrice({ request: 0.000001 }), { requests: 1 }, 1],
  ['whole seconds of audio', creditPrice({ audioSecond: 0.0001 }), { audioSeconds: 60 }, 6_000],
  ['a part of a second', creditPrice({ audioSecond: 0.0001 }), { audioSeconds: 2.5 }, 250],
  [
    'seconds that binary fractions cannot hold',
    creditPrice({ audioSecond: 1 }),
    { audioSeconds: 1.1 },
    1_100_000,
  ],
  [
    'a part of a microsecond counts as a whole one',
    creditPrice({ audioSecond: 1 }),
    { audioSeconds: 1e-9 },
    1,
  ],
  ['a second in exponent form', creditPrice({ audioSecond: 1 }), { audioSeconds: 1e-6 }, 1],
  ['video', creditPrice({ videoSecond: 0.1 }), { videoSeconds: 8 }, 800_000],
  [
    'every unit at once',
    creditPrice({
      input: 1,
      output: 1,
      cachedInput: 1,
      cacheWrite: 1,
      character: 1,
      image: 1,
      audioSecond: 1,
      videoSecond: 1,
      request: 1,
    }),
    {
      input: 1,
      output: 1,
      cachedInput: 1,
      cacheWrite: 1,
      characters: 1,
      images: 1,
      audioSeconds: 1,
      videoSeconds: 1,
      requests: 1,
    },
    4_000_005,
  ],
];

for (const [what, price, usage, micros] of CHARGES) {
  test(`charge: ${what}`, async (t) => {
    t.equal(chargeFor(price, usage), micros);
  });
}

test('a length tier begins one token above its bound, cached input included, for charge and hold', async (t) => {
  const price = priceOf(
    { input: 1_000_000n, cachedInput: 0n, output: 0n },
    { tiers: [{ above: 100, units: { input: 5_000_000n } }] },
  );
  t.equal(chargeFor(price, { input: 100 }), 100);
  t.equal(chargeFor(price, { input: 101 }), 505);
  t.equal(chargeFor(price, { input: 1, cachedInput: 99 }), 1);
  t.equal(chargeFor(price, { input: 1, cachedInput: 100 }), 5);
  t.equal(holdFor(price, { input: 100 }), 100);
  t.equal(holdFor(price, { input: 101 }), 505);
});

test('a charge never is below the exact sum, nor a micro-credit or more above it', async (t) => {
  for (let tokens = 0; tokens < 2_000; tokens += 7) {
    const exactPico = BigInt(tokens) * MINI.units.input + BigInt(tokens * 3) * MINI.units.output;
    const charged = BigInt(chargeFor(MINI, { input: tokens, output: tokens * 3 })) * 1_000_000n;
    if (charged < exactPico || charged - exactPico >= 1_000_000n) t.fail(`${tokens} tokens: ${charged}`);
  }
  t.pass('all sums rounded up once');
});

test('numbers give the same charge and hold as big integers do', async (t) => {
  // Usage with a timed part is always counted in big integers.
  const exactly = { audioSeconds: 0 };
  const price = fc.record(
    Object.fromEntries(UNIT_NAMES.map((unit) => [unit, fc.bigInt({ min: 0n, max: 10n ** 10n })])),
  );
  const count = fc.oneof(fc.nat(5_000_000), fc.maxSafeNat());
  const usage = fc.record(
    { input: count, output: count, cachedInput: count, cacheWrite: count, images: fc.nat(9) },
    { requiredKeys: [] },
  );
  const outcome = (charge: () => number) => {
    try {
      return charge();
    } catch (error) {
      return (error as Error).name;
    }
  };
  fc.assert(
    fc.property(price, usage, (drawn, used) => {
      const of = priceOf(drawn);
      const big = { ...used, ...exactly };
      return [chargeFor, holdFor].every(
        (cost) => outcome(() => cost(of, used)) === outcome(() => cost(of, big)),
      );
    }),
    MANY,
  );
  t.pass();
});

test('a sum is rounded up also where it is as large as numbers count', async (t) => {
  const charge = (pico: bigint) => chargeFor(priceOf({ input: pico }), { input: 1 });
  for (const micros of [8_589_934_592n, 9_007_199_254n]) {
    t.equal(charge(micros * 1_000_000n - 1n), Number(micros));
    t.equal(charge(micros * 1_000_000n), Number(micros));
    t.equal(charge(micros * 1_000_000n + 1n), Number(micros) + 1);
  }
});

const WRONG: readonly [what: string, usage: Usage][] = [
  ['negative tokens', { input: -1 }],
  ['a part of a token', { output: 1.5 }],
  ['more tokens than can be counted', { input: 2 ** 53 }],
  ['tokens that are no number', { input: Number.NaN }],
  ['negative seconds', { audioSeconds: -0.1 }],
  ['endless seconds', { videoSeconds: Number.POSITIVE_INFINITY }],
  ['seconds that are no number', { audioSeconds: Number.NaN }],
];

for (const [what, usage] of WRONG) {
  test(`${what} are a programming error`, async (t) => {
    t.throws(() => chargeFor(FREE_PRICE, usage), RangeError);
  });
}

test('a charge beyond the safe range is an error and no wrong number', async (t) => {
  const price = creditPrice({ videoSecond: MAX_CREDITS });
  t.throws(() => chargeFor(price, { videoSeconds: 2 }), RangeError);
  t.throws(() => chargeFor(price, { videoSeconds: 1e308 }), RangeError);
});

test('a price list is priced where one price is above zero', async (t) => {
  t.equal(isPriced(FREE_PRICE), false);
  for (const unit of UNIT_NAMES) t.equal(isPriced(priceOf({ [unit]: 1n })), true, unit);
});

test('a price is shown as it was configured, to the last decimal', async (t) => {
  for (const [unit, credits, pico] of PRICES) {
    if (pico !== undefined) t.equal(Number(priceInCredits(unit, pico)), credits + 0, `${unit} ${credits}`);
  }
  t.equal(priceInCredits('input', 150_000n), '0.150000');
  t.equal(priceInCredits('audioSecond', 100_000_000n), '0.000100');
});

test('a hold prices input in the dearest way, and a request', async (t) => {
  const price = creditPrice({ input: 1, cachedInput: 0.5, cacheWrite: 2, output: 4, request: 0.01 });
  t.equal(holdFor(price, { input: 1_000, output: 1_000 }), 10_000 + 2_000 + 4_000);
});

test('a bound without end is a hold that no account has, and free on a model that is free', async (t) => {
  const endless = { input: 2 ** 53, output: Number.MAX_SAFE_INTEGER ** 2 };
  t.equal(holdFor(creditPrice({ input: 1_000 }), endless), Number.MAX_SAFE_INTEGER);
  t.equal(holdFor(FREE_PRICE, endless), 0);
});
