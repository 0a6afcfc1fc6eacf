import { request as httpRequest, type IncomingMessage } from 'node:http';
import OpenAI from 'openai';
import { test } from 'tap';
import { tokensIn } from '../../src/metering/text-tokens.ts';
import { mp3Frames, startMediaGateway } from '../helper/start/media-gateway.ts';

const PATH = '/v1/audio/speech';
const SAY = { model: 'voice', voice: 'alloy' };

test('the official SDK speaks; characters are Unicode code points', async (t) => {
  const world = await startMediaGateway(t);
  const account = await world.account({ credits: 10 });
  const client = new OpenAI({ apiKey: account.key, baseURL: `${world.url}/v1` });
  const input = 'Grüße 😀 e\u0301';
  const response = await client.audio.speech.create({ ...SAY, input });
  t.equal(Buffer.from(await response.arrayBuffer()).toString('latin1', 0, 4), 'RIFF');
  t.equal(response.headers.get('content-type'), 'audio/wav');
  t.equal(response.headers.get('x-tollgate-charge'), '0.010000');
  t.match(await world.charged(account), {
    credits: -10_000,
    usage: { characters: 10, requests: 1 },
    estimated: false,
    category: 'tts',
    outcome: 'complete',
  });
  t.match(await world.held(account), { balance: 9_990_000, held: 0 });
});

test('the hold is the charge, exactly', async (t) => {
  const world = await startMediaGateway(t);
  const { key } = await world.account({ credits: 0.005 });
  const say = (input: string) => world.post(key, PATH, JSON.stringify({ ...SAY, input }));
  t.match(await (await say('123456')).json(), { error: { code: 'insufficient_credits' } });
  const response = await say('12345');
  t.equal(response.status, 200);
  await response.arrayBuffer();
});

test('speech comes before it is finished, and is settled before its end', async (t) => {
  const world = await startMediaGateway(t, () => ({
    headers: { 'content-type': 'audio/mpeg', 'content-length': 8 },
    body: ['abcd', 'efgh'],
    stallAfter: 1,
  }));
  const account = await world.account({ credits: 10 });
  const abort = new AbortController();
  const response = await fetch(`${world.url}${PATH}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${account.key}` },
    body: JSON.stringify({ ...SAY, input: 'Hello' }),
    signal: abort.signal,
  });
  t.equal(response.headers.get('content-length'), '8');
  const reader = response.body?.getReader();
  t.equal(
    Buffer.from((await reader?.read())?.value ?? []).toString(),
    'abcd',
    'half of it, while the rest is not there',
  );
  abort.abort();
  t.match(await world.charged(account), {
    credits: -5_000,
    usage: { characters: 5 },
    status: 499,
    outcome: 'client_left',
    estimated: false,
  });
  t.match(await world.held(account), { held: 0 });
  t.equal(await (await world.provider.request(0)).ended, 'broken', 'the upstream is cancelled');
});

test('an answer of known length comes whole', async (t) => {
  const world = await startMediaGateway(t, () => ({
    headers: { 'content-type': 'audio/mpeg', 'content-length': 8 },
    body: ['abcd', 'efgh'],
  }));
  const account = await world.account({ credits: 10 });
  t.equal(
    await (await world.post(account.key, PATH, JSON.stringify({ ...SAY, input: 'Hi' }))).text(),
    'abcdefgh',
  );
  t.match(await world.charged(account), { credits: -2_000, outcome: 'complete' });
});

test('speech whose client leaves before the first byte is charged for the request', async (t) => {
  const world = await startMediaGateway(t, () => ({ stallAfter: 0 }));
  const account = await world.account({ credits: 10 });
  const abort = new AbortController();
  const call = fetch(`${world.url}${PATH}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${account.key}` },
    body: JSON.stringify({ ...SAY, input: 'Hello' }),
    signal: abort.signal,
  });
  const received = await world.provider.request(0);
  abort.abort();
  await t.rejects(call);
  t.equal(await received.ended, 'broken');
  t.match(await world.charged(account), {
    credits: -5_000,
    estimated: true,
    outcome: 'client_left',
    status: 499,
  });
});

test('speech that breaks off is seen to be broken, and all of its text is charged', async (t) => {
  const world = await startMediaGateway(t, () => ({ breakAfter: 2 }));
  const account = await world.account({ credits: 10 });
  const response = await world.post(account.key, PATH, JSON.stringify({ ...SAY, input: 'x'.repeat(200) }));
  await t.rejects(response.arrayBuffer(), 'never a clean end');
  t.match(await world.charged(account), {
    credits: -200_000,
    outcome: 'upstream_broke',
    usage: { characters: 200 },
  });
});

test('speech that breaks before its first byte gives 502 at charge 0', async (t) => {
  const world = await startMediaGateway(t, () => ({ breakAfter: 0 }));
  const account = await world.account({ credits: 10 });
  const response = await world.post(account.key, PATH, JSON.stringify({ ...SAY, input: 'x' }));
  t.equal(response.status, 502);
  t.match(await world.charged(account), { credits: 0, outcome: 'upstream_broke' });
});

