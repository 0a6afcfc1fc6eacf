import { request as httpRequest } from 'node:http';
import { test } from 'tap';
import { startWorld } from '../helper/world.ts';

const STREAM = { model: 'tokens', stream: true, max_tokens: 1_000 };

test('a stream passes, is charged by its usage, and shows no trace of the usage that was not asked for', async (t) => {
  const { chat, account, book, settled } = await startWorld(t, {
    behave: () => ({ text: 'one two three', usage: { prompt_tokens: 100, completion_tokens: 10 } }),
  });
  const { key, accountId } = await account();
  const response = await chat(key, STREAM);
  t.match(response.headers.get('content-type'), /text\/event-stream/);
  const text = await response.text();
  t.notMatch(text, 'usage');
  t.ok(text.endsWith('data: [DONE]\n\n'));
  const words = [...text.matchAll(/^data: (\{.*\})$/gm)].map(
    ([, json]) => JSON.parse(json as string).choices[0]?.delta?.content ?? '',
  );
  t.equal(words.join(''), 'one two three');
  await settled();
  t.match((await book.ledger({ accountId, limit: 1 }))[0], {
    credits: -120_000,
    usage: { input: 100, output: 10 },
    outcome: 'complete',
  });
});

test('a client that asks for usage gets the stream byte for byte', async (t) => {
  const pieces = [
    'data: {"choices":[{"delta":{"content":"é"}}],"usage":null}\r\n\r\n',
    ': comment\n\n',
    'data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4}}\n\n',
    'data: [DONE]\n\n',
  ];
  const { chat, account } = await startWorld(t, {
    behave: () => ({ headers: { 'content-type': 'text/event-stream' }, body: pieces }),
  });
  const { key } = await account();
  const response = await chat(key, { ...STREAM, stream_options: { include_usage: true } });
  t.equal(await response.text(), pieces.join(''));
});

test('events cut anywhere, in the middle of a character too, come out whole', async (t) => {
  const whole = Buffer.from(
    'data: {"choices":[{"delta":{"content":"日本"}}],"usage":null}\n\ndata: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}\n\ndata: [DONE]\n\n',
  );
  const { chat, account, book, settled } = await startWorld(t, {
    behave: () => ({
      headers: { 'content-type': 'text/event-stream' },
      body: Array.from({ length: Math.ceil(whole.length / 7) }, (_, index) =>
        whole.subarray(index * 7, index * 7 + 7),
      ),
      intervalMs: 1,
    }),
  });
  const { key, accountId } = await account();
  const response = await chat(key, STREAM);
  t.equal(await response.text(), 'data: {"choices":[{"delta":{"content":"日本"}}]}\n\ndata: [DONE]\n\n');
  await settled();
  t.match((await book.ledger({ accountId, limit: 1 }))[0], { credits: -5_000, estimated: false });
});

test('a client that leaves mid-stream: the upstream is cancelled, and what was streamed is charged', async (t) => {
  const { url, account, provider, book, ledger } = await startWorld(t, {
    behave: () => ({ text: 'word '.repeat(500), chunks: 500, stallAfter: 50 }),
  });
  const { key, accountId } = await account();
  await new Promise<void>((resolve) => {
    const request = httpRequest(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    });
    request.on('response', (response) => {
      let events = 0;
      response.on('data', (chunk: Buffer) => {
        events += chunk.toString().split('\n\n').length - 1;
        if (events >= 45) request.destroy();
      });
      response.on('error', () => resolve());
    });
    request.end(JSON.stringify({ ...STREAM, messages: [{ role: 'user', content: 'Hi' }] }));
  });
  t.equal(await (await provider.request(0)).ended, 'broken');
  let entry = (await book.ledger({ accountId, limit: 1 }))[0];
  while (entry?.type !== 'charge') {
    await ledger.settled();
    entry = (await book.ledger({ accountId, limit: 1 }))[0];
  }
  t.match(entry, { outcome: 'client_left', status: 499, estimated: true });
  // About 48 words, 2,000 micro-credits a token, and a few tokens of input.
  t.ok(entry.credits <= -60_000 && entry.credits >= -140_000, `credits ${entry.credits}`);
  t.equal((await ledger.ledger.account(accountId)).held, 0);
});

