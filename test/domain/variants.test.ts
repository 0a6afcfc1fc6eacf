import { test } from 'tap';
import type { VariantPrice } from '../../src/domain/catalog.ts';
import { priceOf } from '../../src/domain/price.ts';
import {
  madeVariant,
  maxPriceOf,
  priceOfVariant,
  unpricedMember,
  variantOf,
} from '../../src/domain/variants.ts';

const priced = (variants: readonly VariantPrice[]) =>
  priceOf({ image: maxPriceOf(variants) }, { variants: { image: variants } });
const BY_BOTH = priced([
  { size: '1024x1024', quality: 'low', price: 1n },
  { size: '1024x1024', quality: 'high', price: 5n },
  { size: '1536x1024', quality: 'high', price: 9n },
]);
const BY_SIZE = priced([
  { size: '1024x1024', price: 2n },
  { size: '1536x1024', price: 3n },
]);

test('keys of a price by size and quality', async (t) => {
  for (const [key, variant] of [
    ['1024x1024', { size: '1024x1024' }],
    ['720p', { size: '720p' }],
    ['high', { quality: 'high' }],
    ['1024x1024/high', { size: '1024x1024', quality: 'high' }],
    ['', undefined],
    ['a b', undefined],
    ['high/1024x1024', undefined],
    ['1024x1024/', undefined],
    ['1/a/b', undefined],
  ] as const) {
    t.same(variantOf(key), variant, key);
  }
});

test('the highest price of the variants that fit counts', async (t) => {
  const image = (made: object) => priceOfVariant(BY_BOTH, made).units.image;
  t.equal(image({}), 9n);
  t.equal(image({ size: '1024x1024' }), 5n);
  t.equal(image({ quality: 'high' }), 9n);
  t.equal(image({ size: '1024x1024', quality: 'low' }), 1n);
  t.equal(image({ size: 'unknown' }), 9n, 'what nobody knows is the dearest');
  const plain = priceOf({ image: 4n });
  t.equal(priceOfVariant(plain, { size: '1536x1024' }), plain);
});

test('a size or quality without a price is named; a plain number prices the default alone', async (t) => {
  const member = (price: typeof BY_BOTH, asked: object, sizes?: 'any') =>
    unpricedMember({ price, sizes }, 'image', asked);
  t.equal(member(BY_BOTH, {}), undefined);
  t.equal(member(BY_BOTH, { size: '1536x1024' }), undefined);
  t.equal(member(BY_BOTH, { size: '1536x1024', quality: 'low' }), 'quality');
  t.equal(member(BY_BOTH, { size: '512x512' }), 'size');
  t.equal(member(BY_SIZE, { size: '1536x1024', quality: 'standard' }), undefined);
  t.equal(member(BY_SIZE, { size: '1536x1024', quality: 'hd' }), 'quality');
  const plain = priceOf({ image: 4n });
  t.equal(member(plain, { size: '1024x1024', quality: 'standard' }), undefined);
  t.equal(member(plain, { size: '1536x1024' }), 'size');
  t.equal(member(plain, { quality: 'high' }), 'quality');
  t.equal(member(plain, { size: '1536x1024', quality: 'high' }, 'any'), undefined);
  t.equal(member(priceOf({ output: 1n }), { size: '1536x1024' }), undefined, 'tokens price any size');
});

test('the reported variant counts if it has a price, else the requested one', async (t) => {
  const asked = { size: '1024x1024' };
  t.same(madeVariant(BY_BOTH, asked, { quality: 'low' }), { ...asked, quality: 'low' });
  t.same(madeVariant(BY_BOTH, asked, { size: '1x1' }), asked);
  t.same(madeVariant(BY_BOTH, asked, {}), asked);
});
