import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { type Test, test } from 'tap';
import type { Config } from '../../../src/config/config.ts';
import { startGatewayInProcess, testCatalog, testConfig } from '../../helper/start/gateway-in-process.ts';

/** The timeout of a gateway that shall give up: long enough for an upstream that answers on a busy machine. */
const SHORT = { headersTimeoutMs: 2_000, idleTimeoutMs: 2_000, requestTimeoutMs: 4_000 };

type Act = string | Buffer | ((socket: Socket) => void);

/** An upstream that answers each request with raw bytes, which are set before each call. */
async function startOddUpstream(t: Test, patience: Partial<Config['limits']> = {}) {
  let act: Act = '';
  let calls = 0;
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      if (!chunk.toString('latin1').startsWith('POST ')) return;
      calls += 1;
      if (typeof act === 'function') act(socket);
      else socket.end(act);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const limits = { ...testConfig('', '').limits, ...patience };
  const { port } = server.address() as AddressInfo;
  const world = await startGatewayInProcess(t, {
    config: { catalog: testCatalog(`http://127.0.0.1:${port}`), limits },
  });
  const { accountId, key } = await world.account();
  return {
    /** The call, its result, and its one row in the ledger. */
    async call(answer: Act, body: Record<string, unknown> = {}) {
      act = answer;
      calls = 0;
      const response = await world.chat(key, body);
      const text = await response.text().catch(() => 'broken off');
      await world.settled();
      const [row] = await world.book.ledger({ accountId, limit: 1 });
      const { held } = await world.ledger.ledger.account(accountId);
      return { status: response.status, headers: response.headers, text, calls, row, held };
    },
    async lives() {
      const healthy = await this.call(ok());
      return healthy.status === 200 && healthy.held === 0;
    },
  };
}

const BODY = '{"id":"x","usage":{"prompt_tokens":1,"completion_tokens":1}}';
const LENGTH = `Content-Length: ${BODY.length}\r\n`;
const CHUNK = `${BODY.length.toString(16)}\r\n${BODY}\r\n0\r\n\r\n`;
const ok = (headers = LENGTH, body = BODY) =>
  `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n${headers}\r\n${body}`;
const status = (line: string) => `HTTP/1.1 ${line}\r\n${LENGTH}\r\n${BODY}`;
const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';
const HINTS = 'HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n';
/** Writes each part once the system has taken the one before; without Nagle's delay each is a packet. */
const inParts = (parts: readonly string[]) => (socket: Socket) => {
  socket.setNoDelay(true);
  const [first = '', ...rest] = parts;
  if (rest.length === 0) socket.end(first);
  else socket.write(first, () => setImmediate(() => inParts(rest)(socket)));
};
const dripping = (first: string, piece: string) => (socket: Socket) => {
  socket.write(first);
  const timer = setInterval(() => socket.write(piece), 50);
  socket.on('close', () => clearInterval(timer));
};

/** None of these may reach the client: another header, another answer, or a part that ends elsewhere. */
const BROKEN: Readonly<Record<string, Act>> = {
  'a line feed alone before another header': ok(`${LENGTH}X-A: a\nSet-Cookie: b\r\n`),
  'a CR within a value': ok(`${LENGTH}X-A: a\rSet-Cookie: b\r\n`),
  'a folded value': ok(`${LENGTH}X-A: a\r\n Set-Cookie: b\r\n`),
  'a NUL in a value': ok(`${LENGTH}X-A: a\0b\r\n`),
  'a control character in a value': ok(`${LENGTH}X-A: a\x01b\r\n`),
  'a space in a name': ok(`${LENGTH}X A: b\r\n`),
  'a name without letters': ok(`${LENGTH}: b\r\n`),
  'a space before the colon': ok(`${LENGTH}X-A : b\r\n`),
  'two lengths': ok(`${LENGTH}Content-Length: 5\r\n`),
  'length and chunks': ok(`${LENGTH}Transfer-Encoding: chunked\r\n`, CHUNK),
  'a negative length': ok('Content-Length: -5\r\n'),
  'a length in words': ok('Content-Length: abc\r\n'),
  'a body that is shorter than its length': ok('Content-Length: 500\r\n', '{"id":"x",'),
  'chunks without a size': ok('Transfer-Encoding: chunked\r\n', 'zz\r\n'),
  'a head of a megabyte': ok(`X-A: ${'a'.repeat(1_000_000)}\r\n${LENGTH}`),
  'a head of 65 KiB': ok(`X-A: ${'a'.repeat(65 * 1024)}\r\n${LENGTH}`),
  'a CR in the reason': status('200 O\rK'),
  'status 99': status('99 X'),
  'status 600': status('600 X'),
  'status 1000': status('1000 X'),
  'an upgrade': 'HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n',
  'another protocol': 'SSH-2.0-OpenSSH_9.6\r\n',
  'the end of the connection': '',
  'a redirect': 'HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1/\r\nContent-Length: 0\r\n\r\n',
};

