import { type Test, test } from 'tap';
import type { Behavior } from '../../helper/stand-ins/scripted-provider.ts';
import { silentWav } from '../../helper/start/media-gateway.ts';
import { lastCharge, startTargetsGateway, type TargetsGateway } from '../../helper/start/targets-gateway.ts';

const SSE = { 'content-type': 'text/event-stream' };
const ROLE = 'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}\n\n';
const WORD = 'data: {"choices":[{"index":0,"delta":{"content":"hi"}}]}\n\n';
const FAILED = 'data: {"error":{"message":"the engine stopped","code":500}}\n\n';
const REPORT = 'data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4}}\n\n';
const DONE = 'data: [DONE]\n\n';
const STREAM = { model: 'ranked', stream: true };

function events(...body: string[]): Behavior {
  return { headers: SSE, body };
}

async function started(t: Test, limits?: Parameters<typeof startTargetsGateway>[1]) {
  const world = await startTargetsGateway(t, limits);
  const { key, accountId } = await world.account();
  return { ...world, key, accountId, charge: () => lastCharge(world, accountId) };
}

/** Names of the providers that were asked, in any order. */
function askedPlaces({ asked }: Pick<TargetsGateway, 'asked'>): string[] {
  return (['a', 'b', 'c'] as const).flatMap((place) => asked(place));
}

for (const status of [429, 500, 502, 503, 504, 520, 526, 529, 530, 401, 403]) {
  test(`a target that answers ${status} hands over to the next, which is charged`, async (t) => {
    const world = await started(t);
    world.behave('a', { status, body: { error: { message: 'not now' } } });
    const response = await world.chat(world.key, { model: 'ranked' });
    t.equal(response.status, 200);
    t.equal(response.headers.get('x-tollgate-charge'), '2.000000');
    t.same(askedPlaces(world), ['ranked-a', 'ranked-b'], 'each by its own name of the model');
    const entry = await world.charge();
    t.match(entry, { credits: -2_000_000, upstream: 'b', status: 200, outcome: 'complete' });
    t.match(entry.attempts, [
      { target: 'a', status },
      { target: 'b', status: 200 },
    ]);
    t.equal(entry.attempts?.length, 2);
  });
}

test('a target that cannot be connected to hands over', async (t) => {
  const world = await started(t);
  await world.providers.a.close();
  t.equal((await world.chat(world.key, { model: 'ranked' })).status, 200);
  t.match((await world.charge()).attempts, [
    { target: 'a', status: null },
    { target: 'b', status: 200 },
  ]);
});

test('an invalid request does not go to another target', async (t) => {
  const world = await started(t);
  world.behave('a', { status: 400, body: { error: { message: 'no such field' } } });
  t.equal((await world.chat(world.key, { model: 'ranked' })).status, 400);
  t.same(askedPlaces(world), ['ranked-a']);
  const { attempts, upstream } = await world.charge();
  t.equal(upstream, 'a');
  t.equal(attempts, undefined, 'the entry says it all');
});

test('a connection that broke after the request was sent is not repeated, unless the operator says so', async (t) => {
  const careful = await started(t);
  careful.behave('a', { breakAfter: 'nothing' });
  t.equal((await careful.chat(careful.key, { model: 'ranked' })).status, 502);
  t.same(askedPlaces(careful), ['ranked-a']);
  t.match((await careful.charge()).attempts, [{ target: 'a', status: null }]);
  const bold = await started(t, { retryUnsure: true });
  bold.behave('a', { breakAfter: 'nothing' });
  t.equal((await bold.chat(bold.key, { model: 'ranked' })).status, 200);
  t.same(askedPlaces(bold), ['ranked-a', 'ranked-b']);
  bold.behave('a', { body: ['{"choices":[', '1'], breakAfter: 1 });
  t.equal((await bold.chat(bold.key, { model: 'ranked' })).status, 200, 'JSON of which nothing was shown');
});

test('with every target failed the answer is the last error that a provider gave', async (t) => {
  const world = await started(t);
  world.behave('a', { status: 503, body: { error: { message: 'first' } } });
  world.behave('b', { status: 429, body: { error: { message: 'second' } } });
  await world.providers.c.close();
  const response = await world.chat(world.key, { model: 'ranked' });
  t.equal(response.status, 429);
  t.same(await response.json(), { error: { message: 'second' } });
  const entry = await world.charge();
  t.match(entry, { credits: 0, upstream: 'b', status: 429, outcome: 'upstream_error' });
  t.match(entry.attempts, [
    { target: 'a', status: 503 },
    { target: 'b', status: 429 },
    { target: 'c', status: null },
  ]);
});

