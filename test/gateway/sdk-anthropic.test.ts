import Anthropic from '@anthropic-ai/sdk';
import { test } from 'tap';
import { micro } from '../../src/domain/credits.ts';
import { startGatewayInProcess } from '../helper/start/gateway-in-process.ts';

const HELLO = {
  model: 'claude',
  max_tokens: 100,
  messages: [{ role: 'user' as const, content: 'Say hello' }],
};

test('Anthropic SDK: a message, its stream, a tool, and a count', async (t) => {
  const world = await startGatewayInProcess(t);
  const { key } = await world.account();
  const client = new Anthropic({ apiKey: key, baseURL: world.url });

  const answer = await client.messages.create(HELLO);
  const [block] = answer.content;
  t.match(block, { type: 'text', text: /Say hello$/ });

  const stream = client.messages.stream(HELLO);
  const streamed = await stream.finalMessage();
  t.same(streamed.content, answer.content);
  t.match(streamed.usage, { input_tokens: 3, output_tokens: answer.usage.output_tokens });

  const tools = [{ name: 'look_up', input_schema: { type: 'object' as const } }];
  const called = await client.messages.create({ ...HELLO, tools, tool_choice: { type: 'any' } });
  t.match(called.content[0], { type: 'tool_use', name: 'look_up', input: {} });
  t.equal(called.stop_reason, 'tool_use');

  const { input_tokens } = await client.messages.countTokens({ model: 'claude', messages: HELLO.messages });
  t.equal(input_tokens, 3);
});

test('Anthropic SDK: the credential goes up as x-api-key, and its headers pass, but for quotas', async (t) => {
  const world = await startGatewayInProcess(t, {
    behave: () => ({
      headers: { 'anthropic-organization-id': 'org', 'anthropic-ratelimit-x': '1', 'x-kept': '1' },
    }),
  });
  const { key } = await world.account();
  const client = new Anthropic({ authToken: key, apiKey: null, baseURL: world.url });
  const response = await client.messages.create(HELLO, { headers: { 'anthropic-beta': 'b' } }).asResponse();
  const { headers, rawHeaders } = await world.provider.request(0);
  t.equal(headers['x-api-key'], 'upstream-secret');
  t.notOk('authorization' in headers);
  t.equal(headers['anthropic-version']?.length, 10);
  t.equal(headers['anthropic-beta'], 'b');
  t.notMatch(rawHeaders.join('\n'), key);
  t.equal(response.headers.get('x-kept'), '1');
  t.equal(response.headers.get('anthropic-ratelimit-x'), null);
  t.equal(response.headers.get('anthropic-organization-id'), null);
});

test('Anthropic SDK: refusals have the shape of its API, are typed, and are not sent again', async (t) => {
  const world = await startGatewayInProcess(t, { behave: () => undefined });
  const { key } = await world.account({ key: { spendingLimit: micro(1) } });
  let sent = 0;
  const client = new Anthropic({
    apiKey: key,
    baseURL: world.url,
    fetch: (input, init) => {
      sent++;
      return fetch(input, init);
    },
  });
  const refused = (status: number, type: string) =>
    Object.assign(new Error(), { status, error: { type: 'error', error: { type } } });
  await t.rejects(client.messages.create(HELLO), refused(402, 'billing_error'));
  await t.rejects(client.messages.create({ ...HELLO, model: 'nothing' }), refused(404, 'not_found_error'));
  await t.rejects(client.messages.create({ ...HELLO, model: 'flat' }), refused(400, 'invalid_request_error'));
  await t.rejects(
    client.withOptions({ apiKey: 'sk-tg-wrong' }).messages.create(HELLO),
    refused(401, 'authentication_error'),
  );
  const { key: limited } = await world.account({ key: { allowedModels: ['other'] } });
  await t.rejects(
    client.withOptions({ apiKey: limited }).messages.create(HELLO),
    refused(403, 'permission_error'),
  );
  t.equal(sent, 5);
  t.equal(world.provider.requests.length, 0);
  const batches = await fetch(`${world.url}/v1/messages/batches`, { method: 'POST', body: '{}' });
  t.equal(batches.status, 404);
  t.match(await batches.json(), { type: 'error', error: { type: 'not_found_error' } });
});

// The runners ask for a conversation that the provider stores.
test('Anthropic SDK: the tool runner goes on without a thread, and finishes', async (t) => {
  const world = await startGatewayInProcess(t);
  const { key } = await world.account();
  const sent: unknown[] = [];
  const client = new Anthropic({
    apiKey: key,
    baseURL: world.url,
    fetch: async (input, init) => {
      const response = await fetch(input, init);
      sent.push(response.status, 'thread' in JSON.parse(String(init?.body)));
      return response;
    },
  });
  let runs = 0;
  const look = {
    type: 'custom' as const,
    name: 'look_up',
    description: 'Looks up',
    input_schema: { type: 'object' as const },
    parse: (input: unknown) => input,
    run: () => `found ${++runs}`,
  };
  const runner = client.beta.messages.toolRunner({
    ...HELLO,
    tools: [look],
    tool_choice: { type: 'any' },
    max_iterations: 3,
  });
  await runner;
  t.same(sent.slice(0, 2), [400, true]);
  t.same(sent.slice(2), [200, false, 200, false, 200, false]);
  t.ok(runs >= 2);
});

test('a thread is refused with the details that Anthropic’s clients read', async (t) => {
  const world = await startGatewayInProcess(t, { behave: () => undefined });
  const { key } = await world.account();
  const response = await world.api('POST', '/v1/messages', key, { ...HELLO, thread: { type: 'create' } });
  t.equal(response.status, 400);
  t.match(await response.json(), {
    type: 'error',
    error: {
      type: 'invalid_request_error',
      code: 'invalid_field',
      param: 'thread',
      details: { error_code: 'thread_unsupported_request', unsupported: ['thread'] },
    },
  });
  t.equal(world.provider.requests.length, 0);
  const without = await world.api('POST', '/v1/messages', key, { ...HELLO, billing_policy: { type: 'a' } });
  t.notOk('details' in ((await without.json()) as { error: object }).error);
});
