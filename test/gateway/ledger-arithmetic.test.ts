import { type Test, test } from 'tap';
import type { EntryView } from '../../src/api/ledger/entry-view.ts';
import type { Model } from '../../src/domain/catalog.ts';
import type { Category } from '../../src/domain/key.ts';
import { type PriceList, recomputed } from '../helper/check/price-list.ts';
import { creditPrice } from '../helper/fixtures/credit-price.ts';
import {
  type Behavior,
  type ReceivedRequest,
  startScriptedProvider,
} from '../helper/stand-ins/scripted-provider.ts';
import {
  type InProcessGateway,
  startGatewayInProcess,
  type TestAccount,
  testCatalog,
} from '../helper/start/gateway-in-process.ts';
import { mp3Frames } from '../helper/start/media-gateway.ts';

/** Every unit has its own odd price, so that none can be mistaken for another. */
const PRICES: PriceList = {
  input: '2.000003',
  output: '7.000019',
  cachedInput: '0.300007',
  cacheWrite: '3.100037',
  cacheWrite1h: '4.000041',
  inputAudio: '20.000043',
  cachedInputAudio: '10.000047',
  outputAudio: '40.000053',
  inputImage: '5.000059',
  cachedInputImage: '1.000061',
  outputImage: '30.000067',
  webSearch: '6.000071',
  webSearchPreview: '9.000073',
  character: '11.000027',
  image: '0.040009',
  audioSecond: '0.000103',
  request: '0.000013',
};

const MODELS: Readonly<Record<string, [Category, 'openai' | 'anthropic']>> = {
  text: ['text', 'openai'],
  message: ['text', 'anthropic'],
  image: ['image', 'openai'],
  voice: ['tts', 'openai'],
  ears: ['stt', 'openai'],
};

async function start(
  t: Test,
  behave?: (request: ReceivedRequest) => Behavior | undefined,
): Promise<InProcessGateway> {
  const provider = await startScriptedProvider({ record: true, ...(behave ? { behave } : {}) });
  t.teardown(() => provider.close());
  const base = testCatalog(provider.url);
  const [flat, claude] = [base.get('flat'), base.get('claude')];
  if (!flat || !claude) throw new Error('no upstreams');
  const price = creditPrice(
    Object.fromEntries(Object.entries(PRICES).map(([unit, credits]) => [unit, Number(credits)])),
  );
  const catalog = new Map(
    Object.entries(MODELS).map(([slug, [category, format]]): [string, Model] => [
      slug,
      {
        ...(format === 'anthropic' ? claude : flat),
        slug,
        upstreamModel: slug,
        category,
        price,
      },
    ]),
  );
  return await startGatewayInProcess(t, { provider, config: { catalog } });
}

const MESSAGES = [{ role: 'user', content: 'How long is a piece of string?' }];
const JSON_CALLS = [
  ['/v1/chat/completions', { model: 'text', messages: MESSAGES }],
  ['/v1/chat/completions', { model: 'text', messages: MESSAGES, stream: true }],
  ['/v1/completions', { model: 'text', prompt: 'Once' }],
  ['/v1/completions', { model: 'text', prompt: 'Once', stream: true }],
  ['/v1/responses', { model: 'text', input: 'Hello' }],
  ['/v1/responses', { model: 'text', input: 'Hello', stream: true }],
  ['/v1/responses/compact', { model: 'text', input: 'Hello' }],
  ['/v1/responses/input_tokens', { model: 'text', input: 'Hello' }],
  ['/v1/embeddings', { model: 'text', input: ['One', 'Two'] }],
  ['/v1/moderations', { model: 'text', input: 'Hello' }],
  ['/v1/messages', { model: 'message', messages: MESSAGES, max_tokens: 100 }],
  ['/v1/messages', { model: 'message', messages: MESSAGES, max_tokens: 100, stream: true }],
  ['/v1/messages/count_tokens', { model: 'message', messages: MESSAGES }],
  ['/v1/images/generations', { model: 'image', prompt: 'A cat', n: 2 }],
  ['/v1/images/generations', { model: 'image', prompt: 'A cat', stream: true, partial_images: 1 }],
  ['/v1/audio/speech', { model: 'voice', voice: 'alloy', input: 'Grüße 😀' }],
  ['/v1/audio/speech', { model: 'voice', voice: 'alloy', input: 'Grüße 😀', stream_format: 'sse' }],
] as const;

/** 13 frames of 1,152 samples at 44.1 kHz: 0.339591836…, more decimals than a microsecond has. */
const AUDIO = mp3Frames(13);
const FORM_CALLS = [
  ['/v1/images/edits', { model: 'image', prompt: 'A cat' }, 'image'],
  ['/v1/images/variations', { model: 'image' }, 'image'],
  ['/v1/audio/transcriptions', { model: 'ears' }, 'file'],
  ['/v1/audio/transcriptions', { model: 'ears', stream: 'true' }, 'file'],
  ['/v1/audio/translations', { model: 'ears' }, 'file'],
] as const;

