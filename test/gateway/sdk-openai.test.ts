import OpenAI, { toFile } from 'openai';
import { test } from 'tap';
import { micro } from '../../src/domain/credits.ts';
import { type InProcessGateway, startGatewayInProcess } from '../helper/start/gateway-in-process.ts';
import { type MediaGateway, startMediaGateway } from '../helper/start/media-gateway.ts';

async function clientOf(world: InProcessGateway, options: Parameters<InProcessGateway['account']>[0] = {}) {
  const { key, accountId } = await world.account(options);
  return { client: new OpenAI({ apiKey: key, baseURL: `${world.url}/v1` }), accountId };
}

const TOOL = {
  type: 'function' as const,
  name: 'look_up',
  parameters: { type: 'object' },
  strict: false,
};

test('OpenAI SDK: a response, its stream, and a tool', async (t) => {
  const { client } = await clientOf(await startGatewayInProcess(t));
  const answer = await client.responses.create({
    model: 'tokens',
    input: 'Say hello',
    max_output_tokens: 100,
  });
  t.match(answer.output_text, /Say hello$/);
  t.equal(answer.status, 'completed');

  const stream = await client.responses.create({
    model: 'tokens',
    input: 'Say hello',
    max_output_tokens: 100,
    stream: true,
  });
  let text = '';
  let usage: unknown;
  for await (const event of stream) {
    if (event.type === 'response.output_text.delta') text += event.delta;
    if (event.type === 'response.completed') usage = event.response.usage;
  }
  t.equal(text, answer.output_text);
  t.same(usage, answer.usage);

  const called = await client.responses.create({
    model: 'tokens',
    input: 'Look it up',
    tools: [TOOL],
    tool_choice: 'required',
  });
  t.match(called.output[0], { type: 'function_call', name: 'look_up', arguments: '{}' });
  const result = await client.responses.create({
    model: 'tokens',
    previous_response_id: called.id,
    input: [{ type: 'function_call_output', call_id: 'call_look_up', output: 'found' }],
  });
  t.equal(result.previous_response_id, called.id);
});

test('OpenAI SDK: embeddings, completions, moderations', async (t) => {
  const world = await startGatewayInProcess(t);
  const { client, accountId } = await clientOf(world);
  const embedded = await client.embeddings.create({ model: 'tokens', input: ['one', 'two'] });
  t.equal(embedded.data.length, 2);
  t.equal(embedded.data[0]?.embedding.length, 8);

  const completed = await client.completions.create({ model: 'flat', prompt: 'Say hello', max_tokens: 50 });
  t.match(completed.choices[0]?.text, /Say hello$/);
  let text = '';
  const stream = await client.completions.create({
    model: 'flat',
    prompt: 'Say hello',
    max_tokens: 50,
    stream: true,
  });
  for await (const chunk of stream) {
    t.notOk(chunk.usage, 'no usage that was not asked for');
    text += chunk.choices[0]?.text ?? '';
  }
  t.equal(text, completed.choices[0]?.text);

  const checked = await client.moderations.create({ model: 'flat', input: 'I will kill that process' });
  t.equal(checked.results[0]?.flagged, true);

  await world.settled();
  const entries = await world.book.ledger({ accountId, limit: 10 });
  t.same(
    entries.map(({ endpoint, credits, estimated }) => [endpoint, credits, estimated]),
    [
      ['/v1/moderations', -1_000_000, false],
      ['/v1/completions', -1_000_000, false],
      ['/v1/completions', -1_000_000, false],
      // Two texts of three bytes, a token each, at a thousandth of a credit.
      ['/v1/embeddings', -2_000, false],
      [null, 1_000_000_000, false],
    ],
  );
});

test('OpenAI SDK: refusals of the other endpoints are typed, and not sent again', async (t) => {
  const world = await startGatewayInProcess(t, { behave: () => undefined });
  const { client } = await clientOf(world, { key: { spendingLimit: micro(1) } });
  let sent = 0;
  const counted = client.withOptions({
    fetch: (input, init) => {
      sent++;
      return fetch(input, init);
    },
  });
  await t.rejects(counted.responses.create({ model: 'flat', input: 'x' }), {
    status: 402,
    code: 'spending_limit_exceeded',
  });
  await t.rejects(counted.embeddings.create({ model: 'flat', input: 'x' }), {
    status: 402,
    code: 'spending_limit_exceeded',
  });
  await t.rejects(counted.completions.create({ model: 'nothing', prompt: 'x' }), {
    status: 404,
    code: 'model_not_found',
  });
  await t.rejects(counted.moderations.create({ model: 'claude', input: 'x' }), {
    status: 400,
    code: 'endpoint_mismatch',
  });
  await t.rejects(counted.responses.create({ model: 'flat', input: 'x', background: true }), {
    code: 'invalid_field',
    param: 'background',
  });
  t.equal(sent, 5);
  t.equal(world.provider.requests.length, 0);
});

test('the official OpenAI SDK: chat, stream, models', async (t) => {
  const { url, account } = await startGatewayInProcess(t);
  const { key } = await account();
  const client = new OpenAI({ apiKey: key, baseURL: `${url}/v1` });
  const messages = [{ role: 'user' as const, content: 'Say hello' }];

  const answer = await client.chat.completions.create({ model: 'flat', messages });
  t.match(answer.choices[0]?.message.content, 'Say hello');
  t.ok((answer.usage?.total_tokens ?? 0) > 0);

  const stream = await client.chat.completions.create({ model: 'flat', messages, stream: true });
  let text = '';
  for await (const chunk of stream) {
    t.notOk(chunk.usage, 'no usage that was not asked for');
    text += chunk.choices[0]?.delta.content ?? '';
  }
  t.equal(text, answer.choices[0]?.message.content);

  const withUsage = await client.chat.completions.create({
    model: 'flat',
    messages,
    stream: true,
    stream_options: { include_usage: true },
  });
  let total = 0;
  for await (const chunk of withUsage) total += chunk.usage?.total_tokens ?? 0;
  t.equal(total, answer.usage?.total_tokens);

  const models = await client.models.list();
  t.ok(models.data.some(({ id }) => id === 'flat'));
});

