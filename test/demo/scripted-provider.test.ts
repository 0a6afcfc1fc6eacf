import { setImmediate } from 'node:timers/promises';
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

const HELLO = { model: 'demo-chat', messages: [{ role: 'user', content: 'Hello' }] };

/** The events of a stream, `[DONE]` left out. */
function eventsOf(text: string) {
  const data = text.split('\n\n').filter(Boolean);
  return data.slice(0, -1).map((event) => JSON.parse(event.replace('data: ', '')));
}

test('a behavior sets status, headers and body', async (t) => {
  const { url } = await start(t, {
    behave: () => ({ status: 429, headers: { 'retry-after': '7' }, body: { error: 'slow down' } }),
  });
  const response = await fetch(`${url}/anything`);
  t.equal(response.status, 429);
  t.equal(response.headers.get('retry-after'), '7');
  t.same(await response.json(), { error: 'slow down' });
});

test('a behavior sets text, number of chunks and usage', async (t) => {
  const { url } = await start(t, { behave: () => ({ text: 'abcdef', chunks: 3, usage: false }) });
  const body = { ...HELLO, stream: true, stream_options: { include_usage: true } };
  const events = eventsOf(await (await post(url, body)).text());
  const contents = events.flatMap(({ choices }) => choices[0].delta.content || []);
  t.same(contents, ['ab', 'cd', 'ef']);
  t.ok(events.every((event) => event.usage === null));
});

test('a request is recorded unchanged', async (t) => {
  const provider = await start(t, { record: true });
  await post(provider.url, HELLO);
  const request = await provider.request(0);
  t.same(provider.requests, [request]);
  t.match(request, { method: 'POST', url: '/v1/chat/completions', headers: { 'content-type': /^text/ } });
  t.ok(request.rawHeaders.includes('content-type'));
  t.same(JSON.parse(request.body.toString()), HELLO);
  t.equal(await request.ended, 'answered');
});

test('nothing is recorded by default, so that a demo can run indefinitely', async (t) => {
  const provider = await start(t);
  await post(provider.url, HELLO);
  t.same(provider.requests, []);
});

test('a break before the headers is a failed request', async (t) => {
  const { url } = await start(t, { behave: () => ({ breakAfter: 'nothing' }) });
  await t.rejects(post(url, HELLO));
});

test('a break after two pieces delivers those two', async (t) => {
  const { url } = await start(t, { behave: () => ({ body: ['one ', 'two ', 'three'], breakAfter: 2 }) });
  const response = await fetch(url);
  let got = '';
  const read = (async () => {
    for await (const part of response.body ?? []) got += Buffer.from(part).toString();
  })();
  await t.rejects(read);
  t.equal(got, 'one two ');
});

test('a slow reader gets all of a long answer, without a pile of listeners', async (t) => {
  const warnings: Error[] = [];
  const note = (warning: Error) => warnings.push(warning);
  process.on('warning', note);
  t.teardown(() => process.off('warning', note));
  const { url } = await start(t, { behave: () => ({ body: Array(200).fill('x'.repeat(100_000)) }) });
  t.equal((await (await fetch(url)).text()).length, 20_000_000);
  await setImmediate();
  t.same(warnings, []);
});

test('a stall sends nothing more, and sees the client leave', async (t) => {
  const provider = await start(t, { behave: () => ({ body: ['one ', 'two'], stallAfter: 1 }) });
  const leave = new AbortController();
  const response = await fetch(provider.url, { signal: leave.signal });
  const first = await response.body?.getReader().read();
  t.equal(Buffer.from(first?.value ?? []).toString(), 'one ');
  leave.abort();
  t.equal(await (await provider.request(0)).ended, 'broken');
});

test('a stall before the headers sees the client leave', async (t) => {
  const provider = await start(t, { behave: () => ({ stallAfter: 'nothing' }) });
  const leave = new AbortController();
  const answer = post(provider.url, HELLO, leave.signal);
  const request = await provider.request(0);
  leave.abort();
  await t.rejects(answer);
  t.equal(await request.ended, 'broken');
});

test('a behavior that throws breaks its request only', async (t) => {
  let first = true;
  const { url } = await start(t, {
    behave: () => {
      if (!first) return undefined;
      first = false;
      throw new Error('a fault in a test');
    },
  });
  await t.rejects(post(url, HELLO));
  t.equal((await post(url, HELLO)).status, 200);
});

test('closing ends a stalled connection, and can be repeated', async (t) => {
  const provider = await startScriptedProvider({ behave: () => ({ stallAfter: 0 }) });
  const response = await fetch(provider.url);
  await provider.close();
  await provider.close();
  await t.rejects(response.text());
});
