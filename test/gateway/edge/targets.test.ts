import { test } from 'tap';
import { sendRaw } from '../../helper/clients/raw-http.ts';
import {
  BODY,
  LENGTH,
  POST,
  type Row,
  refuseRows,
  startEdgeGateway,
} from '../../helper/start/edge-gateway.ts';

const at = (target: string, method = 'POST'): Row[1] => {
  return (head) => `${method} ${target} HTTP/1.1\r\n${head}${LENGTH}\r\n${BODY}`;
};
const unknown = (target: string, method?: string): Row => {
  return [`${method ?? ''} ${target}`.trim(), at(target, method), 404, 'unknown_endpoint'];
};
const bad = (target: string, method?: string): Row => [
  `${method ?? ''} ${target}`.trim(),
  at(target, method),
  400,
];

/** Spellings that some server would read as a metered path, or as a way out of one. */
const PATHS: Row[] = [
  ...[
    '//v1/chat/completions',
    '/v1//chat/completions',
    '/v1/chat/completions//',
    '/v1/./chat/completions',
    '/v1/../v1/chat/completions',
    '/v1/%2e%2e/v1/chat/completions',
    '/v1/chat/completions/../files',
    '/v1/chat%2fcompletions',
    '/v1/chat%5ccompletions',
    '/v1\\chat\\completions',
    '/V1/chat/completions',
    '/v1/chat/completions;a=b',
    '/v1;x/chat/completions',
    '/v1/chat/completions%00',
    '/v1/chat/completions%20',
    '/v1/chat/completions%3Fa',
    '/v1/chat/completions/x',
    '/v1/files',
    '/v1/__proto__',
    '/__proto__',
    '/constructor',
    '/v1/models/__proto__/x',
    `/${'a'.repeat(10_000)}`,
  ].map((target) => unknown(target)),
  ...[
    '/%zz',
    '/%ff',
    '/v1/models/%ff',
    'v1/chat/completions',
    '/v1/chat/completions#x',
    '/v1/chat/completions?a#b',
  ].map((target) => bad(target)),
  ['a space in the target', at('/v1/chat completions'), 400],
  ['a control character in the query', at('/v1/chat/completions?a=\x01'), 400],
];

const NEITHER: Row[] = [
  'ftp://evil.test/',
  'evil.test:80',
  'http:///v1/chat/completions',
  'http://user@evil.test/v1/chat/completions',
  'http://evil.test/v1/chat/completions#x',
].flatMap((target) => [bad(target), bad(target, 'GET')]);

const METHODS: Row[] = [
  ...['GET', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND', 'QUERY'].map((method) =>
    unknown('/v1/chat/completions', method),
  ),
  ...['BREW', 'post'].map((method) => bad('/v1/chat/completions', method)),
  ['CONNECT', () => 'CONNECT evil.test:443 HTTP/1.1\r\nHost: evil.test:443\r\n\r\n', 400],
  [
    'WebSocket',
    (head) =>
      `GET /v1/realtime HTTP/1.1\r\n${head}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n` +
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
    404,
    'unknown_endpoint',
  ],
];

const withHost = (hosts: string): Row[1] => {
  return (head) => `${POST}${head.replace(/Host: .*\r\n/, hosts)}${LENGTH}\r\n${BODY}`;
};
const HOSTS: Row[] = [
  ['no Host', withHost(''), 400],
  ['two Hosts', withHost('Host: a\r\nHost: b\r\n'), 400],
  ['the same Host twice', withHost('Host: a\r\nHost: a\r\n'), 400],
  ['a Host with a user', withHost('Host: a@b\r\n'), 400],
  ['a Host with a path', withHost('Host: a/../b\r\n'), 400],
  ['a Host with a space', withHost('Host: a b\r\n'), 400],
];

