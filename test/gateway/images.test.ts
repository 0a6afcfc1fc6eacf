import OpenAI, { toFile } from 'openai';
import { test } from 'tap';
import type { Model } from '../../src/domain/catalog.ts';
import { priceFromCredits, priceOf } from '../../src/domain/price.ts';
import { maxPriceOf } from '../../src/domain/variants.ts';
import { ImageStream } from '../../src/metering/images.ts';
import { EventSplitter } from '../../src/metering/sse/event-reader.ts';
import { creditPrice } from '../helper/fixtures/credit-price.ts';
import { startScriptedProvider } from '../helper/stand-ins/scripted-provider.ts';
import { startGatewayInProcess, testCatalog } from '../helper/start/gateway-in-process.ts';
import { type MediaGateway, startMediaGateway } from '../helper/start/media-gateway.ts';

const clientOf = ({ url }: MediaGateway, apiKey: string) =>
  new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0 });
const PATH = '/v1/images/generations';

test('the official SDK makes pictures, each at the price of a picture', async (t) => {
  const world = await startMediaGateway(t);
  const account = await world.account({ credits: 10 });
  const client = clientOf(world, account.key);
  const { data, response } = await client.images
    .generate({ model: 'picture', prompt: 'A cat', n: 3 })
    .withResponse();
  t.equal(data.data?.length, 3);
  t.ok(Buffer.from(data.data?.[0]?.b64_json ?? '', 'base64').includes('PNG'));
  t.equal(response.headers.get('x-tollgate-charge'), '3.000000');
  t.match(await world.charged(account), {
    credits: -3_000_000,
    usage: { images: 3, requests: 1 },
    estimated: false,
    endpoint: PATH,
    category: 'image',
    outcome: 'complete',
  });
  t.match(await world.held(account), { balance: 7_000_000, held: 0 });
});

test('the hold is n × the price, exactly', async (t) => {
  const world = await startMediaGateway(t);
  const { key } = await world.account({ credits: 3 });
  const ask = (n: number) => world.post(key, PATH, JSON.stringify({ model: 'picture', prompt: 'x', n }));
  t.match(await (await ask(4)).json(), {
    error: { code: 'insufficient_credits', message: /could cost 4/ },
  });
  t.equal((await ask(3)).status, 200);
  t.equal(world.provider.requests.length, 1);
});

test('fewer pictures than asked for cost as many as came', async (t) => {
  const world = await startMediaGateway(t, () => ({
    body: { data: [{ url: 'https://example.com/1.png' }] },
  }));
  const account = await world.account({ credits: 10 });
  await (await world.post(account.key, PATH, JSON.stringify({ model: 'picture', prompt: 'x', n: 5 }))).text();
  t.match(await world.charged(account), { credits: -1_000_000, usage: { images: 1 } });
  t.match(await world.held(account), { held: 0 });
});

test('a model priced by token is charged by the usage that is reported', async (t) => {
  const world = await startMediaGateway(t, () => ({
    usage: { input_tokens: 10, output_tokens: 100, input_tokens_details: { text_tokens: 10 } },
  }));
  const account = await world.account({ credits: 10 });
  await (await world.post(account.key, PATH, JSON.stringify({ model: 'painter', prompt: 'x', n: 2 }))).text();
  t.match(await world.charged(account), {
    credits: -210_000,
    usage: { images: 2, input: 10, output: 0, outputImage: 100 },
    estimated: false,
  });
});

test('a model priced by token that reports nothing is charged an estimate within its hold', async (t) => {
  const world = await startMediaGateway(t, () => ({ usage: false }));
  const account = await world.account({ credits: 10 });
  await (
    await world.post(account.key, PATH, JSON.stringify({ model: 'painter', prompt: 'A cat', n: 2 }))
  ).text();
  const entry = await world.charged(account);
  t.match(entry, { estimated: true, usage: { images: 2, output: 0, outputImage: 1_000 } });
  t.ok(entry.credits <= -2_000_000 && entry.credits > -2_010_000, `credits ${entry.credits}`);
});

