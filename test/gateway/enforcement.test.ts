import { test } from 'tap';
import { micro } from '../../src/domain/credits.ts';
import { dayThatLasts } from '../helper/check/until.ts';
import {
  type InProcessGateway,
  startGatewayInProcess,
  TEST_SERVER,
} from '../helper/start/gateway-in-process.ts';

async function codeOf(response: Response): Promise<string> {
  const body = (await response.json()) as { error?: { code?: string } };
  return `${response.status} ${body.error?.code ?? 'no code'}`;
}

type AccountOptions = NonNullable<Parameters<InProcessGateway['account']>[0]>;

/** A POST to `/v1/chat/completions`. */
interface Sent {
  /** Members to add to an ordinary call. A string is the whole body, null is no body. */
  readonly body?: Record<string, unknown> | string | null;
  readonly headers?: Record<string, string>;
  readonly query?: string;
}

/** The settings of the key and the credits of its account, or the text to send instead of a valid key. */
type Row = readonly [
  what: string,
  key: AccountOptions | 'no key' | 'nonsense' | 'wrong checksum',
  request: Sent,
  code: string,
];

const ORIGINS = { key: { allowedOrigins: ['https://app.example.com'] } };
const OVER_ALL_CREDITS = { model: 'tokens', max_tokens: Number.MAX_SAFE_INTEGER, n: 1_000_000 };

/** The full UTC hour that is this many hours from now. */
function hour(offset: number): string {
  return `${String((new Date().getUTCHours() + offset + 24) % 24).padStart(2, '0')}:00`;
}

const ROWS: readonly Row[] = [
  ['no key', 'no key', { body: '{}' }, '401 missing_api_key'],
  ['a key in the query', 'no key', { body: null, query: '?api_key=x' }, '401 missing_api_key'],
  ['no such key', 'nonsense', {}, '401 invalid_api_key'],
  ['a wrong checksum', 'wrong checksum', {}, '401 invalid_api_key'],
  ['an inactive key', { key: { isActive: false } }, {}, '401 inactive_api_key'],
  ['an expired key', { key: { expiresAt: Date.now() - 1 } }, {}, '401 expired_api_key'],
  [
    'outside the active hours',
    { key: { activeHours: `${hour(2)}-${hour(3)}` } },
    {},
    '403 outside_active_hours',
  ],
  ['another address', { key: { allowedIps: ['10.0.0.0/8'] } }, {}, '403 ip_not_allowed'],
  [
    'a blocked country',
    { key: { blockedCountries: ['US'] } },
    { headers: { 'x-forwarded-for': '8.8.8.8' } },
    '403 country_blocked',
  ],
  ['neither Origin nor Referer', ORIGINS, {}, '403 origin_not_allowed'],
  ['another origin', ORIGINS, { headers: { origin: 'https://evil.example' } }, '403 origin_not_allowed'],
  ['a body that ends too soon', {}, { body: '{' }, '400 invalid_json'],
  ['a body that is no object', {}, { body: '[]' }, '400 invalid_json'],
  ['two models', {}, { body: '{"model":"flat","model":"tokens","messages":[]}' }, '400 invalid_json'],
  ['a model by an escaped name', {}, { body: '{"mod\\u0065l":"flat"}' }, '400 invalid_json'],
  ['two models, one escaped', {}, { body: '{"model":"flat","\\u006dodel":"tokens"}' }, '400 invalid_json'],
  ['two models, one capitalized', {}, { body: '{"model":"flat","Model":"tokens"}' }, '400 invalid_json'],
  ['no model', {}, { body: '{"messages":[]}' }, '400 model_required'],
  ['an unknown model', {}, { body: { model: 'no-such' } }, '404 model_not_found'],
  ['a model of another endpoint', {}, { body: { model: 'picture' } }, '400 endpoint_mismatch'],
  ['max_tokens below 0', {}, { body: { max_tokens: -1 } }, '400 invalid_field'],
  ['more tokens than anyone can pay', {}, { body: OVER_ALL_CREDITS }, '402 insufficient_credits'],
  ['half an answer', {}, { body: { n: 1.5 } }, '400 invalid_field'],
  ['another category', { key: { allowedCategories: ['image'] } }, {}, '403 category_not_allowed'],
  ['another model', { key: { allowedModels: ['tokens'] } }, {}, '403 model_not_allowed'],
  [
    'beyond the spending limit',
    { key: { spendingLimit: micro(500_000) } },
    {},
    '402 spending_limit_exceeded',
  ],
  ['beyond the balance', { credits: 0.5 }, {}, '402 insufficient_credits'],
];

