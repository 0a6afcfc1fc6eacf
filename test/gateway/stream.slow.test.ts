import { request as httpRequest } from 'node:http';
import { test } from 'tap';
import { keptBytes } from '../helper/check/kept-bytes.ts';
import { startGatewayInProcess } from '../helper/start/gateway-in-process.ts';

const STREAM = { model: 'tokens', stream: true, max_tokens: 1_000 };

test('a stream passes, is charged by its usage, and shows no trace of the usage that was not asked for', async (t) => {
  const { chat, account, book, settled } = await startGatewayInProcess(t, {
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
  const { chat, account } = await startGatewayInProcess(t, {
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
  const { chat, account, book, settled } = await startGatewayInProcess(t, {
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

test('a reader that is slow slows the upstream down', async (t) => {
  const piece = `data: {"choices":[{"delta":{"content":"${'x'.repeat(60_000)}"}}]}\n\n`;
  const { url, account, provider } = await startGatewayInProcess(t, {
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
  const before = keptBytes();
  const received = await provider.request(0);
  // Nobody reads, so the upstream cannot finish: 60 MB must not pile up in the gateway.
  const first = await Promise.race([
    received.ended,
    new Promise((resolve) => setTimeout(resolve, 1_000, 'held back')),
  ]);
  t.equal(first, 'held back');
  const grown = keptBytes() - before;
  t.ok(grown < 20_000_000, `${grown} bytes are kept`);
  let bytes = 0;
  for await (const chunk of response) bytes += (chunk as Buffer).length;
  t.equal(bytes, piece.length * 1_000 + 'data: [DONE]\n\n'.length);
});

for (const options of [
  '{"include_usage":true,"include_usage":false}',
  '{"include_usage":false,"include\\u005fusage":true}',
  '{"include_usage":true,"Include_Usage":false}',
]) {
  test(`stream_options that could be read in two ways are refused: ${options}`, async (t) => {
    const { url, account, provider } = await startGatewayInProcess(t);
    const { key } = await account();
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: `{"model":"tokens","messages":[],"stream":true,"stream_options":${options}}`,
    });
    t.equal(response.status, 400);
    t.match(await response.json(), { error: { code: 'invalid_json', param: 'stream_options' } });
    t.equal(provider.requests.length, 0);
  });
}