for (const usageFirst of [true, false]) {
  test(`pictures in an answer of megabytes are counted exactly, usage ${usageFirst ? 'first' : 'last'}`, async (t) => {
    const picture = { b64_json: 'A'.repeat(900_000), revised_prompt: '"data":[{},{}] \\" usage' };
    const usage = { usage: { input_tokens: 1, output_tokens: 2 } };
    const answer = JSON.stringify({
      created: 1,
      ...(usageFirst ? usage : {}),
      data: [picture, picture, picture, picture],
      ...(usageFirst ? {} : usage),
    });
    const world = await startMediaGateway(t, () => ({
      headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(answer) },
      body: answer.match(/[\s\S]{1,50000}/g) ?? [],
    }));
    const account = await world.account({ credits: 10 });
    const response = await world.post(
      account.key,
      PATH,
      JSON.stringify({ model: 'picture', prompt: 'x', n: 4 }),
    );
    t.equal(await response.text(), answer);
    t.match(await world.charged(account), {
      credits: -4_000_000,
      usage: { images: 4, input: 1, outputImage: 2 },
      estimated: false,
    });
  });
}

test('the SDK streams pictures: sketches, and each finished one is charged', async (t) => {
  const world = await startMediaGateway(t);
  const account = await world.account({ credits: 10 });
  const stream = await clientOf(world, account.key).images.generate({
    model: 'picture',
    prompt: 'A cat',
    stream: true,
    partial_images: 2,
  });
  const types: string[] = [];
  for await (const event of stream) types.push(event.type);
  t.same(types, [
    'image_generation.partial_image',
    'image_generation.partial_image',
    'image_generation.completed',
  ]);
  t.match(await world.charged(account), {
    credits: -1_000_000,
    usage: { images: 1, input: 2, outputImage: 100 },
    outcome: 'complete',
  });
});

test('a streamed picture of megabytes passes byte for byte, and its usage is read', async (t) => {
  const event = {
    b64_json: 'B'.repeat(3_000_000),
    usage: { input_tokens: 10, output_tokens: 40 },
    type: 'image_generation.completed',
  };
  const text = `event: image_generation.completed\r\ndata: ${JSON.stringify(event)}\r\n\r\n`;
  const world = await startMediaGateway(t, () => ({
    headers: { 'content-type': 'text/event-stream' },
    body: text.match(/[\s\S]{1,70001}/g) ?? [],
  }));
  const account = await world.account({ credits: 10 });
  const body = JSON.stringify({ model: 'painter', prompt: 'x', stream: true });
  t.ok((await (await world.post(account.key, PATH, body)).text()) === text);
  t.match(await world.charged(account), {
    credits: -90_000,
    usage: { images: 1, input: 10, outputImage: 40 },
    estimated: false,
  });
});

test('the SDK edits pictures: the upload arrives with the same parts', async (t) => {
  const world = await startMediaGateway(t);
  const account = await world.account({ credits: 10 });
  let sent = new FormData();
  const client = new OpenAI({
    apiKey: account.key,
    baseURL: `${world.url}/v1`,
    fetch: async (input, init) => {
      const request = new Request(input as string, init as RequestInit);
      sent = await request.clone().formData();
      return await fetch(request);
    },
  });
  const image = await toFile(Buffer.alloc(200_000, '--\r\n-x"'), 'ä "cat".png', { type: 'image/png' });
  const edited = await client.images.edit({ model: 'picture', image, prompt: 'Grüße, "you"', n: 2 });
  t.equal(edited.data?.length, 2);
  const { body, headers } = await world.provider.request(0);
  const type = { 'content-type': headers['content-type'] ?? '' };
  const received = await new Response(new Uint8Array(body), { headers: type }).formData();
  t.same(await partsOf(received), await partsOf(sent));
  t.match(await world.charged(account), { credits: -2_000_000, endpoint: '/v1/images/edits' });
  const varied = await client.images.createVariation({ model: 'picture', image, n: 1 });
  t.equal(varied.data?.length, 1);
});

const partsOf = (form: FormData) =>
  Promise.all(
    [...form].map(async ([field, value]) =>
      typeof value === 'string' ? [field, value] : [field, value.name, value.type, await value.text()],
    ),
  );

test('an upload to a model with another name upstream is changed there and nowhere else', async (t) => {
  const world = await startMediaGateway(t);
  const { key } = await world.account();
  const form = (model: string) =>
    [
      '--edge\r\nContent-Disposition: form-data; name="image"; filename="a.png"\r\nContent-Type: image/png\r\n\r\n',
      'picture-renamed\r\n--edg\r\n\0\x01\r\n--edge\r\nContent-Disposition: form-data; name="model"\r\n\r\n',
      `${model}\r\n--edge\r\nContent-Disposition: form-data; name="prompt"\r\n\r\nx\r\n--edge--\r\n`,
    ].join('');
  const headers = { 'content-type': 'multipart/form-data; boundary=edge' };
  const response = await world.post(key, '/v1/images/edits', form('picture-renamed'), headers);
  t.equal(response.status, 200);
  const received = await world.provider.request(0);
  const boundary = received.headers['content-type']?.split('boundary=')[1] ?? '';
  t.equal(received.body.toString('latin1').replaceAll(boundary, 'edge'), form('p'));
});

