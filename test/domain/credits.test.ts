import { test } from 'tap';
import {
  creditsInWords,
  creditsNumber,
  creditsString,
  MAX_CREDITS,
  MICRO_PER_CREDIT,
  micro,
  microFromCredits,
} from '../../src/domain/credits.ts';

/** A repeatable sequence of integers below 2^32, spread evenly. */
function* pseudoRandom(count: number): Generator<number> {
  let state = 20261115;
  for (let drawn = 0; drawn < count; drawn += 1) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    yield state;
  }
}

const READ: readonly [credits: number, micros: number | undefined][] = [
  [0, 0],
  [1, 1_000_000],
  [0.1, 100_000],
  [0.3, 300_000],
  [1.005, 1_005_000],
  [-1.005, -1_005_000],
  [1e-6, 1],
  [-1e-6, -1],
  [1.1e-5, 11],
  [1e-7, undefined],
  [1.5e-6, undefined],
  [0.1234567, undefined],
  [0.1 + 0.2, undefined],
  [123456.654321, 123_456_654_321],
  [8_499_999_999.999999, 8_499_999_999_999_999],
  [MAX_CREDITS, MAX_CREDITS * MICRO_PER_CREDIT],
  [-MAX_CREDITS, -MAX_CREDITS * MICRO_PER_CREDIT],
  [MAX_CREDITS + 0.000001, undefined],
  [9e9, undefined],
  [1e300, undefined],
  [5e-324, undefined],
  [Number.NaN, undefined],
  [Number.POSITIVE_INFINITY, undefined],
  [Number.NEGATIVE_INFINITY, undefined],
];

for (const [credits, micros] of READ) {
  test(`${credits} credits are ${micros ?? 'no whole number of'} micro-credits`, async (t) => {
    t.equal(microFromCredits(credits), micros);
  });
}

const IN_WORDS: readonly [micros: number, words: string][] = [
  [0, '0'],
  [500, '0.0005'],
  [502_429, '0.502429'],
  [1_000_000, '1'],
  [1_000_001, '1.01'],
  [1_500_000, '1.5'],
  [8_504_290, '8.51'],
  [10_000_000, '10'],
  [106_250_429, '106.26'],
  [100_000_000, '100'],
  [8_500_000_000_000_000, '8500000000'],
  [Number.MAX_SAFE_INTEGER, '9007199254.75'],
  [-429_000, '-0.429'],
];

for (const [micros, words] of IN_WORDS) {
  test(`${micros} micro-credits are ${words} in a message`, async (t) => {
    t.equal(creditsInWords(micro(micros)), words);
  });
}

test('minus zero is read as zero', async (t) => {
  t.ok(Object.is(microFromCredits(-0), 0));
  t.ok(Object.is(micro(-0), 0));
});

test('micro refuses anything but a safe integer', async (t) => {
  for (const value of [0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, -(2 ** 53)]) {
    t.throws(() => micro(value), RangeError, String(value));
  }
  t.equal(micro(Number.MAX_SAFE_INTEGER), Number.MAX_SAFE_INTEGER);
});

const WRITTEN: readonly [micros: number, text: string][] = [
  [0, '0.000000'],
  [1, '0.000001'],
  [-1, '-0.000001'],
  [999_999, '0.999999'],
  [1_000_000, '1.000000'],
  [-1_000_000, '-1.000000'],
  [12_345_678, '12.345678'],
  [9_000_000_000 * MICRO_PER_CREDIT, '9000000000.000000'],
  [Number.MAX_SAFE_INTEGER, '9007199254.740991'],
  [Number.MIN_SAFE_INTEGER, '-9007199254.740991'],
];

for (const [micros, text] of WRITTEN) {
  test(`${micros} micro-credits are written ${text}`, async (t) => {
    t.equal(creditsString(micro(micros)), text);
  });
}

test('the JSON number of zero is not minus zero', async (t) => {
  t.ok(Object.is(creditsNumber(micro(-0)), 0));
});

test('the JSON number of 9,000,000,000 credits is that number', async (t) => {
  t.equal(creditsNumber(micro(9e9 * MICRO_PER_CREDIT)), 9e9);
});

test('an amount survives the way to a JSON number and back, at every size', async (t) => {
  const lost: number[] = [];
  for (const random of pseudoRandom(20_000)) {
    const size = 10 ** (random % 16);
    const amount = micro(
      Math.min(Math.floor((random / 2 ** 32) * 10 * size), MAX_CREDITS * MICRO_PER_CREDIT),
    );
    for (const signed of [amount, micro(-amount)]) {
      if (microFromCredits(JSON.parse(JSON.stringify(creditsNumber(signed)))) !== signed) lost.push(signed);
    }
  }
  t.same(lost, []);
});

test('neighboring amounts just below MAX_CREDITS stay apart as JSON numbers', async (t) => {
  const top = MAX_CREDITS * MICRO_PER_CREDIT;
  const numbers = new Set<number>();
  for (let below = 0; below < 5_000; below += 1) numbers.add(creditsNumber(micro(top - below)));
  t.equal(numbers.size, 5_000);
});

test('a number with up to six decimals is read as its digits say', async (t) => {
  const wrong: string[] = [];
  for (const random of pseudoRandom(20_000)) {
    const whole = random % 1_000_003;
    const fraction = String((random >>> 3) % 1_000_000).padStart(6, '0');
    const text = `${whole}.${fraction}`;
    if (microFromCredits(Number(text)) !== Number(`${whole}${fraction}`)) wrong.push(text);
  }
  t.same(wrong, []);
});
