import { test } from 'tap';
import { modelView } from '../../src/api/models/models-route.ts';
import type { Model } from '../../src/domain/catalog.ts';
import { FREE_PRICE, priceOf } from '../../src/domain/price.ts';
import { creditPrice } from '../helper/fixtures/credit-price.ts';

const MODEL: Omit<Model, 'price'> = {
  slug: 'm',
  upstream: { name: 'up', url: 'https://a.example', apiKey: 'secret', format: 'openai' },
  upstreamModel: 'm',
  category: 'text',
  maxOutputTokens: 1,
  priceSource: 'config',
};

test('prices are numbers of credits or lists by length, with multipliers beside them', async (t) => {
  const { units } = creditPrice({ input: 0.15, output: 0.6, image: 0.04 });
  const price = priceOf(
    { input: units.input, output: units.output, image: units.image },
    {
      tiers: [{ above: 272_000, units: { input: 2n * units.input } }],
      serviceTiers: new Map([['flex', 500_000]]),
    },
  );
  t.match(modelView({ ...MODEL, price }), {
    price: { input: [{ price: 0.15 }, { above: 272_000, price: 0.3 }], output: 0.6, image: 0.04 },
    service_tiers: { flex: 0.5 },
  });
});

test('a price per image is shown by size and quality', async (t) => {
  const { units } = creditPrice({ image: 0.17 });
  const variants = [
    { size: '1024x1024', quality: 'high', price: units.image },
    { size: '1536x1024', price: 0n },
  ];
  const price = priceOf({ image: units.image }, { variants: { image: variants } });
  t.same(modelView({ ...MODEL, price }).price, { image: { '1024x1024/high': 0.17, '1536x1024': 0 } });
});

test('a free model has no prices, and no view shows a secret', async (t) => {
  const view = modelView({ ...MODEL, price: FREE_PRICE, priceSource: 'free' });
  t.same([view.price, view.service_tiers], [{}, {}]);
  t.notMatch(JSON.stringify(view), /secret|a\.example/);
});
