import { test } from 'tap';
import { loadConfig } from '../../src/config/load.ts';
import { listedModel } from '../../src/config/price-list/listed-model.ts';
import { packagedList } from '../../src/config/price-list/price-list.ts';
import type { Model } from '../../src/domain/catalog.ts';
import { isPriced } from '../../src/domain/price.ts';
import { writtenPrice } from '../../src/domain/written-price.ts';

const NOW = new Date('2026-11-22T12:00:00Z');
const ENV = {
  OPENAI_API_KEY: 'a',
  ANTHROPIC_API_KEY: 'b',
  VIDEOS_URL: 'https://videos.example',
  VIDEOS_API_KEY: 'c',
};
const { catalog, warnings } = loadConfig({ env: ENV, file: 'config/gateway.yaml', now: NOW });
const vendors = [...catalog.values()].filter(({ upstream }) => upstream.url !== 'demo');
const list = packagedList();

function listed({ upstream, upstreamModel }: Model) {
  const provider = list.provider(upstream.provider ?? 'openai');
  const exchange = { creditsPerUsd: 1_000_000, markup: 1_000_000 };
  return provider && listedModel(list, provider, upstreamModel, { exchange, now: NOW });
}

/** Why a shipped model has a written price. All other models have the list's. */
const WRITTEN: Readonly<Record<string, 'not in the list' | 'in the list at another price'>> = {
  'gpt-6.2-astra': 'not in the list',
  'gpt-6.2-sol': 'not in the list',
  'gpt-6.1-sol': 'not in the list',
  'gpt-6.1-terra': 'not in the list',
  // The list has no price of web_search_preview.
  'gpt-4.1': 'in the list at another price',
  'gpt-4.1-mini': 'in the list at another price',
  'gpt-4o': 'in the list at another price',
  'gpt-4o-mini': 'in the list at another price',
  'gpt-image-2.6-sunburst': 'not in the list',
  'gpt-image-2.5-sunburst': 'not in the list',
  'gpt-image-2.5-flare': 'not in the list',
  'tts-1': 'not in the list',
  'tts-1-hd': 'not in the list',
  'sora-2': 'not in the list',
  'sora-2-pro': 'not in the list',
  // The list reads its name as claude-sonnet-5.
  'claude-sonnet-5-5': 'in the list at another price',
  'claude-haiku-5-5': 'not in the list',
};

test('every shipped model has the price of the list, but for those in the table', async (t) => {
  const written = vendors.filter(({ priceSource }) => priceSource === 'config').map(({ slug }) => slug);
  t.same(new Set(written), new Set(Object.keys(WRITTEN)));
  t.same(
    vendors.filter(({ priceSource }) => priceSource === 'free').map(({ slug }) => slug),
    ['omni-moderation-latest'],
  );
  t.ok(vendors.length - written.length > 25);
  for (const model of vendors.filter(({ priceSource }) => priceSource === 'list')) {
    const found = listed(model);
    t.match(found?.isGuess, false, model.slug);
    t.same(
      writtenPrice(model.price),
      found && 'price' in found.priced && writtenPrice(found.priced.price),
      model.slug,
    );
  }
});

test('a written price is needed: the list does not have the model, or another price', async (t) => {
  for (const [slug, why] of Object.entries(WRITTEN)) {
    const model = catalog.get(slug) as Model;
    const found = listed(model);
    if (why === 'not in the list') t.equal(found, undefined, slug);
    else if (found && 'price' in found.priced)
      t.not(
        JSON.stringify(writtenPrice(model.price)),
        JSON.stringify(writtenPrice(found.priced.price)),
        slug,
      );
    else t.fail(`${slug} is not in the list`);
  }
});

test('a start with every key warns of nothing', async (t) => {
  t.same(warnings, []);
});

test('every text model of a vendor has a price for long prompts where it reads more than 272,000 tokens of OpenAI', async (t) => {
  const long = vendors.filter(
    ({ upstream, contextWindow = 0, slug }) =>
      upstream.name === 'openai' && contextWindow >= 1_000_000 && !slug.startsWith('gpt-4.1'),
  );
  t.ok(long.length >= 10);
  for (const { slug, price } of long) {
    const [tier] = price.tiers;
    t.equal(tier?.above, 272_000, slug);
    t.equal(tier?.units.input, price.units.input * 2n, slug);
    t.equal(tier?.units.output, (price.units.output * 3n) / 2n, slug);
  }
});

test('cache writes of an hour and web searches of Anthropic have prices', async (t) => {
  for (const { slug, price } of vendors.filter(({ upstream }) => upstream.format === 'anthropic')) {
    t.equal(price.units.cacheWrite1h, price.units.input * 2n, slug);
    t.equal(price.units.cacheWrite * 4n, price.units.input * 5n, slug);
    t.ok(price.named.has('webSearch'), slug);
  }
});

test('flex processing is half the price where a tier is written, and no other tier is', async (t) => {
  for (const { price } of vendors)
    t.match([...price.serviceTiers], price.serviceTiers.size ? [['flex', 500_000]] : []);
  t.ok(isPriced(catalog.get('o3')?.price as Model['price']));
});
