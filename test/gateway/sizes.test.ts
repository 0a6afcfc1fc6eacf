import { test } from 'tap';
import type { Model } from '../../src/domain/catalog.ts';
import { priceFromCredits, priceOf } from '../../src/domain/price.ts';
import { maxPriceOf } from '../../src/domain/variants.ts';
import { creditPrice } from '../helper/fixtures/credit-price.ts';
import { startScriptedProvider } from '../helper/stand-ins/scripted-provider.ts';
import { startGatewayInProcess, testCatalog } from '../helper/start/gateway-in-process.ts';

const image = (credits: number) => priceFromCredits('image', credits) ?? 0n;
const second = (credits: number) => priceFromCredits('videoSecond', credits) ?? 0n;

test('pictures and videos cost by size and quality', async (t) => {
  let next: Readonly<Record<string, unknown>> = {};
  const provider = await startScriptedProvider({ behave: () => ({ body: next }) });
  t.teardown(() => provider.close());
  const catalog = new Map(testCatalog(provider.url));
  const picture = catalog.get('picture') as Model;
  const pictures = [
    { size: '1024x1024', quality: 'low', price: image(0.01) },
    { size: '1024x1024', quality: 'high', price: image(0.17) },
    { size: '1536x1024', quality: 'high', price: image(0.25) },
  ];
  const films = [
    { size: '720x1280', price: second(0.3) },
    { size: '1792x1024', price: second(0.5) },
  ];
  const video = { ...picture, category: 'video' } as const;
  const price = (unit: 'image' | 'videoSecond', variants: typeof pictures | typeof films) =>
    priceOf({ [unit]: maxPriceOf(variants) }, { variants: { [unit]: variants } });
  for (const model of [
    { ...picture, slug: 'painter', price: price('image', pictures) },
    { ...picture, slug: 'any-size', sizes: 'any' },
    { ...video, slug: 'film', price: creditPrice({ videoSecond: 0.1 }) },
    { ...video, slug: 'big-film', price: price('videoSecond', films) },
  ] as const)
    catalog.set(model.slug, model);
  const world = await startGatewayInProcess(t, { provider, config: { catalog } });
  const { key } = await world.account({ credits: 100 });

  const refusal = async (path: string, body: object) => {
    const response = await world.api('POST', path, key, { prompt: 'A cat', ...body });
    const { error } = (await response.json()) as { error: { code: string; param: string; message: string } };
    return [response.status, error.code, error.param];
  };
  const charge = async (path: string, body: object, answer: Readonly<Record<string, unknown>>) => {
    next = answer;
    const response = await world.api('POST', path, key, { prompt: 'A cat', ...body });
    await response.text();
    return response.headers.get('x-tollgate-charge') ?? String(response.status);
  };
  const PICTURES = '/v1/images/generations';
  const unpriced = (param: string) => [400, 'unpriced_parameter', param];
  t.same(await refusal(PICTURES, { model: 'picture', size: '1536x1024' }), unpriced('size'));
  t.same(await refusal(PICTURES, { model: 'picture', quality: 'high' }), unpriced('quality'));
  t.same(
    await refusal(PICTURES, { model: 'painter', size: '1536x1024', quality: 'low' }),
    unpriced('quality'),
  );
  t.same(await refusal('/v1/videos', { model: 'film', size: '1792x1024' }), unpriced('size'));
  t.same(await refusal('/v1/videos', { model: 'big-film', size: '1080x1920' }), unpriced('size'));
  t.equal(provider.requests.length, 0, 'nothing reaches the provider');

  // Shapes of openai's ImagesResponse and Video.
  const drawn = (more: object) => ({
    created: 1,
    data: [{ b64_json: 'AA==' }, { b64_json: 'AA==' }],
    ...more,
  });
  const two = { model: 'painter', n: 2 };
  t.equal(await charge(PICTURES, { ...two, quality: 'low' }, drawn({})), '0.020000');
  t.equal(await charge(PICTURES, two, drawn({})), '0.500000', 'what nobody names is the dearest');
  const reported = drawn({ size: '1024x1024', quality: 'high' });
  t.equal(await charge(PICTURES, two, reported), '0.340000', 'what is reported counts');
  t.equal(await charge(PICTURES, { ...two, size: 'auto', quality: 'auto' }, reported), '0.340000');
  t.equal(await charge(PICTURES, { model: 'any-size', size: '9x9', quality: 'high' }, drawn({})), '2.000000');
  t.equal(await charge(PICTURES, { model: 'picture', size: '1024x1024', n: 2 }, drawn({})), '2.000000');
  const job = (size: string) => ({
    id: `video_${size}`,
    object: 'video',
    status: 'queued',
    seconds: '12',
    size,
  });
  const film = { model: 'big-film', seconds: '12' };
  t.equal(await charge('/v1/videos', { ...film, size: '1792x1024' }, job('1792x1024')), '6.000000');
  t.equal(await charge('/v1/videos', film, job('720x1280')), '3.600000', 'the default that the job names');
  t.equal(await charge('/v1/videos', { model: 'film', seconds: '12' }, job('720x1280')), '1.200000');

  const small = await world.account({ credits: 0.4 });
  const held = await world.api('POST', PICTURES, small.key, { ...two, prompt: 'A cat' });
  t.equal(held.status, 402, 'the dearest is held');
});
