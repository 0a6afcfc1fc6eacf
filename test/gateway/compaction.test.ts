import OpenAI from 'openai';
import { test } from 'tap';
import { lastCharge, startGatewayInProcess } from '../helper/start/gateway-in-process.ts';

const USAGE = {
  input_tokens: 100,
  input_tokens_details: { cached_tokens: 60 },
  output_tokens: 20,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 120,
};
/** 40 × 0.001 + 60 × 0.0005 + 20 × 0.002 */
const CHARGE = '0.110000';
const ITEM = { type: 'compaction', id: 'cmp_1', encrypted_content: 'gAAAAABo' };
const HELLO = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hello' }] };

// Codex compacts by an item in its input, and sends back the item that it gets.
test('the items compaction_trigger and compaction pass as they are, and are charged by the report', async (t) => {
  const answer = { id: 'resp_1', object: 'response', status: 'completed', output: [ITEM], usage: USAGE };
  const world = await startGatewayInProcess(t, { behave: () => ({ body: answer }) });
  const { key, accountId } = await world.account();
  const turns = [
    [HELLO, { type: 'compaction_trigger' }],
    [ITEM, HELLO],
    [{ type: 'compaction', encrypted_content: 'gAAAAABo' }, HELLO],
  ];
  for (const [index, input] of turns.entries()) {
    const body = { model: 'tokens', input, max_output_tokens: 500, store: false };
    const response = await world.api('POST', '/v1/responses', key, body);
    t.equal(response.headers.get('x-tollgate-charge'), CHARGE);
    t.match(await response.json(), { output: [ITEM] });
    t.same(JSON.parse((await world.provider.request(index)).body.toString()), body);
    t.match(await lastCharge(world, accountId), {
      credits: -110_000,
      usage: { input: 40, cachedInput: 60, output: 20 },
      estimated: false,
    });
  }
});

test('a stream that ends with a compaction is charged by its report', async (t) => {
  const event = (data: { type: string } & Record<string, unknown>) =>
    `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
  const body = [
    event({ type: 'response.created', response: { id: 'resp_1', status: 'in_progress' } }),
    event({ type: 'response.output_item.done', output_index: 0, item: ITEM }),
    event({
      type: 'response.completed',
      response: { id: 'resp_1', status: 'completed', output: [ITEM], usage: USAGE },
    }),
  ];
  const headers = { 'content-type': 'text/event-stream' };
  const world = await startGatewayInProcess(t, { behave: () => ({ headers, body }) });
  const { key, accountId } = await world.account();
  const input = [HELLO, { type: 'compaction_trigger' }];
  const response = await world.api('POST', '/v1/responses', key, { model: 'tokens', input, stream: true });
  t.equal(await response.text(), body.join(''));
  t.match(await lastCharge(world, accountId), { credits: -110_000, outcome: 'complete', estimated: false });
});

test('POST /v1/responses/compact is held, and charged by token', async (t) => {
  const answer = { id: 'resp_1', object: 'response.compaction', created_at: 1, output: [ITEM], usage: USAGE };
  const world = await startGatewayInProcess(t, { behave: () => ({ body: answer }) });
  const { key, accountId } = await world.account();
  const client = new OpenAI({ apiKey: key, baseURL: `${world.url}/v1` });
  const compacted = await client.responses.compact({ model: 'tokens', input: 'Hello' });
  t.match(compacted.output, [ITEM]);
  t.equal((await world.provider.request(0)).url, '/v1/responses/compact');
  t.match(await lastCharge(world, accountId), {
    credits: -110_000,
    usage: { input: 40, cachedInput: 60, output: 20 },
    estimated: false,
    endpoint: '/v1/responses/compact',
  });
  const body = { model: 'tokens', input: 'Hello' };
  const poor = await world.account({ credits: 1 });
  t.equal(
    (await world.api('POST', '/v1/responses/compact', poor.key, body)).status,
    402,
    'by maxOutputTokens',
  );
  const others = { ...body, previous_response_id: 'resp_of_another' };
  t.equal((await world.api('POST', '/v1/responses/compact', key, others)).status, 404);
  t.equal(world.provider.requests.length, 1);
});

test('a compaction without a report is charged by an estimate', async (t) => {
  const world = await startGatewayInProcess(t, { behave: () => ({ usage: false }) });
  const { key, accountId } = await world.account();
  const body = { model: 'tokens', input: 'Hello there, how are you?' };
  const response = await world.api('POST', '/v1/responses/compact', key, body);
  t.match(await response.json(), { object: 'response.compaction' });
  t.match(await lastCharge(world, accountId), { estimated: true, usage: { input: Number, output: Number } });
});