const CALLS: readonly (readonly [string, string | (() => FormData)])[] = [
  ...JSON_CALLS.map(([path, body]) => [path, JSON.stringify(body)] as const),
  ...FORM_CALLS.map(
    ([path, fields, file]) =>
      [
        path,
        () => {
          const form = new FormData();
          for (const [name, value] of Object.entries(fields)) form.append(name, value);
          form.append(file, new Blob([AUDIO]), 'upload');
          return form;
        },
      ] as const,
  ),
];

const send = (world: InProcessGateway, { key }: TestAccount, path: string, body: string | (() => FormData)) =>
  fetch(`${world.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: typeof body === 'string' ? body : body(),
  });

/** The owner's ledger through the API, newest first, once everything is settled. */
async function ledgerOf(world: InProcessGateway, { key }: TestAccount): Promise<EntryView[]> {
  await world.settled();
  const response = await world.api('GET', '/api/account/ledger/', key);
  return ((await response.json()) as { entries: EntryView[] }).entries;
}

/** The row is computed again, from the price list and from the row's own prices and multiplier. */
function checkRow(t: Test, entry: EntryView | undefined, what: string): void {
  const { usage = {}, price, multiplier } = entry ?? {};
  t.equal(entry?.credits, recomputed(usage, PRICES), `${what}: ${JSON.stringify(usage)}`);
  const own = Object.fromEntries(Object.entries(price ?? {}).map(([unit, amount]) => [unit, String(amount)]));
  t.equal(entry?.credits, recomputed(usage, own, multiplier ?? 0), `${what}: ${JSON.stringify(price)}`);
  t.equal(Object.keys(own).length, Object.values(usage).filter((amount) => amount > 0).length);
}

test('the charge of every endpoint can be recomputed from its row and the price list', async (t) => {
  const world = await start(t);
  const account = await world.account({ credits: 1_000_000 });
  for (const [path, body] of CALLS) {
    const response = await send(world, account, path, body);
    t.equal(response.status, 200, path);
    await response.arrayBuffer();
    const [entry] = await ledgerOf(world, account);
    t.match(entry, { type: 'charge', endpoint: path, outcome: 'complete', status: 200 });
    t.equal(entry?.usage.requests, 1);
    checkRow(t, entry, path);
    const head = response.headers.get('x-tollgate-charge');
    if (head !== null) t.equal(`-${head}`, entry?.credits, 'and the head says the same');
  }
  const entries = await ledgerOf(world, account);
  t.equal(entries.length, CALLS.length + 1);
  // The balance of each row is the sum up to it.
  for (const [index, { credits, balance_after: after }] of entries.entries()) {
    const before = entries[index + 1]?.balance_after ?? '0.000000';
    const micro = (text: string) => BigInt(text.replace('.', ''));
    t.equal(micro(after ?? ''), micro(before) + micro(credits));
  }
});

test('so can the charge of tokens read from and written to a cache, and of an estimate', async (t) => {
  const cached = { cached_tokens: 31, cache_write_tokens: 17 };
  const usage = {
    prompt_tokens: 101,
    completion_tokens: 11,
    prompt_tokens_details: cached,
    input_tokens: 103,
    output_tokens: 13,
    input_tokens_details: cached,
    cache_read_input_tokens: 29,
    cache_creation_input_tokens: 19,
  };
  const world = await start(t, ({ headers }) => ({ usage: headers['x-no-usage'] ? false : usage }));
  const account = await world.account({ credits: 1_000_000 });
  const bodies = CALLS.filter(([path]) => /chat|responses$|compact$|messages$/.test(path));
  for (const [path, body] of bodies) {
    await (await send(world, account, path, body)).text();
    const [entry] = await ledgerOf(world, account);
    t.match(entry?.usage, { cached_input_tokens: Number, cache_write_tokens: Number }, path);
    checkRow(t, entry, path);
    const response = await fetch(`${world.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${account.key}`, 'x-no-usage': '1' },
      body: body as string,
    });
    await response.text();
    const [estimate] = await ledgerOf(world, account);
    t.equal(estimate?.estimated, true, path);
    checkRow(t, estimate, `${path}, estimated`);
  }
});

test('so can the charge of audio that is measured to a fraction of a second', async (t) => {
  const world = await start(t, () => ({ usage: false }));
  const account = await world.account();
  for (const [path, body] of CALLS.filter(([path]) => path.startsWith('/v1/audio/tr'))) {
    await (await send(world, account, path, body)).text();
    const [entry] = await ledgerOf(world, account);
    t.match(entry, { usage: { audio_seconds: 0.339592 } });
    checkRow(t, entry, path);
  }
});

test('a call that is charged nothing has no usage in its row', async (t) => {
  const world = await start(t, () => ({ status: 500, body: { error: { message: 'Sorry' } } }));
  const account = await world.account();
  for (const [path, body] of CALLS) {
    t.equal((await send(world, account, path, body)).status, 500);
    const [entry] = await ledgerOf(world, account);
    t.match(entry, { type: 'charge', outcome: 'upstream_error', status: 500, credits: '0.000000' });
    t.same(entry?.usage, {});
  }
});
