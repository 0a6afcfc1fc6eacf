import OpenAI from 'openai';
import { type Test, test } from 'tap';
import { type ScriptOptions, startScriptedProvider } from '../helper/stand-ins/scripted-provider.ts';

async function start(t: Test, options?: ScriptOptions) {
  const provider = await startScriptedProvider(options);
  t.teardown(() => provider.close());
  return provider;
}

function post(url: string, body: unknown, signal?: AbortSignal) {
  return fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    body: JSON.stringify(body),
    ...(signal ? { signal } : {}),
  });
}

async function complete(url: string, body: unknown) {
  return (await (await post(url, body)).json()) as OpenAI.ChatCompletion;
}

const HELLO = { model: 'demo-chat', messages: [{ role: 'user', content: 'Hello' }] };

/** The events of a stream, `[DONE]` left out. */
function eventsOf(text: string) {
  const data = text.split('\n\n').filter(Boolean);
  return data.slice(0, -1).map((event) => JSON.parse(event.replace('data: ', '')));
}

test('an answer and its usage follow from the request', async (t) => {
  const { url } = await start(t);
  const first = await (await post(url, HELLO)).text();
  t.equal(await (await post(url, HELLO)).text(), first);
  const answer = JSON.parse(first);
  const said = answer.choices[0].message.content;
  t.match(said, /You said: Hello$/);
  t.match(answer, { object: 'chat.completion', model: 'demo-chat', choices: [{ finish_reason: 'stop' }] });
  t.match(answer.usage, {
    prompt_tokens: 2,
    completion_tokens: Math.ceil(said.length / 4),
    total_tokens: 2 + Math.ceil(said.length / 4),
  });
});

test('max_tokens and max_completion_tokens cut the answer, between characters', async (t) => {
  const { url } = await start(t, { behave: () => ({ text: 'ééééé' }) });
  const short = await complete(url, { ...HELLO, max_tokens: 1 });
  t.match(short.choices[0], { message: { content: 'éé' }, finish_reason: 'length' });
  t.equal(short.usage?.completion_tokens, 1);
  const exact = await complete(url, { ...HELLO, max_completion_tokens: 3 });
  t.match(exact.choices[0], { message: { content: 'ééééé' }, finish_reason: 'stop' });
});

test('n choices cost n times the tokens', async (t) => {
  const { url } = await start(t, { behave: () => ({ text: 'four' }) });
  const answer = await complete(url, { ...HELLO, n: 3 });
  t.equal(answer.choices.length, 3);
  t.equal(answer.usage?.completion_tokens, 3);
});

test('a demanded tool is called', async (t) => {
  const { url } = await start(t);
  const tools = [{ type: 'function', function: { name: 'look_up', parameters: {} } }];
  const answer = await complete(url, { ...HELLO, tools, tool_choice: 'required' });
  t.match(answer.choices[0], {
    message: { content: null, tool_calls: [{ function: { name: 'look_up', arguments: '{}' } }] },
    finish_reason: 'tool_calls',
  });
});

test('a stream without include_usage has no usage anywhere', async (t) => {
  const { url } = await start(t);
  const response = await post(url, { ...HELLO, stream: true });
  t.match(response.headers.get('content-type'), /^text\/event-stream/);
  const events = eventsOf(await response.text());
  t.ok(events.length > 3);
  t.notOk(events.some((event) => 'usage' in event));
  t.ok(events.every((event) => event.choices.length === 1));
});

test('a stream with include_usage has usage null, then usage in a last chunk without choices', async (t) => {
  const { url } = await start(t);
  const body = { ...HELLO, stream: true, stream_options: { include_usage: true } };
  const text = await (await post(url, body)).text();
  t.ok(text.endsWith('data: [DONE]\n\n'));
  const events = eventsOf(text);
  const last = events.pop();
  t.ok(events.every((event) => event.usage === null));
  t.same(last.choices, []);
  t.equal(last.usage.prompt_tokens, 2);
});

test('stream and plain answer say and cost the same', async (t) => {
  const { url } = await start(t);
  const plain = await complete(url, HELLO);
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'any' });
  const stream = await client.chat.completions.create({
    model: 'demo-chat',
    messages: [{ role: 'user', content: 'Hello' }],
    stream: true,
    stream_options: { include_usage: true },
  });
  let said = '';
  let usage: unknown;
  for await (const chunk of stream) {
    said += chunk.choices[0]?.delta.content ?? '';
    usage = chunk.usage ?? usage;
  }
  t.equal(said, plain.choices[0]?.message.content);
  t.same(usage, plain.usage);
});

test('a body that is no chat request is refused, as is an unknown path', async (t) => {
  const { url } = await start(t);
  t.equal((await post(url, [])).status, 400);
  t.equal((await fetch(`${url}/v1/nothing`, { method: 'POST' })).status, 404);
  t.match(await (await fetch(`${url}/v1/models`)).json(), { data: [{ id: 'demo-chat' }] });
});