async function keyOf({ account }: InProcessGateway, key: Row[1]): Promise<string | undefined> {
  if (key === 'no key') return undefined;
  if (key === 'nonsense') return key;
  if (key !== 'wrong checksum') return (await account(key)).key;
  const good = (await account()).key;
  return good.slice(0, -1) + (good.at(-1) === 'a' ? 'b' : 'a');
}

async function send(
  world: InProcessGateway,
  key: string | undefined,
  { body = {}, headers = {}, query = '' }: Sent,
): Promise<Response> {
  if (key !== undefined && body !== null && typeof body !== 'string') return world.chat(key, body, headers);
  return fetch(`${world.url}/v1/chat/completions${query}`, {
    method: 'POST',
    headers: { ...(key === undefined ? {} : { authorization: `Bearer ${key}` }), ...headers },
    ...(typeof body === 'string' ? { body } : {}),
  });
}

test('the checks of specification section 3, each with its answer and nothing upstream', async (t) => {
  const world = await startGatewayInProcess(t, { behave: () => undefined });
  for (const [what, key, request, code] of ROWS) {
    await t.test(`${what}: ${code}`, async (t) => {
      const response = await send(world, await keyOf(world, key), request);
      if (key === 'no key') t.equal(response.headers.get('www-authenticate'), 'Bearer');
      t.equal(await codeOf(response), code);
      t.equal(world.provider.requests.length, 0);
    });
  }
});

test('a call that every restriction allows passes', async (t) => {
  const { chat, account } = await startGatewayInProcess(t);
  const { key } = await account({
    key: {
      activeHours: '00:00-24:00',
      allowedIps: ['8.8.8.0/24'],
      blockedCountries: ['DE'],
      allowedOrigins: ['https://*.example.com'],
      allowedModels: ['flat'],
      allowedCategories: ['text'],
      spendingLimit: micro(2_000_000),
      expiresAt: Date.now() + 60_000,
    },
  });
  const headers = { 'x-forwarded-for': '8.8.8.8', origin: 'https://app.example.com' };
  const response = await chat(key, {}, headers);
  t.equal(response.status, 200);
  t.equal(response.headers.get('x-tollgate-charge'), '1.000000');
  t.equal(response.headers.get('access-control-allow-origin'), '*');
  t.match(response.headers.get('x-request-id'), /^req_/);
});

test('x-forwarded-for is believed from trusted proxies only', async (t) => {
  const { chat, account } = await startGatewayInProcess(t, {
    config: { server: { ...TEST_SERVER, bodyLimitBytes: 1_000_000 } },
  });
  const { key } = await account({ key: { allowedIps: ['127.0.0.1'] } });
  t.equal((await chat(key, {}, { 'x-forwarded-for': '8.8.8.8' })).status, 200);
});

test('a key in x-api-key works, and Authorization counts where both are sent', async (t) => {
  const { url, account } = await startGatewayInProcess(t);
  const { key } = await account();
  const body = JSON.stringify({ model: 'flat', messages: [] });
  const post = (headers: Record<string, string>) =>
    fetch(`${url}/v1/chat/completions`, { method: 'POST', body, headers });
  t.equal((await post({ 'x-api-key': key })).status, 200);
  t.equal((await post({ authorization: `bEaReR ${key}`, 'x-api-key': 'wrong' })).status, 200);
  t.equal((await post({ authorization: 'Bearer wrong', 'x-api-key': key })).status, 401);
});

test('a refusal says how to fix it and never gets 429 or a retry', async (t) => {
  await dayThatLasts();
  const { chat, account } = await startGatewayInProcess(t);
  const { key } = await account({ key: { spendingLimit: micro(1_500_000), spendingPeriod: 'daily' } });
  t.equal((await chat(key)).status, 200);
  const refused = await chat(key);
  t.equal(refused.status, 402);
  const { error } = (await refused.json()) as { error: { message: string; type: string } };
  t.equal(error.type, 'billing_error');
  t.match(error.message, /daily spending limit of this key is 1\.5 credits; 1 are spent/);
  t.match(error.message, /ends at \d{4}-\d\d-\d\dT00:00:00\.000Z/);
});