test('a price by token bounds an edit by its pictures', async (t) => {
  const world = await startMediaGateway(t);
  const { key } = await world.account({ credits: 3 });
  const form = (files: number) => {
    const data = new FormData();
    for (let file = 0; file < files; file++) data.append('image[]', new Blob(['x']), 'a.png');
    data.append('model', 'painter');
    data.append('prompt', 'x');
    return data;
  };
  // 1,000 tokens a picture (the test's imageTokens), 500 of output at 2, and a few bytes of text.
  t.match(await (await world.post(key, '/v1/images/edits', form(2))).json(), {
    error: { code: 'insufficient_credits', message: /could cost 3\.08/ },
  });
  t.equal((await world.post(key, '/v1/images/edits', form(1))).status, 200);
});

test('streamed events are separated, however large ones are cut', async (t) => {
  const model = testCatalog('http://127.0.0.1').get('picture');
  if (!model) return t.fail('no model');
  const event = `data: ${JSON.stringify({ type: 'image_edit.completed', b64_json: 'C'.repeat(1_048_600), usage: { input_tokens: 1, output_tokens: 2 } })}\n\n`;
  const bytes = Buffer.from(event + event);
  // The first part ends before, between or after the line breaks that end the first event.
  for (const cut of [event.length - 3, event.length - 2, event.length - 1, event.length, event.length + 1]) {
    const stream = new ImageStream({ model, scalars: {} }, 3);
    const splitter = new EventSplitter();
    for (const part of [bytes.subarray(0, cut), bytes.subarray(cut)]) {
      splitter.push(part);
      for (let text = splitter.next(); text !== undefined; text = splitter.next()) stream.event(text);
    }
    t.match(stream.usage, { images: 2, input: 2, outputImage: 4 }, `cut at ${cut - event.length}`);
  }
});

test('tokens that a streamed picture wrote to a cache are charged, as those of a whole answer', async (t) => {
  const model = testCatalog('http://127.0.0.1').get('picture');
  if (!model) throw new Error('the test catalog has no picture');
  const stream = new ImageStream({ model, scalars: {} }, 2);
  const usage = {
    input_tokens: 10,
    input_tokens_details: { cache_write_tokens: 4, cached_tokens: 1 },
    output_tokens: 7,
  };
  const event = `data: ${JSON.stringify({ type: 'image_generation.completed', b64_json: 'AA==', usage })}\n\n`;
  stream.event(event);
  stream.event(event);
  t.match(stream.usage, { images: 2, input: 10, cachedInput: 2, cacheWrite: 8, outputImage: 14 });
});

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
  const unpriced = (param: string) => [400, 'unpriced_parameter', param];
  t.same(await refusal(PATH, { model: 'picture', size: '1536x1024' }), unpriced('size'));
  t.same(await refusal(PATH, { model: 'picture', quality: 'high' }), unpriced('quality'));
  t.same(await refusal(PATH, { model: 'painter', size: '1536x1024', quality: 'low' }), unpriced('quality'));
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
  t.equal(await charge(PATH, { ...two, quality: 'low' }, drawn({})), '0.020000');
  t.equal(await charge(PATH, two, drawn({})), '0.500000', 'what nobody names is the dearest');
  const reported = drawn({ size: '1024x1024', quality: 'high' });
  t.equal(await charge(PATH, two, reported), '0.340000', 'what is reported counts');
  t.equal(await charge(PATH, { ...two, size: 'auto', quality: 'auto' }, reported), '0.340000');
  t.equal(await charge(PATH, { model: 'any-size', size: '9x9', quality: 'high' }, drawn({})), '2.000000');
  t.equal(await charge(PATH, { model: 'picture', size: '1024x1024', n: 2 }, drawn({})), '2.000000');
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
  const held = await world.api('POST', PATH, small.key, { ...two, prompt: 'A cat' });
  t.equal(held.status, 402, 'the dearest is held');
});