test('a client that leaves before the first byte is not charged, and the upstream is cancelled', async (t) => {
  const { url, account, provider, book, ledger } = await startWorld(t, {
    behave: () => ({ stallAfter: 'nothing' }),
  });
  const { key, accountId } = await account();
  const abort = new AbortController();
  const call = fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({ ...STREAM, messages: [] }),
    signal: abort.signal,
  });
  const received = await provider.request(0);
  abort.abort();
  await t.rejects(call);
  t.equal(await received.ended, 'broken');
  let entry = (await book.ledger({ accountId, limit: 1 }))[0];
  while (entry?.type !== 'charge') {
    await ledger.settled();
    entry = (await book.ledger({ accountId, limit: 1 }))[0];
  }
  t.match(entry, { credits: 0, outcome: 'client_left', status: 499 });
});

test('an upstream that breaks off mid-stream: the client sees a broken stream, what came is charged', async (t) => {
  const { chat, account, book, settled } = await startWorld(t, {
    behave: () => ({ text: 'word '.repeat(100), chunks: 100, breakAfter: 40 }),
  });
  const { key, accountId } = await account();
  const response = await chat(key, STREAM);
  t.equal(response.status, 200);
  await t.rejects(response.text(), 'never a clean end');
  await settled();
  const [entry] = await book.ledger({ accountId, limit: 1 });
  t.match(entry, { outcome: 'upstream_broke', estimated: true, status: 200 });
  t.ok((entry?.credits ?? 0) < -50_000, `credits ${entry?.credits}`);
});

test('an upstream that stalls mid-stream is cut off at the idle timeout and charged', async (t) => {
  const { chat, account, book, settled } = await startWorld(t, {
    behave: () => ({ text: 'word '.repeat(100), chunks: 100, stallAfter: 10 }),
    config: {
      limits: {
        requestTimeoutMs: 60_000,
        headersTimeoutMs: 30_000,
        idleTimeoutMs: 500,
        imageTokens: 1,
        contextTokens: 1,
      },
    },
  });
  const { key, accountId } = await account();
  await t.rejects((await chat(key, STREAM)).text());
  await settled();
  t.match((await book.ledger({ accountId, limit: 1 }))[0], { outcome: 'timeout', estimated: true });
});

test('a reader that is slow slows the upstream down', async (t) => {
  const piece = `data: {"choices":[{"delta":{"content":"${'x'.repeat(60_000)}"}}]}\n\n`;
  const { url, account, provider } = await startWorld(t, {
    behave: () => ({
      headers: { 'content-type': 'text/event-stream' },
      body: [...Array.from({ length: 1_000 }, () => piece), 'data: [DONE]\n\n'],
    }),
  });
  const { key } = await account();
  const response = await new Promise<import('node:http').IncomingMessage>((resolve) => {
    const request = httpRequest(
      `${url}/v1/chat/completions`,
      { method: 'POST', headers: { authorization: `Bearer ${key}` } },
      resolve,
    );
    request.end(JSON.stringify({ ...STREAM, messages: [] }));
  });
  const before = process.memoryUsage().rss;
  const received = await provider.request(0);
  // Nobody reads: 60 MB must not gather in the gateway. The upstream cannot finish.
  const first = await Promise.race([
    received.ended,
    new Promise((resolve) => setTimeout(resolve, 1_000, 'held back')),
  ]);
  t.equal(first, 'held back');
  t.ok(process.memoryUsage().rss - before < 40_000_000);
  let bytes = 0;
  for await (const chunk of response) bytes += (chunk as Buffer).length;
  t.equal(bytes, piece.length * 1_000 + 'data: [DONE]\n\n'.length);
});