test('a failure with status 200 is the answer if no target after it can be reached', async (t) => {
  const world = await started(t);
  const failure = { error: { message: 'overloaded' } };
  world.behave('a', { body: failure });
  await Promise.all([world.providers.b.close(), world.providers.c.close()]);
  const response = await world.chat(world.key, { model: 'ranked' });
  t.equal(response.status, 502);
  t.same(await response.json(), failure);
  t.match(await world.charge(), { credits: 0, upstream: 'a', status: 502, outcome: 'upstream_error' });
});

test('a call with no target left gets 502', async (t) => {
  const world = await started(t);
  await Promise.all(Object.values(world.providers).map((provider) => provider.close()));
  const response = await world.chat(world.key, { model: 'ranked' });
  t.equal(response.status, 502);
  t.match(await response.json(), { error: { code: 'upstream_unavailable' } });
  t.equal((await world.charge()).credits, 0);
});

test('a refused credential of the last target gives 502 upstream_auth_failed', async (t) => {
  const world = await started(t);
  for (const place of ['a', 'b', 'c'] as const)
    world.behave(place, { status: 401, body: { error: { message: 'who?' } } });
  const response = await world.chat(world.key, { model: 'ranked' });
  t.equal(response.status, 502);
  t.match(await response.json(), { error: { code: 'upstream_auth_failed' } });
});

test('at most limits.attempts targets are tried', async (t) => {
  const world = await started(t, { attempts: 2 });
  for (const place of ['a', 'b'] as const) world.behave(place, { status: 503, body: {} });
  t.equal((await world.chat(world.key, { model: 'ranked' })).status, 503);
  t.same(askedPlaces(world), ['ranked-a', 'ranked-b']);
});

test('a stream that fails before its content goes on elsewhere, and shows nothing of it', async (t) => {
  const world = await started(t);
  world.behave('a', events(ROLE, FAILED, DONE));
  world.behave('b', events(ROLE, WORD, REPORT, DONE));
  const response = await world.chat(world.key, STREAM);
  t.equal(response.status, 200);
  t.equal(await response.text(), ROLE + WORD + DONE);
  const entry = await world.charge();
  t.match(entry, { upstream: 'b', credits: -2_000_000, usage: { input: 3, output: 4 } });
  t.match(entry.attempts, [
    { target: 'a', status: 200 },
    { target: 'b', status: 200 },
  ]);
});

test('a stream that fails after its content is the answer', async (t) => {
  const world = await started(t);
  world.behave('a', events(ROLE, WORD, FAILED, DONE));
  t.equal(await (await world.chat(world.key, STREAM)).text(), ROLE + WORD + FAILED + DONE);
  t.same(askedPlaces(world), ['ranked-a']);
  t.match(await world.charge(), { upstream: 'a', outcome: 'upstream_error' });
});

test('comments pass immediately, and another target may still answer', async (t) => {
  const world = await started(t);
  const held = Promise.withResolvers<void>();
  world.behave('a', {
    headers: SSE,
    body: [': working\n\n', ROLE, FAILED],
    waitAfter: { pieces: 1, until: held.promise },
  });
  world.behave('b', events(ROLE, WORD, REPORT, DONE));
  const response = await world.chat(world.key, STREAM);
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const first = await reader.read();
  t.equal(Buffer.from(first.value ?? []).toString(), ': working\n\n', 'before the answer has begun');
  held.resolve();
  let rest = '';
  for (let part = await reader.read(); !part.done; part = await reader.read())
    rest += Buffer.from(part.value);
  t.equal(rest, ROLE + WORD + DONE);
  t.match(await world.charge(), { upstream: 'b', outcome: 'complete' });
});

test('a stream that fails everywhere gives 502 with the message of the last target', async (t) => {
  const world = await started(t);
  for (const place of ['a', 'b', 'c'] as const) world.behave(place, events(ROLE, FAILED, DONE));
  const response = await world.chat(world.key, STREAM);
  t.equal(response.status, 502);
  t.match(await response.json(), { error: { code: 'upstream_unavailable', message: 'the engine stopped' } });
  t.match(await world.charge(), { credits: 0, status: 502, outcome: 'upstream_error' });
});

test('a stream of which a comment was shown, and that fails everywhere, ends with an error event', async (t) => {
  const world = await started(t);
  for (const place of ['a', 'b', 'c'] as const)
    world.behave(place, events(': working\n\n', ROLE, FAILED, DONE));
  const response = await world.chat(world.key, STREAM);
  t.equal(response.status, 200);
  const text = await response.text();
  t.ok(
    text.startsWith(': working\n\n: working\n\n: working\n\ndata: {"error":{"message":"the engine stopped"'),
    text,
  );
  t.match(await world.charge(), { credits: 0, outcome: 'upstream_error' });
});