const ENDLESS: Readonly<Record<string, Act>> = {
  nothing: () => {},
  'an interim answer after the other': dripping('', 'HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n'),
  'a header after the other': dripping('HTTP/1.1 200 OK\r\n', 'x-a: b\r\n'),
  'one header without an end': dripping('HTTP/1.1 200 OK\r\nX-A: ', 'a'),
  'a head and no body': (socket) => socket.write(ok('Content-Length: 5\r\n', '')),
  'a body without an end': dripping(ok('Transfer-Encoding: chunked\r\n', ''), '1\r\n \r\n'),
};

test('an answer that breaks HTTP gives 502, costs nothing unless some of it has come, and the process lives', async (t) => {
  const upstream = await startOddUpstream(t);
  for (const [name, act] of Object.entries(BROKEN)) {
    const { status, headers, calls, row, held, text } = await upstream.call(act);
    t.equal(status, 502, name);
    t.match(JSON.parse(text), { error: { code: 'upstream_unavailable' } }, name);
    const credits = name === 'a body that is shorter than its length' ? -1_000_000 : 0;
    t.match(row, { status: 502, credits }, name);
    t.same([calls, held, headers.get('set-cookie'), headers.get('x-a')], [1, 0, null, null], name);
  }
  t.ok(await upstream.lives());
});

test('a missing answer gives 504 on time, charged at an estimate', async (t) => {
  const upstream = await startOddUpstream(t, SHORT);
  for (const [name, act] of Object.entries(ENDLESS)) {
    const { status, calls, row, held } = await upstream.call(act);
    // White space before an answer passes at once, and the head with it.
    const shown = name === 'a body without an end' ? 200 : 504;
    t.equal(status, shown, name);
    t.match(row, { status: shown, outcome: 'timeout', credits: -1_000_000, estimated: true }, name);
    t.same([calls, held], [1, 0], name);
  }
  t.ok(await upstream.lives());
});

test('odd but lawful answers pass: interim ones, trailers, no length, HTTP/1.0, bytes behind the end', async (t) => {
  const upstream = await startOddUpstream(t);
  const lawful = {
    interim: HINTS.repeat(100) + ok(),
    'a 100 that nobody asked for': CONTINUE + ok(),
    'many of them, and other interim answers': CONTINUE.repeat(3) + HINTS + CONTINUE + ok(),
    'a 100 in three parts': inParts([
      CONTINUE.slice(0, 11),
      CONTINUE.slice(11, 24),
      CONTINUE.slice(24) + ok(),
    ]),
    trailers: ok('Transfer-Encoding: chunked\r\n', CHUNK.replace(/\r\n$/, 'X-Trailer: a\r\n\r\n')),
    'no length': ok(''),
    'HTTP/1.0': ok('').replace('1.1', '1.0'),
    'a second answer behind the first': ok() + ok(),
    'a head of 60 KiB': ok(
      `${LENGTH}X-A: ${'a'.repeat(60 * 1024 - ok(`${LENGTH}X-A: \r\n`, '').length)}\r\n`,
    ),
    'bytes that are not ASCII': Buffer.from(ok(`${LENGTH}X-A: \xe9\r\n`), 'latin1'),
  };
  for (const [name, act] of Object.entries(lawful)) {
    const { status, text, row, held } = await upstream.call(act);
    t.equal(status, 200, name);
    t.equal(text, BODY, name);
    t.match(row, { outcome: 'complete', credits: -1_000_000 }, name);
    t.equal(held, 0);
  }
});

test('a 100 that nobody asked for is skipped on a connection that is used again', async (t) => {
  const upstream = await startOddUpstream(t);
  const connections = new Set<Socket>();
  for (const answer of [ok(), CONTINUE + ok(), CONTINUE + ok()]) {
    const act = (socket: Socket) => {
      connections.add(socket);
      socket.write(answer);
    };
    const { status, text } = await upstream.call(act);
    t.same([status, text], [200, BODY]);
  }
  t.equal(connections.size, 1);
  for (const socket of connections) socket.destroy();
});

