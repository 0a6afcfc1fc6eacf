import { test } from 'tap';
import {
  type InProcessGateway,
  lastCharge,
  startGatewayInProcess,
  UNPRICED_PASSES,
} from '../helper/start/gateway-in-process.ts';

const CALL = { model: 'claude', max_tokens: 500, messages: [{ role: 'user', content: 'Hello' }] };
const SSE = { 'content-type': 'text/event-stream' };

const post = (world: InProcessGateway, key: string, body: object = {}, path = '/v1/messages') =>
  world.api('POST', path, key, { ...CALL, ...body });

const event = (data: { type: string } & Record<string, unknown>) =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
const start = (usage: object) =>
  event({
    type: 'message_start',
    message: { id: 'msg_1', type: 'message', role: 'assistant', content: [], usage },
  });
const said = (text: string) =>
  event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } });
const delta = (usage: object, stop_reason: string | null = 'end_turn') =>
  event({ type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage });
const STOP = event({ type: 'message_stop' });

test('a message is charged by its four counts of tokens', async (t) => {
  const usage = {
    input_tokens: 10,
    cache_read_input_tokens: 1_000,
    cache_creation_input_tokens: 200,
    output_tokens: 30,
    cache_creation: { ephemeral_5m_input_tokens: 200 },
    service_tier: 'standard',
  };
  const world = await startGatewayInProcess(t, { behave: () => ({ usage }) });
  const { key, accountId } = await world.account();
  const response = await post(world, key);
  // 10 × 0.001 + 1,000 × 0.0001 + 200 × 0.00125 + 30 × 0.002
  t.equal(response.headers.get('x-tollgate-charge'), '0.420000');
  t.match(await response.json(), { type: 'message', usage });
  t.match(await lastCharge(world, accountId), {
    credits: -420_000,
    usage: { input: 10, cachedInput: 1_000, cacheWrite: 200, output: 30 },
    estimated: false,
    endpoint: '/v1/messages',
  });
});

test('a stream passes byte for byte, and of its cumulative counts the last are charged', async (t) => {
  const body = [
    start({
      input_tokens: 25,
      cache_read_input_tokens: 100,
      cache_creation_input_tokens: 0,
      output_tokens: 1,
    }),
    event({ type: 'ping' }),
    said('é "quoted" \n'),
    delta({ output_tokens: 7 }, null),
    delta({ output_tokens: 15 }),
    STOP,
  ];
  const world = await startGatewayInProcess(t, { behave: () => ({ headers: SSE, body }) });
  const { key, accountId } = await world.account();
  t.equal(await (await post(world, key, { stream: true })).text(), body.join(''));
  // 25 × 0.001 + 100 × 0.0001 + 15 × 0.002
  t.match(await lastCharge(world, accountId), { credits: -65_000, estimated: false, outcome: 'complete' });
});

test('an error within a stream ends it, and only the written output is charged', async (t) => {
  const error = event({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } });
  for (const [body, charged] of [
    [[start({ input_tokens: 1_000, output_tokens: 1 }), said('word '.repeat(50)), error], true],
    [[start({ input_tokens: 1_000, output_tokens: 1 }), error], false],
  ] as const) {
    const world = await startGatewayInProcess(t, { behave: () => ({ headers: SSE, body }) });
    const { key, accountId } = await world.account();
    t.equal(await (await post(world, key, { stream: true })).text(), body.join(''));
    const entry = await lastCharge(world, accountId);
    t.match(entry, { outcome: 'upstream_error', status: 200 });
    t.equal(entry.credits < -1_000_000, charged, `credits ${entry.credits}`);
  }
});

test('count_tokens costs only the price of a request', async (t) => {
  const world = await startGatewayInProcess(t);
  const { key, accountId } = await world.account({ credits: 1 });
  const count = (model: string) => post(world, key, { model }, '/v1/messages/count_tokens');
  t.same(await (await count('claude')).json(), { input_tokens: 2 });
  t.match(await lastCharge(world, accountId), { credits: 0, estimated: false });
  t.equal((await count('claude-flat')).headers.get('x-tollgate-charge'), '1.000000');
  t.equal((await count('claude-flat')).status, 402);
});

test('fallbacks are refused, as an unchecked model could answer', async (t) => {
  const world = await startGatewayInProcess(t, { behave: () => undefined });
  const { key } = await world.account();
  const response = await post(world, key, { fallbacks: [{ model: 'dear' }] });
  t.equal(response.status, 400);
  t.match(await response.json(), { type: 'error', error: { type: 'invalid_request_error' } });
  t.equal(world.provider.requests.length, 0);
});

test('a file or a container of another account does not exist', async (t) => {
  const world = await startGatewayInProcess(t, {
    config: { pricing: UNPRICED_PASSES },
    behave: () => ({
      body: {
        id: 'msg',
        content: [],
        container: { id: 'container_1' },
        usage: { input_tokens: 1, output_tokens: 1 },
      },
    }),
  });
  const [own, other] = [await world.account(), await world.account()];
  await (await post(world, own.key)).text();
  const source = { type: 'file', file_id: 'file_1' };
  const withFile = { messages: [{ role: 'user', content: [{ type: 'document', source }] }] };
  t.equal((await post(world, own.key, withFile)).status, 404);
  t.equal((await post(world, other.key, { container: 'container_1' })).status, 404);
  t.equal((await post(world, own.key, { container: 'container_1' })).status, 200);
  t.equal(world.provider.requests.length, 2);
});
