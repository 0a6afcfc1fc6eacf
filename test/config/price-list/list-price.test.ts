import { test } from 'tap';
import { maxPriceOf, priceOfList } from '../../../src/config/price-list/list-price.ts';
import { writtenPrice } from '../../../src/domain/written-price.ts';

const PLAIN = { creditsPerUsd: 1_000_000, markup: 1_000_000 };
const written = (prices: Parameters<typeof priceOfList>[0], exchange = PLAIN) =>
  writtenPrice(priceOfList(prices, exchange));

test('each name of the list is a unit of ours', async (t) => {
  t.same(
    written({
      input_mtok: 2,
      output_mtok: 10,
      cache_read_mtok: 0.2,
      cache_write_mtok: 2.5,
      cache_write_1h_mtok: 4,
      input_audio_mtok: 3,
      cache_audio_read_mtok: 0.3,
      output_audio_mtok: 12,
      input_image_mtok: 5,
      cache_image_read_mtok: 0.5,
      output_image_mtok: 30,
      web_searches_kcount: 10,
      input_mchars: 15,
      audio_hours: 0.36,
      requests_kcount: 5,
    }),
    {
      input: '2.000000',
      output: '10.000000',
      cachedInput: '0.200000',
      cacheWrite: '2.500000',
      cacheWrite1h: '4.000000',
      inputAudio: '3.000000',
      cachedInputAudio: '0.300000',
      outputAudio: '12.000000',
      inputImage: '5.000000',
      cachedInputImage: '0.500000',
      outputImage: '30.000000',
      webSearch: '10.000000',
      character: '15.000000',
      audioSecond: '0.000100',
      request: '0.005000',
    },
  );
});

test('credits per dollar and the markup multiply every unit', async (t) => {
  t.same(written({ input_mtok: 0.1, web_searches_kcount: 10 }, { creditsPerUsd: 100e6, markup: 1_250_000 }), {
    input: '12.500000',
    webSearch: '1250.000000',
  });
});

test('a tier applies above its start, 271,999 becomes 272,000, and units without a tier keep their price', async (t) => {
  const price = priceOfList(
    {
      input_mtok: {
        base: 1,
        tiers: [
          { start: 200_000, price: 2 },
          { start: 271_999, price: 3 },
        ],
      },
      output_mtok: { base: 5, tiers: [{ start: 272_000, price: 7.5 }] },
      web_searches_kcount: 10,
    },
    PLAIN,
  );
  t.same(
    price.tiers.map(({ above }) => above),
    [200_000, 272_000],
  );
  t.same(writtenPrice(price), {
    input: [
      { price: '1.000000' },
      { above: 200_000, price: '2.000000' },
      { above: 272_000, price: '3.000000' },
    ],
    output: [{ price: '5.000000' }, { above: 272_000, price: '7.500000' }],
    webSearch: '10.000000',
  });
});

test('of two names of one unit the dearest counts', async (t) => {
  t.same(written({ audio_hours: 3.6, input_audio_hours: 7.2 }), { audioSecond: '0.002000' });
});

test('fees that no call can incur are left out', async (t) => {
  t.same(written({ input_mtok: 1, storage_searches_kcount: 2.5, code_executions_kcount: 30 }), {
    input: '1.000000',
  });
});

for (const [what, prices, reason] of [
  ['a name that nobody knows', { input_mtok: 1, moon_phases: 1 }, /moon_phases/],
  ['pixels', { input_mtok: 1, input_gpixels: 1 }, /input_gpixels/],
  [
    'video at another price than text',
    { input_mtok: 1, input_video_mtok: 12 },
    /input_video_mtok.*than input/,
  ],
  ['reasoning at another price', { output_mtok: 8, output_reasoning_mtok: 3 }, /output_reasoning_mtok/],
  ['nothing that a call can use', { input_document_kpages: 4 }, /nothing that a call here can use/],
  ['nothing above 0', { input_mtok: 0, output_mtok: 0 }, /above 0/],
  ['nothing at all', {}, /above 0/],
] as const) {
  test(`${what} cannot be charged, and the error gives the reason`, async (t) => {
    t.throws(() => priceOfList(prices, PLAIN), { message: reason });
  });
}

test('units that answers do not divide are charged together if their price is the same', async (t) => {
  const tiered = { base: 8, tiers: [{ start: 200_000, price: 9 }] };
  t.same(Object.keys(written({ output_mtok: tiered, output_reasoning_mtok: tiered })), ['output']);
  t.throws(() => written({ output_mtok: tiered, output_reasoning_mtok: 8 }), { message: /tell them apart/ });
});

test('the dearest of several prices: by unit, and by length', async (t) => {
  const night = priceOfList({ input_mtok: 1, output_mtok: 9 }, PLAIN);
  const day = priceOfList(
    { input_mtok: { base: 2, tiers: [{ start: 100, price: 3 }] }, output_mtok: 4 },
    PLAIN,
  );
  t.same(writtenPrice(maxPriceOf([night, day])), {
    input: [{ price: '2.000000' }, { above: 100, price: '3.000000' }],
    output: '9.000000',
  });
});