test('a body that begins like a 100 is left alone', async (t) => {
  const upstream = await startOddUpstream(t);
  const head = `HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: ${CONTINUE.length}\r\n\r\n`;
  const { text } = await upstream.call(inParts([head, CONTINUE]));
  t.equal(text, CONTINUE);
});

test('an upstream’s headers of charge, request id, cookies and CORS do not reach the client', async (t) => {
  const upstream = await startOddUpstream(t);
  const spoofed = [
    'x-tollgate-charge: 0',
    'x-request-id: theirs',
    'set-cookie: a=b',
    'access-control-allow-origin: https://evil.test',
    'location: https://evil.test',
    'server: secret/1',
    'connection: x-hop, keep-alive',
    'x-hop: 1',
  ];
  const { headers } = await upstream.call(ok(`${LENGTH}${spoofed.join('\r\n')}\r\n`));
  t.equal(headers.get('x-tollgate-charge'), '1.000000');
  t.match(headers.get('x-request-id'), /^req_/);
  t.equal(headers.get('access-control-allow-origin'), '*');
  for (const name of ['set-cookie', 'location', 'server', 'x-hop']) t.equal(headers.get(name), null, name);
});

test('a stream that ends within a chunk is broken for the client too, and charged', async (t) => {
  const upstream = await startOddUpstream(t);
  const event = 'data: {"choices":[{"delta":{"content":"a"}}]}\n\n';
  const head = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n';
  for (const act of [
    `${head}Content-Length: 1000\r\n\r\n${event}`,
    `${head}Transfer-Encoding: chunked\r\n\r\n${event.length.toString(16)}\r\n${event}\r\n`,
    `${head}Transfer-Encoding: chunked\r\n\r\n${event.length.toString(16)}\r\n${event}\r\nzz\r\n`,
  ]) {
    const { status, text, row, held } = await upstream.call(act, { stream: true });
    t.same([status, text, held], [200, 'broken off', 0]);
    t.match(row, { outcome: 'upstream_broke', credits: -1_000_000, estimated: true });
  }
});

test('usage that is no usage is not believed: negative, fractional, infinite, inherited, or deep', async (t) => {
  const upstream = await startOddUpstream(t);
  const deep = `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`;
  for (const answer of [
    '{"text":"","usage":{"prompt_tokens":-1000,"completion_tokens":-5}}',
    '{"text":"","usage":{"prompt_tokens":1e308,"completion_tokens":1e400}}',
    '{"text":"","usage":{"prompt_tokens":1.5,"completion_tokens":"7"}}',
    '{"text":"","__proto__":{"usage":{"prompt_tokens":1000000,"completion_tokens":1}}}',
    '{"text":"","usage":null,"choices":[null]}',
    `{"text":"","usage":${deep}}`,
    `{"choices":[{"message":{"content":"a","tool_calls":${deep}}}]}`,
  ]) {
    const { status, text, row, held } = await upstream.call(ok('', answer), { model: 'tokens' });
    t.equal(status, 200);
    t.equal(text, answer, 'as it came');
    t.match(row, { outcome: 'complete', estimated: true }, answer.slice(0, 60));
    t.ok((row?.credits ?? 1) <= 0 && (row?.credits ?? 0) > -1_000_000_000);
    t.equal(held, 0);
  }
});

const STREAM = { model: 'tokens', stream: true, max_tokens: 1_000 };
const SAID = 'data: {"choices":[{"delta":{"content":"one"}}]}\n\n';
const REPORTED = 'data: {"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":10}}\n\n';
const DONE = 'data: [DONE]\n\n';

for (const [name, type] of [
  ['no type', ''],
  ['the type of text', 'Content-Type: text/plain; charset=utf-8\r\n'],
] as const) {
  const head = `HTTP/1.1 200 OK\r\n${type}Connection: close\r\n\r\n`;
  test(`a stream of ${name} is one all the same: charged by its usage, which is taken out`, async (t) => {
    const upstream = await startOddUpstream(t);
    const { status, text, row } = await upstream.call(`${head}${SAID}${REPORTED}${DONE}`, STREAM);
    t.equal(status, 200);
    t.equal(text, `${SAID}${DONE}`);
    t.match(row, { credits: -120_000, outcome: 'complete', estimated: false });
  });

  test(`a stream of ${name} is not held back until its end`, async (t) => {
    const upstream = await startOddUpstream(t, SHORT);
    const { status, row } = await upstream.call((socket) => socket.write(`${head}${SAID}`), STREAM);
    t.equal(status, 200, 'the head went out before the upstream fell silent');
    t.match(row, { outcome: 'timeout', estimated: true });
  });
}
