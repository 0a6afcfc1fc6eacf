import { test } from 'tap';
import type { Model } from '../../src/domain/catalog.ts';
import { micro } from '../../src/domain/credits.ts';
import { askedOf } from '../helper/fixtures/asked.ts';
import { shippedCatalog } from '../helper/fixtures/client-bodies.ts';
import { startScriptedProvider } from '../helper/stand-ins/scripted-provider.ts';
import { startGatewayInProcess, testCatalog } from '../helper/start/gateway-in-process.ts';
import { silentWav } from '../helper/start/media-gateway.ts';

/** The prices and windows of shipped models, with a provider that reports as many tokens as the test says. */
async function startShipped(
  t: Parameters<typeof startGatewayInProcess>[0],
  reported: { input_tokens: number },
) {
  const usage = { ...reported, output_tokens: 16, total_tokens: reported.input_tokens + 16 };
  const provider = await startScriptedProvider({
    behave: () => ({
      body: {
        id: 'resp_1',
        type: 'message',
        status: 'completed',
        output: [],
        content: [{ type: 'text', text: 'a' }],
        usage,
      },
    }),
  });
  t.teardown(() => provider.close());
  const base = testCatalog(provider.url);
  const catalog = new Map(base);
  for (const [slug, model] of shippedCatalog()) {
    const at = base.get(model.upstream.format === 'anthropic' ? 'claude' : 'tokens') as Model;
    catalog.set(slug, { ...model, upstream: at.upstream });
  }
  const world = await startGatewayInProcess(t, { provider, config: { catalog } });
  const balanceOf = async (accountId: number) => {
    await world.settled();
    return (await world.ledger.ledger.account(accountId)).balance;
  };
  return { ...world, provider, balanceOf };
}

const PDF = { type: 'input_file', filename: 'a.pdf', file_url: 'https://a.example/a.pdf' };
const asking = (part: object) => ({
  model: 'gpt-5.6-sol',
  max_output_tokens: 16,
  input: [{ role: 'user', content: [part] }],
});

test('ten concurrent calls with a PDF never take an account below its overdraft', async (t) => {
  const world = await startShipped(t, { input_tokens: 900_000 });
  for (const overdraft of [0, 12]) {
    const { accountId, key } = await world.account({ credits: 10, overdraft });
    const before = world.provider.requests.length;
    const statuses = await Promise.all(
      Array.from(
        { length: 10 },
        async () => (await world.api('POST', '/v1/responses', key, asking(PDF))).status,
      ),
    );
    t.ok(
      statuses.every((status) => status === 200 || status === 402),
      statuses.join(),
    );
    const balance = await world.balanceOf(accountId);
    t.ok(balance >= -overdraft * 1_000_000, `${balance}`);
    const sent = world.provider.requests.length - before;
    t.equal(sent, overdraft === 0 ? 0 : 2, 'a call holds 10.50, of what the account has');
  }
  const poor = await world.account({ credits: 1 });
  t.match(await (await world.api('POST', '/v1/responses', poor.key, asking(PDF))).json(), {
    error: {
      code: 'insufficient_credits',
      message: /\(10\.\d+ of it for images, files and audio\).*or send fewer images, files or audio/,
      metadata: { affordable_max_tokens: null },
    },
  });
  t.equal(await world.balanceOf(poor.accountId), 1_000_000);
});

test('a file does not pass a spending limit', async (t) => {
  const world = await startShipped(t, { input_tokens: 900_000 });
  const { key } = await world.account({ credits: 100, key: { spendingLimit: micro(200_000) } });
  const data = `data:application/pdf;base64,${Buffer.from('%PDF-1.7').toString('base64')}`;
  for (const part of [PDF, { type: 'input_image', image_url: data }, { type: 'input_file', file_data: data }])
    t.match(await (await world.api('POST', '/v1/responses', key, asking(part))).json(), {
      error: { code: 'spending_limit_exceeded' },
    });
  const document = { type: 'document', source: { type: 'url', url: 'https://a.example/a.pdf' } };
  const message = {
    model: 'claude-opus-5',
    max_tokens: 16,
    messages: [{ role: 'user', content: [document] }],
  };
  t.equal((await world.api('POST', '/v1/messages', key, message)).status, 402);
  t.equal(world.provider.requests.length, 0);
});

test('a large body is sent with the bounds of its tools, and otherwise unchanged', async (t) => {
  const world = await startShipped(t, { input_tokens: 900_000 });
  const { key } = await world.account({ credits: 1_000 });
  const text = JSON.stringify('é'.repeat(800_000));
  const body = (tool: string) =>
    `{ "model":"claude-opus-5","max_tokens":16,"messages":[{"role":"user","content":${text}}],"tools":[${tool} ]}`;
  const response = await world.api('POST', '/v1/messages', key, body('{"type":"web_search_20250305" }'));
  t.equal(response.status, 200);
  const [request] = world.provider.requests;
  t.ok(request?.body.toString() === body('{"max_uses":3,"type":"web_search_20250305" }'));
  t.equal(request?.headers['content-length'], String(request?.body.length));
});

