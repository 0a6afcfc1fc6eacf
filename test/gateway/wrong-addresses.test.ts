import { test } from 'tap';
import { ENDPOINTS } from '../../src/gateway/endpoints.ts';
import { openRaw } from '../helper/clients/raw-http.ts';
import { ADMIN_TOKEN, startGatewayInProcess, startOwnGateway } from '../helper/start/gateway-in-process.ts';
import { startRedis } from '../helper/start/redis-process.ts';

const OPENAI = /, but (\S+)\. For OpenAI clients, set the base URL to .* followed by \/v1/;
const ANTHROPIC = /, but (\S+)\. For Anthropic clients, set the base URL to .* without \/v1/;

test('the 404 explains a base URL that ends in the wrong place, for each endpoint, in the shape of its clients', async (t) => {
  const world = await startGatewayInProcess(t);
  const { key } = await world.account();
  for (const { path, format } of ENDPOINTS) {
    for (const base of ['/api/api', '/v1/v1', '/openai', '/']) {
      const asked = `${base}${path}`;
      const response = await world.api('POST', asked, key, {});
      t.equal(response.status, 404, asked);
      const { type, error } = (await response.json()) as { type?: string; error: { message: string } };
      t.match(error, { type: 'not_found_error', code: 'unknown_endpoint' });
      t.equal(type, format === 'anthropic' ? 'error' : undefined, asked);
      const [, right] = (format === 'anthropic' ? ANTHROPIC : OPENAI).exec(error.message) ?? [];
      t.equal(right, path, error.message);
    }
  }
});

test('where models are listed both kinds of clients look', async (t) => {
  const world = await startGatewayInProcess(t);
  const { key } = await world.account();
  for (const path of ['/api/models', '/openai/models', '/openai/models/']) {
    const { error } = (await (await world.api('GET', path, key)).json()) as { error: { message: string } };
    t.match(error.message, OPENAI, path);
    t.match(error.message, /For Anthropic clients, set the base URL to .* without \/v1/, path);
  }
});

test('paths of something else, and other methods, are not taken for an endpoint', async (t) => {
  const world = await startGatewayInProcess(t);
  const { key } = await world.account();
  for (const [method, path] of [
    ['GET', '/v1/threads/thread_1/messages'],
    ['GET', '/v1/chat/completions/chatcmpl_1/messages'],
    ['POST', '/openai/deployments/gpt/responses/x'],
    ['GET', '/v1/vector_stores/vs_1/files'],
    ['POST', '/v1/fine_tuning/jobs'],
  ] as const) {
    const answer = (await (await world.api(method, path, key)).json()) as { error: { message: string } };
    t.same(Object.keys(answer), ['error'], path);
    t.equal(answer.error.message, `There is no ${method} ${path} here.`);
  }
});

test('an endpoint that is asked with another method says which one it takes', async (t) => {
  const world = await startGatewayInProcess(t);
  const { key } = await world.account();
  for (const path of ['/v1/chat/completions', '/responses', '/v1/v1/messages', '/messages']) {
    const { error } = (await (await world.api('GET', path, key)).json()) as { error: { message: string } };
    t.equal(error.message, `There is no GET ${path} here. Use POST ${path}.`);
  }
});

test('an API that is not served says so, and what to do', async (t) => {
  const world = await startGatewayInProcess(t);
  const { key } = await world.account();
  for (const [method, path, api, instead] of [
    ['POST', '/v1/files', /Files/, /in the request/],
    ['GET', '/files/file-1/content', /Files/, /in the request/],
    ['POST', '/v1/v1/uploads', /Uploads/, /in the request/],
    ['POST', '/v1/batches', /Batches/, /as a call/],
    ['POST', '/v1/messages/batches', /Batches/, /as a call/],
    ['GET', '/v1/messages/batches/b_1/results', /Batches/, /as a call/],
    ['POST', '/openai/deployments/flat/batches?api-version=1', /Batches/, /as a call/],
    ['GET', '/v1/realtime?model=flat', /Realtime/, /stream/],
    ['POST', '/v1/realtime/client_secrets', /Realtime/, /stream/],
    ['POST', '/v1/rerank', /rerank/, /embeddings/],
    ['POST', '/v2/rerank', /rerank/, /embeddings/],
    ['POST', '/v1beta/models/gemini-pro:generateContent', /Gemini/, /chat\/completions/],
    ['POST', '/v1beta/models/gemini-pro:streamGenerateContent?alt=sse', /Gemini/, /chat\/completions/],
    ['POST', '/v1/models/gemini-pro:countTokens', /Gemini/, /chat\/completions/],
    ['GET', '/v1beta/models', /Gemini/, /chat\/completions/],
    ['POST', '/upload/v1beta/files', /Gemini/, /chat\/completions/],
  ] as const) {
    const answer = await world.api(method, path, key, method === 'POST' ? {} : undefined);
    t.equal(answer.status, 404, path);
    const { error } = (await answer.json()) as { error: { message: string; code: string } };
    t.equal(error.code, 'unknown_endpoint');
    t.match(error.message, /is not served by this gateway\. /, path);
    t.match(error.message, api);
    t.match(error.message, instead);
  }
});

