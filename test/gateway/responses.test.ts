import { test } from 'tap';
import {
  type InProcessGateway,
  lastCharge,
  startGatewayInProcess,
  startOwnGateway,
} from '../helper/start/gateway-in-process.ts';

const SSE = { 'content-type': 'text/event-stream' };

const post = (world: InProcessGateway, key: string, body: object = {}) =>
  world.api('POST', '/v1/responses', key, {
    model: 'tokens',
    input: 'Hello',
    max_output_tokens: 500,
    ...body,
  });

const event = (data: { type: string } & Record<string, unknown>) =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
const CREATED = event({
  type: 'response.created',
  response: { id: 'resp_1', status: 'in_progress', usage: null },
});
const said = (delta: string) => event({ type: 'response.output_text.delta', item_id: 'msg_1', delta });
const ended = (status: string, usage: object | null) =>
  event({ type: `response.${status}`, response: { id: 'resp_1', status, output: [], usage } });
const USAGE = {
  input_tokens: 100,
  input_tokens_details: { cached_tokens: 60 },
  output_tokens: 20,
  output_tokens_details: { reasoning_tokens: 15 },
  total_tokens: 120,
};

test('a response is charged by its usage: cached inside input, reasoning inside output', async (t) => {
  const world = await startGatewayInProcess(t, { behave: () => ({ usage: USAGE }) });
  const { key, accountId } = await world.account();
  const response = await post(world, key);
  // 40 × 0.001 + 60 × 0.0005 + 20 × 0.002
  t.equal(response.headers.get('x-tollgate-charge'), '0.110000');
  t.match(await lastCharge(world, accountId), {
    credits: -110_000,
    usage: { input: 40, cachedInput: 60, output: 20 },
    estimated: false,
    endpoint: '/v1/responses',
  });
});

for (const status of ['completed', 'incomplete', 'failed']) {
  test(`a stream passes byte for byte and is charged by response.${status}`, async (t) => {
    const body = [CREATED, said('é'), ended(status, USAGE)];
    const world = await startGatewayInProcess(t, { behave: () => ({ headers: SSE, body }) });
    const { key, accountId } = await world.account();
    t.equal(await (await post(world, key, { stream: true })).text(), body.join(''));
    t.match(await lastCharge(world, accountId), {
      credits: -110_000,
      estimated: false,
      outcome: status === 'failed' ? 'upstream_error' : 'complete',
    });
    const sent = (await world.provider.request(0)).body.toString();
    t.notMatch(sent, 'stream_options', 'usage comes without being asked for');
  });
}

test('a failure before the model wrote anything costs nothing', async (t) => {
  const error = event({ type: 'error', code: 'server_error', message: 'Sorry' });
  const failed = { id: 'resp_1', status: 'failed', error: { message: 'Sorry' }, output: [], usage: null };
  for (const [status, behavior] of [
    [200, { headers: SSE, body: [CREATED, error] }],
    [200, { headers: SSE, body: [CREATED, ended('failed', null)] }],
    [502, { body: failed }],
    [502, { headers: SSE, body: [error] }],
  ] as const) {
    const world = await startGatewayInProcess(t, { behave: () => behavior });
    const { key, accountId } = await world.account();
    t.equal((await post(world, key, { stream: true })).status, status);
    t.match(await lastCharge(world, accountId), { credits: 0, outcome: 'upstream_error', status });
  }
});

test('an id that two accounts get from an upstream stays with the first', async (t) => {
  const same = {
    id: 'resp_same',
    status: 'completed',
    output: [],
    usage: { input_tokens: 1, output_tokens: 1 },
  };
  const world = await startGatewayInProcess(t, { behave: () => ({ body: same }) });
  const first = await world.account();
  const second = await world.account();
  for (const { key } of [first, second]) {
    t.equal((await post(world, key)).status, 200);
    await world.settled();
  }
  const names = { previous_response_id: 'resp_same' };
  t.equal((await post(world, second.key, names)).status, 404);
  t.equal((await post(world, first.key, names)).status, 200);
});

test('a stored response belongs to the account that made it, and is held by its size', async (t) => {
  let answers = 0;
  const world = await startGatewayInProcess(t, {
    behave: () => ({
      body: {
        id: `resp_own_${++answers}`,
        status: 'completed',
        output: [{ type: 'message', id: `msg_own_${answers}`, content: [] }],
        usage: { input_tokens: 2_000, output_tokens: 500 },
      },
    }),
  });
  // The first response stands for 2,500 tokens: 2.5 credits of input, besides the credit that 500 tokens of output may
  // cost.
  const own = await world.account({ credits: 9.5 });
  const other = await world.account();
  await (await post(world, own.key)).text();
  const stolen = await post(world, other.key, { previous_response_id: 'resp_own_1' });
  t.equal(stolen.status, 404);
  t.match(await stolen.json(), { error: { code: 'object_not_found', type: 'not_found_error' } });
  const item = { input: [{ type: 'item_reference', id: 'msg_own_1' }] };
  t.equal((await post(world, other.key, item)).status, 404);
  t.equal(world.provider.requests.length, 1, 'nothing was sent upstream');
  // 6.5 credits are left, then 3.5.
  t.equal((await post(world, own.key, item)).status, 200);
  t.equal((await post(world, own.key, { previous_response_id: 'resp_own_1' })).status, 402);
  t.equal(
    (await post(world, own.key, { previous_response_id: 'resp_own_1', max_output_tokens: 100 })).status,
    200,
  );
});