test('the SDK sees typed errors, and retries none of our refusals', async (t) => {
  const { url, account, provider } = await startGatewayInProcess(t, { behave: () => undefined });
  const { key } = await account({ key: { spendingLimit: micro(1) } });
  let sent = 0;
  const client = new OpenAI({
    apiKey: key,
    baseURL: `${url}/v1`,
    fetch: (input, init) => {
      sent++;
      return fetch(input, init);
    },
  });
  const call = (model: string) => client.chat.completions.create({ model, messages: [] });
  await t.rejects(call('flat'), { status: 402, code: 'spending_limit_exceeded' });
  await t.rejects(call('nothing'), { status: 404, code: 'model_not_found' });
  await t.rejects(client.withOptions({ apiKey: 'sk-tg-wrong' }).models.list(), {
    status: 401,
    code: 'invalid_api_key',
  });
  t.equal(sent, 3);
  t.equal(provider.requests.length, 0);
});

const videoClientOf = ({ url }: MediaGateway, apiKey: string) =>
  new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0 });

test('the official SDK makes a video, waits for it, downloads it and deletes it', async (t) => {
  const world = await startMediaGateway(t);
  const account = await world.account({ credits: 10 });
  const client = videoClientOf(world, account.key);
  const { data: video, response } = await client.videos
    .create({ model: 'film', prompt: 'A cat', seconds: '8' })
    .withResponse();
  t.match(video, { status: 'queued', seconds: '8', model: 'film' });
  t.equal(response.headers.get('x-tollgate-charge'), '4.250000');
  t.match(await world.charged(account), {
    credits: -4_250_000,
    usage: { videoSeconds: 8, requests: 1 },
    estimated: false,
    endpoint: '/v1/videos',
    category: 'video',
    outcome: 'complete',
  });
  t.equal((await client.videos.retrieve(video.id)).status, 'in_progress');
  t.equal((await client.videos.retrieve(video.id)).status, 'completed');
  const film = Buffer.from(await (await client.videos.downloadContent(video.id)).arrayBuffer());
  t.equal(film.toString('latin1', 4, 8), 'ftyp');
  const thumbnail = await client.videos.downloadContent(video.id, { variant: 'thumbnail' });
  t.equal(thumbnail.headers.get('content-type'), 'image/png');
  t.match(await client.videos.delete(video.id), { id: video.id, deleted: true });
  await t.rejects(client.videos.retrieve(video.id), { status: 404, code: 'object_not_found' });
  t.match(await world.held(account), { balance: 5_750_000, held: 0 });
  t.equal(
    (await world.book.ledger({ accountId: account.accountId, limit: 10 })).length,
    2,
    'asking has no entry',
  );
});

test('a picture to begin with is uploaded byte for byte, in a form', async (t) => {
  const world = await startMediaGateway(t);
  const account = await world.account({ credits: 10 });
  const input_reference = await toFile(Buffer.alloc(100_000, '\r\n--x'), 'first.png', { type: 'image/png' });
  const video = await videoClientOf(world, account.key).videos.create({
    model: 'film-renamed',
    prompt: 'Grüße',
    seconds: '12',
    input_reference,
  });
  t.equal(video.model, 'upstream-film');
  const { body, headers } = await world.provider.request(0);
  t.match(headers['content-type'], /^multipart\/form-data/);
  t.ok(body.includes(Buffer.alloc(100_000, '\r\n--x')));
  t.match(await world.charged(account), { credits: -6_000_000, usage: { videoSeconds: 12 } });
});

test('a video that fails is refunded, whoever of the account asks, once', async (t) => {
  const world = await startMediaGateway(t);
  const account = await world.account({ credits: 10 });
  const client = videoClientOf(world, account.key);
  const { id } = await client.videos.create({ model: 'film', prompt: 'Please fail', seconds: '4' });
  await client.videos.retrieve(id);
  t.equal((await world.held(account)).balance, 7_750_000);
  for (let polls = 0; polls < 3; polls++) {
    t.match(await client.videos.retrieve(id), { status: 'failed', error: { code: 'demo_failure' } });
    t.match(await world.held(account), { balance: 10_000_000, held: 0 });
  }
  const [refund, charge, ...rest] = await world.book.ledger({ accountId: account.accountId, limit: 10 });
  t.equal(rest.length, 1);
  t.match(refund, {
    id: `${charge?.id}:refund`,
    type: 'refund',
    credits: 2_250_000,
    balanceAfter: 10_000_000,
    keyId: account.keyId,
    model: 'film',
    category: 'video',
    endpoint: '/v1/videos',
  });
  const usage = await world.api('GET', '/api/account/usage/?group_by=model', account.key);
  t.match(await usage.json(), { rows: [{ model: 'film', calls: 1, credits: '0.000000' }] });
  const csv = await (await world.api('GET', '/api/account/ledger/?format=csv', account.key)).text();
  t.match(csv, `${refund?.id},refund,`);
  t.match(csv, ',2.250000,10.000000,');
});