test('PUT on a key names PATCH', async (t) => {
  const world = await startGatewayInProcess(t);
  const { key, keyId, accountId } = await world.account();
  for (const [path, token] of [
    [`/api/keys/${keyId}/`, key],
    [`/api/keys/${keyId}`, key],
    [`/api/admin/accounts/${accountId}/keys/${keyId}/`, ADMIN_TOKEN],
  ] as const) {
    const answer = await world.api('PUT', path, token, { name: 'x' });
    t.equal(answer.status, 404);
    t.match(await answer.json(), { error: { code: 'unknown_endpoint', message: /Use PATCH/ } }, path);
  }
});

test('a key without Bearer gets the missing word', async (t) => {
  const world = await startGatewayInProcess(t);
  const { key } = await world.account();
  const answer = await fetch(`${world.url}/v1/models`, { headers: { authorization: key } });
  const { error } = (await answer.json()) as { error: { message: string; code: string } };
  t.same([answer.status, error.code], [401, 'missing_api_key']);
  t.match(error.message, /must begin with "Bearer "/);
  t.notMatch(error.message, key);
});

// Codex repeats it seven times, for 7 s, if it gets any other answer.
test('Responses over WebSocket get 426 immediately, without a key, and work by POST', async (t) => {
  const world = await startGatewayInProcess(t);
  const head = (path: string, upgrade: string) =>
    `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: ${upgrade}\r\n` +
    'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';
  for (const [path, upgrade, status, code] of [
    ['/v1/responses', 'websocket', 426, 'upgrade_required'],
    ['/v1/responses/?model=gpt', 'WebSocket', 426, 'upgrade_required'],
    ['/responses', 'websocket', 426, 'upgrade_required'],
    ['/v1/responses', 'h2c', 404, 'unknown_endpoint'],
    ['/v1/files', 'websocket', 404, 'unknown_endpoint'],
  ] as const) {
    const connection = openRaw(world.url);
    connection.send(head(path, upgrade));
    const answer = await connection.next('GET');
    t.equal(answer?.status, status, `${path} ${upgrade}`);
    t.match(JSON.parse(answer?.body ?? ''), { error: { code, param: null } });
    t.equal(answer?.headers.get('x-should-retry'), 'false');
    t.match(answer?.headers.get('x-request-id'), /^req_/);
    if (status === 426) {
      t.equal(answer?.headers.get('upgrade'), 'HTTP/1.1');
      t.match(JSON.parse(answer?.body ?? '').error.message, /POST \/v1\/responses/);
      t.equal(await connection.closed, '');
    }
    connection.socket.destroy();
  }
  const { key } = await world.account();
  t.equal((await world.api('POST', '/v1/responses', key, { model: 'flat', input: 'Hello' })).status, 200);
});

const RESPONSE = { model: 'tokens', input: 'Hello' };

test('a request of the Responses API at chat completions gets the right endpoint', async (t) => {
  const world = await startGatewayInProcess(t, { behave: () => undefined });
  const { key } = await world.account();
  for (const body of [RESPONSE, { ...RESPONSE, messages: null }, { ...RESPONSE, stream: true, input: [] }]) {
    const response = await world.api('POST', '/v1/chat/completions', key, body);
    t.equal(response.status, 400);
    t.equal(response.headers.get('x-should-retry'), 'false');
    t.match(await response.json(), {
      error: { code: 'endpoint_mismatch', param: 'input', message: /POST \/v1\/responses/ },
    });
  }
  t.equal(world.provider.requests.length, 0);
  t.equal((await world.chat(key, { model: 'tokens', input: 'Hello' })).status, 200, 'beside messages');
});

// Claude Code and others request the base URL before their first call.
test('probes of base addresses get 404 without a key, and nothing else, also while Redis is silent', async (t) => {
  const redis = await startRedis(t);
  const world = await startOwnGateway(t, { config: { redisUrl: redis.url } });
  const { key } = await world.account();
  const probe = async (method: string, path: string, headers: Record<string, string> = {}) => {
    const response = await fetch(`${world.url}${path}`, { method, headers, redirect: 'manual' });
    return [response.status, await response.text()] as const;
  };
  const bases = [
    '/',
    '/v1',
    '/v1/',
    '/anthropic',
    '/anthropic/',
    '/anthropic/v1',
    '/openai/v1',
    '/api/hello',
  ];
  redis.freeze();
  t.teardown(() => redis.thaw());
  for (const path of bases) {
    t.same(await probe('HEAD', path), [404, ''], `HEAD ${path}`);
    const [status, body] = await probe('GET', path);
    t.equal(status, 404, `GET ${path}`);
    t.equal(JSON.parse(body).error.message, `There is no GET ${path} here.`);
    for (const value of [key, 'sk-tg-nobody'])
      t.same(await probe('GET', path, { authorization: `Bearer ${value}` }), [404, body]);
  }
  t.same(await probe('GET', '/', { accept: 'text/html' }), [302, '']);
});
