import { test } from 'tap';
import { ENDPOINTS } from '../../src/gateway/endpoints.ts';
import { openRaw } from '../helper/clients/raw-http.ts';
import { startGatewayInProcess } from '../helper/start/gateway-in-process.ts';

const OPENAI = /, but (\S+)\. For OpenAI clients, set the base URL to .* followed by \/v1/;
const ANTHROPIC = /, but (\S+)\. For Anthropic clients, set the base URL to .* without \/v1/;

test('a base URL that ends in the wrong place is told by the 404, for each endpoint, in the shape of its clients', async (t) => {
  const world = await startGatewayInProcess(t);
  const { key } = await world.account();
  for (const { path, format } of ENDPOINTS) {
    for (const base of ['', '/v1', '/api/v1', '/openai', '/']) {
      const asked = base === '' ? path.slice('/v1'.length) : `${base}${path}`;
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
  for (const path of ['/models', '/v1/v1/models', '/v1/v1/models/']) {
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
    ['POST', '/openai/deployments/gpt/chat/completions'],
    ['GET', '/v1/chat/completions'],
    ['GET', '/v1/responses'],
    ['POST', '/v1/files'],
  ] as const) {
    const answer = (await (await world.api(method, path, key)).json()) as { error: { message: string } };
    t.same(Object.keys(answer), ['error'], path);
    t.equal(answer.error.message, `There is no ${method} ${path} here.`);
  }
});

// Codex tries it seven times, for 7 s, where the answer is another.
test('Responses over WebSocket are refused with 426 at once, without a key, and go on by POST', async (t) => {
  const world = await startGatewayInProcess(t);
  const head = (path: string, upgrade: string) =>
    `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: ${upgrade}\r\n` +
    'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';
  for (const [path, upgrade, status, code] of [
    ['/v1/responses', 'websocket', 426, 'upgrade_required'],
    ['/v1/responses/?model=gpt', 'WebSocket', 426, 'upgrade_required'],
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
