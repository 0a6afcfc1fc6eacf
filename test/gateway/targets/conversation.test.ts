import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { test } from 'tap';
import type { PlaceName } from '../../helper/start/targets-gateway.ts';
import { lastCharge, startTargetsGateway } from '../../helper/start/targets-gateway.ts';

const TURNS = 20;
const DIES_AT = 8;
/** Turns that fail at a target until it is out. */
const FAILS = 3;
const SSE = { 'content-type': 'text/event-stream' };

test('a conversation of 20 turns stays at one target until that dies, and settles at the next', async (t) => {
  const world = await startTargetsGateway(t);
  const { key } = await world.account();
  const messages: { role: string; content: string }[] = [];
  const turn = async () => {
    messages.push({ role: 'user', content: `Question ${messages.length}` });
    const before = { a: world.asked('a').length, b: world.asked('b').length };
    const response = await world.chat(key, { model: 'even', messages, prompt_cache_key: 'talk' });
    t.equal(response.status, 200);
    const { choices } = (await response.json()) as { choices: { message: (typeof messages)[number] }[] };
    messages.push(choices[0]?.message ?? { role: 'assistant', content: '' });
    return (['a', 'b'] as const).filter((place) => world.asked(place).length > before[place]);
  };
  const first: PlaceName[][] = [];
  for (let at = 1; at < DIES_AT; at++) first.push(await turn());
  const [home = 'a'] = first[0] ?? [];
  const next: PlaceName = home === 'a' ? 'b' : 'a';
  t.same(first, Array(DIES_AT - 1).fill([home]), 'one target');
  // Unhealthy for longer than the test lasts.
  world.behave(home, {
    status: 503,
    headers: { 'retry-after': '60' },
    body: { error: { message: 'down' } },
  });
  for (let at = DIES_AT; at < DIES_AT + FAILS; at++)
    t.same((await turn()).sort(), ['a', 'b'], 'the turns at which it was dying were asked at both');
  const rest: PlaceName[][] = [];
  for (let at = DIES_AT + FAILS; at <= TURNS; at++) rest.push(await turn());
  t.same(rest, Array(TURNS - DIES_AT - FAILS + 1).fill([next]), 'and all others at the next one');
});

test('OpenAI SDK: a failing target goes unnoticed, in JSON and in a stream', async (t) => {
  const world = await startTargetsGateway(t);
  const { key, accountId } = await world.account();
  const client = new OpenAI({ apiKey: key, baseURL: `${world.url}/v1`, maxRetries: 0 });
  const asked = { model: 'ranked', messages: [{ role: 'user' as const, content: 'Say hello' }] };
  for (const status of [503, 429]) {
    world.behave('a', { status, headers: { 'retry-after': '0' }, body: { error: { message: 'not now' } } });
    const answer = await client.chat.completions.create(asked);
    t.match(answer.choices[0]?.message.content, /Say hello$/);
    t.match((await lastCharge(world, accountId)).attempts, [
      { target: 'a', status },
      { target: 'b', status: 200 },
    ]);
  }
  world.behave('a', {
    headers: SSE,
    body: ['data: {"error":{"message":"the engine stopped","code":500}}\n\n'],
  });
  const stream = await client.chat.completions.create({ ...asked, stream: true });
  let text = '';
  for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
  t.match(text, /Say hello$/);
});

test('Anthropic SDK: the same for messages and their streams', async (t) => {
  const world = await startTargetsGateway(t);
  const { key } = await world.account();
  const client = new Anthropic({ apiKey: key, baseURL: world.url, maxRetries: 0 });
  const asked = {
    model: 'claude-ranked',
    max_tokens: 100,
    messages: [{ role: 'user' as const, content: 'Say hello' }],
  };
  world.behave('a', {
    status: 529,
    headers: { 'retry-after': '0' },
    body: { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
  });
  const answer = await client.messages.create(asked);
  t.match(answer.content[0], { type: 'text', text: /Say hello$/ });
  const error = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
  world.behave('a', { headers: SSE, body: [`event: error\ndata: ${JSON.stringify(error)}\n\n`] });
  const streamed = await client.messages.stream(asked).finalMessage();
  t.same(streamed.content, answer.content);
});

test('an answer that breaks off after content is the last error of its target, which stays up', async (t) => {
  const world = await startTargetsGateway(t);
  const { key } = await world.account();
  const word = 'data: {"choices":[{"index":0,"delta":{"content":"hi"}}]}\n\n';
  world.behave('a', { headers: SSE, body: [word, word], breakAfter: 1 });
  const response = await world.chat(key, { model: 'ranked', stream: true });
  await t.rejects(response.text());
  await world.settled();
  const answer = await world.api('GET', '/api/admin/providers/', world.config.adminToken ?? '');
  const { providers } = (await answer.json()) as {
    providers: { name: string; targets: { model: string; state: string; last_error: string | null }[] }[];
  };
  const { targets } = providers.find(({ name }) => name === 'a') ?? { targets: [] };
  const target = targets.find(({ model }) => model === world.slugOf('ranked'));
  t.equal(target?.state, 'up');
  t.type(target?.last_error, 'string');
});