test("a provider's refusal to speak passes with its body, and costs nothing", async (t) => {
  const world = await startMediaGateway(t, () => ({
    status: 400,
    body: { error: { message: 'no such voice' } },
  }));
  const account = await world.account({ credits: 10 });
  const response = await world.post(account.key, PATH, JSON.stringify({ ...SAY, input: 'x' }));
  t.equal(response.status, 400);
  t.match(await response.json(), { error: { message: 'no such voice' } });
  t.match(await world.charged(account), { credits: 0, outcome: 'upstream_error' });
  t.match(await world.held(account), { held: 0 });
});

test('speech as events passes, by character or by the tokens that it reports', async (t) => {
  const world = await startMediaGateway(t, () => ({ usage: { input_tokens: 7, output_tokens: 30 } }));
  for (const [model, credits] of [
    ['voice', -5_000],
    ['talker', -67_000],
  ] as const) {
    const account = await world.account({ credits: 10 });
    const body = JSON.stringify({ ...SAY, model, input: 'Hello', stream_format: 'sse' });
    const text = await (await world.post(account.key, PATH, body)).text();
    t.match(text, /speech\.audio\.delta/);
    t.match(text, /"type":"speech\.audio\.done".*\n\n$/);
    t.match(await world.charged(account), { credits, usage: { characters: 5 }, estimated: false });
  }
});

test('sound that is priced by token is measured as it passes', async (t) => {
  // 130 frames are 3.4 seconds, at 1,250 tokens a minute.
  const world = await startMediaGateway(t, () => ({
    headers: { 'content-type': 'audio/mpeg' },
    body: [mp3Frames(100), mp3Frames(30)],
  }));
  const account = await world.account({ credits: 10 });
  const say = { ...SAY, model: 'talker', input: 'Hello', instructions: 'Pause after every word.' };
  const response = await world.post(account.key, PATH, JSON.stringify(say));
  t.equal(response.headers.get('x-tollgate-charge'), null, 'the length is known at the end only');
  await response.arrayBuffer();
  t.match(await world.charged(account), {
    estimated: true,
    outcome: 'complete',
    usage: { characters: 5, input: tokensIn('Pause after every word.\nHello'), outputAudio: 71 },
  });
});

test('sound costs at most its hold, and an aborted one at least the estimate of its text', async (t) => {
  const long = { headers: { 'content-type': 'audio/mpeg' }, body: mp3Frames(2_000) };
  const world = await startMediaGateway(t, ({ body }) =>
    String(body).includes('broken') ? { ...long, body: [mp3Frames(1), mp3Frames(1)], breakAfter: 1 } : long,
  );
  const account = await world.account({ credits: 10 });
  const say = (input: string) =>
    world.post(account.key, PATH, JSON.stringify({ ...SAY, model: 'talker', input }));
  await (await say('Hello')).arrayBuffer();
  t.match((await world.charged(account)).usage, { outputAudio: 500 }, 'of 1,089: the most that is held');
  await (await say(`broken ${'a'.repeat(93)}`)).arrayBuffer().catch(() => {});
  const { usage, outcome } = await world.charged(account);
  t.match([outcome, usage], ['upstream_broke', { outputAudio: 140 }]);
});

test('speech without input is refused', async (t) => {
  const world = await startMediaGateway(t);
  const { key } = await world.account();
  for (const body of [SAY, { ...SAY, input: 5 }, { ...SAY, input: ['a'] }]) {
    const response = await world.post(key, PATH, JSON.stringify(body));
    t.equal(response.status, 400);
    t.match(await response.json(), { error: { code: 'invalid_field', param: 'input' } });
  }
  const twice = await world.post(key, PATH, '{"model":"voice","input":"a","input":"bbb"}');
  t.match(await twice.json(), { error: { code: 'invalid_json', param: 'input' } });
  t.equal(world.provider.requests.length, 0);
});

test('a listener that is slow slows the speaker down', async (t) => {
  const piece = Buffer.alloc(60_000);
  const world = await startMediaGateway(t, () => ({
    headers: { 'content-type': 'audio/wav' },
    body: Array.from({ length: 1_000 }, () => piece),
  }));
  const { key } = await world.account();
  const response = await new Promise<IncomingMessage>((resolve) => {
    const request = httpRequest(
      `${world.url}${PATH}`,
      { method: 'POST', headers: { authorization: `Bearer ${key}` } },
      resolve,
    );
    request.end(JSON.stringify({ ...SAY, input: 'Hello' }));
  });
  const received = await world.provider.request(0);
  // Nobody reads, so the upstream cannot finish.
  const first = await Promise.race([
    received.ended,
    new Promise((resolve) => setTimeout(resolve, 1_000, 'held back')),
  ]);
  t.equal(first, 'held back');
  let bytes = 0;
  for await (const chunk of response) bytes += (chunk as Buffer).length;
  t.equal(bytes, 60_000_000);
});