test('of an answer with very many parts, those can be named whose ids the journal has room for', async (t) => {
  // 64 KiB: 1,024 ids of 64 bytes.
  const idOf = (index: number) => `msg_${String(index).padStart(60, '0')}`;
  const output = Array.from({ length: 1_100 }, (_, index) => ({
    type: 'message',
    id: idOf(index),
    content: [],
  }));
  const body = { id: 'resp_1', status: 'completed', output, usage: USAGE };
  const world = await startGatewayInProcess(t, { behave: () => ({ body }) });
  const { key } = await world.account();
  await (await post(world, key)).text();
  const naming = (id: string) => post(world, key, { input: [{ type: 'item_reference', id }] });
  t.equal((await naming(idOf(1_022))).status, 200);
  t.equal((await naming(idOf(1_023))).status, 404);
});

test('conversations, prompts and files that no account made do not exist', async (t) => {
  const world = await startGatewayInProcess(t, { behave: () => undefined });
  const { key } = await world.account();
  for (const body of [
    { conversation: 'conv_1' },
    { conversation: { id: 'conv_1' } },
    { prompt: { id: 'pmpt_1' } },
    { input: [{ id: 'msg_1' }] },
    { input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'file_1' }] }] },
    { input: [{ type: 'reasoning', id: 'rs_1', summary: [] }] },
  ]) {
    t.equal((await post(world, key, body)).status, 404, JSON.stringify(body));
  }
  for (const tool of [
    { type: 'file_search', vector_store_ids: ['vs_1'] },
    { type: 'code_interpreter', container: 'cntr_1' },
  ]) {
    const refused = await post(world, key, { tools: [tool] });
    t.match(await refused.json(), { error: { code: 'unpriced_parameter', param: 'tools' } }, tool.type);
  }
  t.equal(world.provider.requests.length, 0);
});

test('a response that is not stored is not remembered', async (t) => {
  const world = await startGatewayInProcess(t);
  const { key } = await world.account();
  const { id } = (await (await post(world, key, { store: false })).json()) as { id: string };
  t.equal((await post(world, key, { previous_response_id: id })).status, 404);
});

test('a name in another case does not slip past', async (t) => {
  const world = await startGatewayInProcess(t, { behave: () => undefined });
  const { key } = await world.account();
  const response = await post(world, key, { Previous_Response_Id: 'resp_1' });
  t.equal(response.status, 400);
  t.match(await response.json(), { error: { code: 'invalid_json', param: 'previous_response_id' } });
  t.equal(world.provider.requests.length, 0);
});

test('a response over 1 MiB is charged by its usage, and can be gone on with', async (t) => {
  const world = await startGatewayInProcess(t, {
    behave: () => ({ text: 'word '.repeat(400_000), usage: USAGE }),
  });
  const { key, accountId } = await world.account();
  const large = (await (await post(world, key, { max_output_tokens: 490_000 })).json()) as { id: string };
  t.match(await lastCharge(world, accountId), { credits: -110_000, estimated: false });
  const next = await post(world, key, { previous_response_id: large.id });
  t.equal(next.status, 200);
  await next.text();
});

test('an id that is no string is refused, because it could not be checked', async (t) => {
  const world = await startGatewayInProcess(t, { behave: () => undefined });
  const { key } = await world.account();
  for (const previous of [5, ['resp_1'], { id: 'resp_1' }, false]) {
    const response = await post(world, key, { previous_response_id: previous });
    t.equal(response.status, 400);
    t.match(await response.json(), { error: { code: 'invalid_field', param: 'previous_response_id' } });
  }
  t.equal(world.provider.requests.length, 0);
});

test('a book that is away withholds no answer, and lets nothing of others be named', async (t) => {
  const world = await startOwnGateway(t, { behave: () => undefined });
  const { key } = await world.account();
  const post = (previous_response_id?: string) =>
    world.api('POST', '/v1/responses', key, { model: 'tokens', input: 'Hello', previous_response_id });
  await (await post()).text();
  await world.settled();
  await world.book.close();
  const answer = (await (await post()).json()) as { id: string };
  t.match(answer.id, /^resp_/);
  const next = await post(answer.id);
  t.ok(next.status >= 500, String(next.status));
  t.equal(world.provider.requests.length, 2);
});