for (const size of ['small', 'large'] as const) {
  test(`a sound holds its measured length, in a ${size} body`, async (t) => {
    const world = await startGatewayInProcess(t);
    const seconds = size === 'small' ? 4 : 120;
    const data = silentWav(seconds).toString('base64');
    const call = (sound: string) => ({
      model: 'tokens',
      max_tokens: 10,
      messages: [
        { role: 'user', content: [{ type: 'input_audio', input_audio: { data: sound, format: 'wav' } }] },
      ],
    });
    // 50 tokens a second at 1 credit for 1,000, and some text.
    const credits = (seconds * 50) / 1_000 + 0.5;
    const { key } = await world.account({ credits });
    t.equal((await world.chat(key, call(data))).status, 200);
    const other = await world.account({ credits: 9 });
    const unknown = Buffer.from('no sound that anybody knows '.repeat(100)).toString('base64');
    t.equal((await world.chat(other.key, call(unknown))).status, 402, 'else the window, 10,000 tokens');
  });
}

test('holds that let people in, at shipped prices', (t) => {
  const catalog = shippedCatalog();
  const bounds = { imageTokens: 20_000, contextTokens: 1_000_000, toolRounds: 3, toolTokens: 50_000 };
  const held = (path: Parameters<typeof askedOf>[0], slug: string, body: Record<string, unknown>) => {
    const model = catalog.get(slug);
    if (!model) throw new Error(`no model ${slug}`);
    return askedOf(path, model, body).cost(bounds);
  };
  const said = (content: unknown) => ({ messages: [{ role: 'user', content }], max_tokens: 16 });
  const text = held('/v1/chat/completions', 'gpt-4o', said('a'.repeat(2_000_000)));
  t.equal(text.hold, 128_000 * 2.5 + 16 * 10, '2 MB of text: 0.32, before 5.00');
  t.equal(text.mediaTokens, 0);
  const picture = {
    type: 'image',
    source: { type: 'base64', media_type: 'image/png', data: 'A'.repeat(40_000) },
  };
  const shots = held('/v1/messages', 'claude-opus-5-5', said(Array(20).fill(picture)));
  t.equal(shots.mediaTokens, 20 * 4_784);
  const photo = { type: 'image_url', image_url: { url: 'https://a.example/a.png' } };
  t.equal(held('/v1/chat/completions', 'gpt-4o-mini', said([photo])).mediaTokens, 50_000);
  const file = held('/v1/responses', 'gpt-5.6-sol', asking(PDF));
  t.equal(file.mediaTokens, catalog.get('gpt-5.6-sol')?.contextWindow, 'no more than the window');
  t.equal(
    held('/v1/responses', 'gpt-5.6-sol', { input: [PDF, PDF, PDF], max_output_tokens: 16 }).hold,
    file.hold,
  );
  const cheap = askedOf('/v1/responses', catalog.get('gpt-5.6-sol') as Model, asking(PDF)).cost({
    ...bounds,
    fileTokens: 30_000,
  });
  t.equal(cheap.mediaTokens, 30_000, 'limits.fileTokens');
  t.end();
});

const MOST = Number.MAX_SAFE_INTEGER;
const TEXT = { model: 'tokens', input: 'x', prompt: 'x' };
const MESSAGE = { model: 'claude', messages: [{ role: 'user', content: 'x' }] };

test('a call whose bounds cost more than any account can have gets 402, not 500', async (t) => {
  const world = await startGatewayInProcess(t);
  const { key } = await world.account();
  for (const [path, body] of [
    ['/v1/chat/completions', { model: 'tokens', messages: [], max_tokens: MOST, n: MOST }],
    ['/v1/completions', { ...TEXT, max_tokens: MOST }],
    ['/v1/completions', { ...TEXT, max_tokens: 1, best_of: MOST }],
    ['/v1/responses', { ...TEXT, max_output_tokens: MOST }],
    ['/v1/responses', { ...TEXT, max_tool_calls: MOST, tools: [{ type: 'mcp' }] }],
    ['/v1/messages', { ...MESSAGE, max_tokens: MOST }],
    ['/v1/messages', { ...MESSAGE, max_tokens: 1, thinking: { budget_tokens: MOST } }],
    ['/v1/images/generations', { model: 'picture', prompt: 'x', n: MOST }],
  ] as const) {
    const response = await world.api('POST', path, key, body);
    t.equal(response.status, 402, `${path} ${JSON.stringify(body)}`);
    await response.body?.cancel();
  }
  t.equal(world.provider.requests.length, 0);
});