test('unknown endpoints, other methods, and preflight', async (t) => {
  const { url, account } = await startGatewayInProcess(t);
  const { key } = await account();
  const headers = { authorization: `Bearer ${key}` };
  t.equal(await codeOf(await fetch(`${url}/v1/fine_tuning/jobs`, { headers })), '404 unknown_endpoint');
  t.equal(await codeOf(await fetch(`${url}/v1/chat/completions`, { headers })), '404 unknown_endpoint');
  t.equal(
    await codeOf(await fetch(`${url}/v1/chat/completions/..%2f..%2fx`, { headers, method: 'POST' })),
    '404 unknown_endpoint',
  );
  const preflight = await fetch(`${url}/v1/chat/completions`, {
    method: 'OPTIONS',
    headers: {
      origin: 'https://a.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type',
    },
  });
  t.equal(preflight.status, 204);
  t.equal(preflight.headers.get('access-control-allow-origin'), '*');
  t.match(preflight.headers.get('access-control-allow-headers'), /authorization/);
});

test('the catalog as the key may use it', async (t) => {
  const { url, account } = await startGatewayInProcess(t);
  const { key } = await account({ key: { allowedModels: ['tokens'] } });
  const headers = { authorization: `Bearer ${key}` };
  const list = (await (await fetch(`${url}/v1/models`, { headers })).json()) as { data: { id: string }[] };
  t.same(
    list.data.map(({ id }) => id),
    ['tokens'],
  );
  t.equal((await fetch(`${url}/v1/models/tokens`, { headers })).status, 200);
  t.equal(await codeOf(await fetch(`${url}/v1/models/flat`, { headers })), '404 model_not_found');
});

test('a deleted key is refused as deleted, even if the call has other faults', async (t) => {
  const { url, account, api } = await startGatewayInProcess(t);
  const { key } = await account();
  const other = (await (await api('POST', '/api/keys/', key, { name: 'other' })).json()) as {
    id: number;
    key: string;
  };
  const call = (body: string) =>
    fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${other.key}` },
      body,
    });
  t.equal((await call('{"model":"flat","messages":[]}')).status, 200, 'its record is cached now');
  t.equal((await api('DELETE', `/api/keys/${other.id}/`, key)).status, 200);
  for (const body of ['{}', '{', '{"model":"no-such"}', '{"model":"picture"}', '{"model":"flat","n":-1}']) {
    t.equal(await codeOf(await call(body)), '401 inactive_api_key', body);
  }
});

const ADVISOR = { type: 'advisor_20260301', name: 'advisor', model: 'claude-fable-5-1' };
const HI = [{ role: 'user', content: 'Hello' }];
const message = { model: 'claude', messages: HI, max_tokens: 10 };

/** Requests that ran another model than the one that the key may use and that was charged. */
const CALLS: readonly (readonly [name: string, path: string, body: object, param: string])[] = [
  ['an advisor', '/v1/messages', { ...message, tools: [ADVISOR] }, 'tools'],
  [
    'an advisor that a message adds',
    '/v1/messages',
    {
      ...message,
      messages: [
        ...HI,
        {
          role: 'system',
          content: [{ type: 'tool_addition', tool: { type: 'tool_definition', definition: ADVISOR } }],
        },
      ],
    },
    'messages',
  ],
  ['fallbacks', '/v1/messages', { ...message, fallbacks: [{ model: 'claude-fable-5-1' }] }, 'fallbacks'],
  [
    'a model that draws',
    '/v1/responses',
    { model: 'tokens', input: 'a', tools: [{ type: 'image_generation', model: 'gpt-image-2' }] },
    'tools',
  ],
  [
    'a model that draws, hidden in the input',
    '/v1/responses',
    {
      model: 'tokens',
      input: [
        { type: 'additional_tools', role: 'developer', tools: [{ type: 'image_generation', model: 'x' }] },
      ],
    },
    'input',
  ],
  ['models', '/v1/chat/completions', { model: 'tokens', messages: HI, models: ['flat'] }, 'models'],
  [
    'the author of an SVG',
    '/v1/images/generations',
    { model: 'picture', prompt: 'a', output_format: 'svg', svg: { model: 'gpt-6-astra' } },
    'svg',
  ],
];

test('an unchecked model never runs', async (t) => {
  const world = await startGatewayInProcess(t);
  const { key } = await world.account({ key: { allowedModels: ['claude', 'tokens', 'picture'] } });
  for (const [name, path, body, param] of CALLS) {
    const response = await world.api('POST', path, key, body);
    t.equal(response.status, 400, name);
    const { error } = (await response.json()) as { error: Record<string, string> };
    t.match(error, { code: 'invalid_field', param, message: /other than the one in the request/ }, name);
  }
  t.equal(world.provider.requests.length, 0);
});