const VERSIONS: Row[] = [
  ['HTTP/0.9', () => 'GET /healthz\r\n\r\n', 400],
  ['HTTP/1.2', () => 'GET /healthz HTTP/1.2\r\nHost: a\r\n\r\n', 400],
  ['HTTP/2.0', () => 'GET /healthz HTTP/2.0\r\nHost: a\r\n\r\n', 400],
  ['the preface of HTTP/2', () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
  ['the hello of TLS', () => Buffer.from('16030100c8010000c40303', 'hex'), 400],
  ['another protocol', () => 'SSH-2.0-OpenSSH_9.6\r\n', 400],
];

test('a path that is no endpoint in its one spelling is refused', async (t) => {
  await refuseRows(t, await startEdgeGateway(t), PATHS);
});

test('a target that is neither a path nor an HTTP URL is refused', async (t) => {
  await refuseRows(t, await startEdgeGateway(t), NEITHER);
});

test('of a whole URL as the target, only the path counts', async (t) => {
  const gateway = await startEdgeGateway(t);
  const { url, head, provider } = gateway;
  for (const host of ['http://a', 'HTTPS://evil.test:8443'])
    t.equal((await sendRaw(url, at(`${host}/v1/chat/completions?a=b`)(head)))?.status, 200, host);
  const models = await sendRaw(url, `GET http://a/v1/models HTTP/1.1\r\n${head}\r\n`);
  t.equal(models?.status, 200);
  t.same(
    provider.requests.map((request) => request.url),
    Array(2).fill('/v1/chat/completions'),
  );
  await refuseRows(t, gateway, [
    unknown('http://a'),
    unknown('http://a?b'),
    unknown('http://a//v1/chat/completions'),
  ]);
});

test('methods that an endpoint does not have are refused', async (t) => {
  await refuseRows(t, await startEdgeGateway(t), METHODS);
});

test('a request without one valid Host is refused', async (t) => {
  await refuseRows(t, await startEdgeGateway(t), HOSTS);
});

test('anything but HTTP/1.0 and HTTP/1.1 is refused', async (t) => {
  await refuseRows(t, await startEdgeGateway(t), VERSIONS);
});

test('the path of the endpoint goes upstream, not the client’s spelling', async (t) => {
  const { url, head, provider } = await startEdgeGateway(t);
  for (const target of [
    '/v1/%63hat/completions',
    '/v1/chat/completions/',
    '/v1/chat/completions?../../files',
  ]) {
    t.equal((await sendRaw(url, at(target)(head)))?.status, 200, target);
  }
  t.same(
    provider.requests.map((request) => request.url),
    Array(3).fill('/v1/chat/completions'),
  );
});

test('HTTP/1.0 without a Host is answered, and the connection closed', async (t) => {
  const { url, owner } = await startEdgeGateway(t);
  const request = `${POST.replace('1.1', '1.0')}Authorization: Bearer ${owner.key}\r\n${LENGTH}\r\n${BODY}`;
  const answer = await sendRaw(url, request);
  t.equal(answer?.status, 200);
  t.equal(answer?.headers.get('connection'), 'close');
});

test('HEAD and OPTIONS are answered without a body, and reach no upstream', async (t) => {
  const { url, head, provider } = await startEdgeGateway(t);
  t.equal((await sendRaw(url, `HEAD /v1/chat/completions HTTP/1.1\r\n${head}\r\n`))?.status, 404);
  t.equal((await sendRaw(url, `HEAD /v1/models HTTP/1.1\r\n${head}\r\n`))?.status, 200);
  t.equal((await sendRaw(url, 'OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n'))?.status, 204);
  t.equal((await sendRaw(url, at('/v1/chat/completions', 'OPTIONS')(head)))?.status, 204);
  t.equal(provider.requests.length, 0);
});

test('the errors of /v1/messages have the shape of Anthropic however the path is spelled', async (t) => {
  const { url } = await startEdgeGateway(t);
  for (const path of ['/v1/messages', '/v1/%6dessages']) {
    const response = await fetch(`${url}${path}`, { method: 'POST', body: BODY });
    t.match(await response.json(), { type: 'error', error: { type: 'authentication_error' } }, path);
  }
});

test('a path that is not there is refused before its body is read', async (t) => {
  const { url, head } = await startEdgeGateway(t);
  const upload = `POST /v1/files HTTP/1.1\r\n${head}Content-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{`;
  t.equal((await sendRaw(url, upload))?.status, 404);
});

test('a stranger held the event loop with a path of 15 KB, whose endpoint was guessed by slow patterns', async (t) => {
  const { url } = await startEdgeGateway(t);
  const guess = async (path: string) => {
    const answer = await sendRaw(url, `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n`);
    t.equal(answer?.status, 404);
    return /but \/v1\/messages/.test(answer?.body ?? '');
  };
  t.ok(await guess('/openai/v1/messages'));
  t.notOk(await guess(`/v${'1'.repeat(15_000)}/messages`));
  t.notOk(await guess(`/v1/messages${'/'.repeat(15_000)}`));
});
