import OpenAI from 'openai';
import { test } from 'tap';
import { micro } from '../../src/domain/credits.ts';
import { type InProcessGateway, startGatewayInProcess } from '../helper/start/gateway-in-process.ts';

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
