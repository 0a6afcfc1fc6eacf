import { test } from 'tap';
import { chargeFor, priceOf } from '../../src/domain/price.ts';
import { inputTokens, type Usage } from '../../src/domain/units.ts';
import { type InputParts, splitInput } from '../../src/metering/input-split.ts';
import { creditPrice } from '../helper/fixtures/credit-price.ts';
import fc, { MANY } from '../helper/suite/fast-check.ts';

const NONE: InputParts = {
  cached: 0,
  written: 0,
  audio: 0,
  image: 0,
  cachedAudio: undefined,
  cachedImage: undefined,
};

test('a split keeps the number of input tokens and never costs less than the bill', async (t) => {
  const count = fc.nat(20);
  const part = fc.bigInt(0n, 50n);
  fc.assert(
    fc.property(
      fc.record({
        input: count,
        cachedInput: count,
        cacheWrite: count,
        inputAudio: count,
        cachedInputAudio: count,
        inputImage: count,
        cachedInputImage: count,
      }),
      fc.tuple(part, part, part, part, part, part, fc.bigInt(0n, 200n)),
      (billed, [cachedInput, cachedInputAudio, cachedInputImage, text, audio, image, written]) => {
        const price = priceOf({
          input: (cachedInput + text) * 1_000_000n,
          cachedInput: cachedInput * 1_000_000n,
          // A cache write costs at least as much as plain input.
          cacheWrite: (cachedInput + text + written) * 1_000_000n,
          inputAudio: (cachedInputAudio + audio) * 1_000_000n,
          cachedInputAudio: cachedInputAudio * 1_000_000n,
          inputImage: (cachedInputImage + image) * 1_000_000n,
          cachedInputImage: cachedInputImage * 1_000_000n,
        });
        const total = inputTokens(billed);
        const split = splitInput(
          total,
          {
            cached: billed.cachedInput + billed.cachedInputAudio + billed.cachedInputImage,
            written: billed.cacheWrite,
            audio: billed.inputAudio + billed.cachedInputAudio,
            image: billed.inputImage + billed.cachedInputImage,
            cachedAudio: undefined,
            cachedImage: undefined,
          },
          price,
        );
        const isSplit = inputTokens(split) === total && Object.values(split).every((tokens) => tokens >= 0);
        return isSplit && chargeFor(price, split) >= chargeFor(price, billed);
      },
    ),
    MANY,
  );
  t.pass();
});

test('reported cached sound and pictures count as reported', async (t) => {
  const price = creditPrice({ input: 2, cachedInput: 1, inputAudio: 32, cachedInputAudio: 0.4 });
  const told = { ...NONE, cached: 30, audio: 40, cachedAudio: 12 };
  t.same(splitInput(100, told, price), {
    input: 42,
    cachedInput: 18,
    inputAudio: 28,
    cachedInputAudio: 12,
  });
});

test('a model without prices for sound and pictures is charged as one of text', async (t) => {
  const credits = { input: 2, cachedInput: 1, cacheWrite: 2.5 };
  const price = creditPrice(credits);
  fc.assert(
    fc.property(
      fc.nat(50),
      fc.nat(50),
      fc.nat(50),
      fc.nat(50),
      fc.nat(50),
      (total, cached, written, audio, image) => {
        const parts = { ...NONE, cached, written };
        const plain: Usage = splitInput(total, parts, price);
        const split = splitInput(total, { ...parts, audio, image }, price);
        return (
          inputTokens(split) === total &&
          split.cachedInput === plain.cachedInput &&
          split.cacheWrite === plain.cacheWrite &&
          chargeFor(price, split) === chargeFor(price, plain)
        );
      },
    ),
  );
  t.same(splitInput(10, { ...NONE, cached: 4, image: 9 }, price), {
    input: 0,
    cachedInput: 4,
    inputImage: 6,
  });
});

test('a medium whose cached tokens have no discount has as many of them as it can', async (t) => {
  const price = creditPrice({ input: 2, cachedInput: 1, inputAudio: 32 });
  t.same(splitInput(100, { ...NONE, cached: 30, audio: 20 }, price), {
    input: 70,
    cachedInput: 10,
    cachedInputAudio: 20,
  });
});

test('more written tokens than there is text are those of a medium, at the dearer price', async (t) => {
  const parts = { ...NONE, written: 8, image: 7 };
  const dear = creditPrice({ input: 2, cacheWrite: 2.5, inputImage: 5 });
  t.same(splitInput(10, parts, dear), { input: 0, cachedInput: 0, cacheWrite: 3, inputImage: 7 });
  const cheap = creditPrice({ input: 2, cacheWrite: 2.5, inputImage: 1 });
  t.same(splitInput(10, parts, cheap), { input: 0, cachedInput: 0, cacheWrite: 8, inputImage: 2 });
});