test('a stream that breaks off before its content is charged by an estimate, and is not repeated', async (t) => {
  const world = await started(t);
  world.behave('a', { headers: SSE, body: [ROLE, WORD], breakAfter: 1 });
  const response = await world.chat(world.key, STREAM);
  t.equal(response.status, 502);
  t.same(askedPlaces(world), ['ranked-a']);
  t.match(await world.charge(), { upstream: 'a', outcome: 'upstream_broke', estimated: true });
});

const ANTHROPIC_START =
  'event: message_start\ndata: {"type":"message_start","message":{"id":"msg_1","usage":{"input_tokens":9,"output_tokens":1}}}\n\n';
const ANTHROPIC_PING = 'event: ping\ndata: {"type":"ping"}\n\n';
const OVERLOADED =
  'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n';

test("Anthropic's overloaded stream goes on elsewhere; its usage is in attempts and not charged", async (t) => {
  const world = await started(t);
  world.behave('a', events(ANTHROPIC_START, ANTHROPIC_PING, OVERLOADED));
  const response = await world.api('POST', '/v1/messages', world.key, {
    model: 'claude-ranked',
    max_tokens: 10,
    stream: true,
    messages: [{ role: 'user', content: 'Hello' }],
  });
  t.equal(response.status, 200);
  const text = await response.text();
  t.ok(text.startsWith(ANTHROPIC_PING), 'the ping passed at once');
  t.notMatch(text, 'Overloaded');
  t.match(text, /content_block_delta/);
  const entry = await world.charge();
  t.match(entry, { upstream: 'b', credits: -2_000_000 });
  t.match(entry.attempts?.[0], { target: 'a', usage: { input: 9 } });
});

test('a call whose client left is not handed over', async (t) => {
  const world = await started(t, { readOnMs: 30_000 });
  const held = Promise.withResolvers<void>();
  world.behave('a', { status: 503, body: {}, waitAfter: { pieces: 'nothing', until: held.promise } });
  const gone = new AbortController();
  const call = fetch(`${world.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${world.key}` },
    body: JSON.stringify({ model: 'ranked', messages: [] }),
    signal: gone.signal,
  });
  await world.providers.a.request(0);
  gone.abort();
  await t.rejects(call);
  held.resolve();
  t.match(await world.charge(), { status: 499, outcome: 'client_left', credits: 0 });
  t.same(askedPlaces(world), ['ranked-a']);
});

test('the hold is that of the dearest target', async (t) => {
  const world = await started(t);
  const poor = await world.account({ credits: 2.5 });
  const response = await world.chat(poor.key, { model: 'ranked' });
  t.equal(response.status, 402, 'the third target costs 3');
  t.match(await response.json(), { error: { metadata: { hold: '3.000000' } } });
});

test('a job goes on only where nothing was sent', async (t) => {
  const world = await started(t);
  const film = () => world.api('POST', '/v1/videos', world.key, { model: 'film', prompt: 'a lake' });
  world.behave('a', { status: 503, body: {} });
  t.equal((await film()).status, 503);
  t.same(world.asked('b'), []);
  await world.providers.a.close();
  t.ok((await film()).ok);
  t.same(world.asked('b'), ['film-b']);
});

for (const seconds of [1, 200])
  test(`an uploaded form of ${seconds} s goes on with the other name of its model`, async (t) => {
    const world = await started(t);
    world.behave('a', { status: 503, body: {} });
    const form = new FormData();
    form.set('model', 'heard');
    form.set('file', new Blob([silentWav(seconds)]), 'a.wav');
    form.set('language', 'en');
    const response = await fetch(`${world.url}/v1/audio/transcriptions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${world.key}` },
      body: form,
    });
    t.equal(response.status, 200);
    t.same(askedPlaces(world), ['heard-a', 'heard-b']);
    for (const place of ['a', 'b'] as const) {
      const [request] = world.providers[place].requests;
      if (!request) return t.fail(place);
      const headers = { 'content-type': String(request.headers['content-type']) };
      const received = await new Response(new Uint8Array(request.body), { headers }).formData();
      t.same([...received.keys()], ['model', 'file', 'language']);
      t.equal(received.get('model'), `heard-${place}`);
      t.ok(silentWav(seconds).equals(Buffer.from(await (received.get('file') as File).arrayBuffer())));
    }
  });
