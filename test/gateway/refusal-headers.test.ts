import { test } from 'tap';
import { ERRORS, type ErrorCode, GatewayError } from '../../src/domain/errors.ts';
import { refusalHeaders } from '../../src/gateway/refuse.ts';
import { sendRaw } from '../helper/clients/raw-http.ts';
import { startGatewayInProcess } from '../helper/start/gateway-in-process.ts';

const HELLO = { model: 'claude', max_tokens: 10, messages: [{ role: 'user', content: 'Hello' }] };

test('a refusal that a repeat cannot mend says so, and no other', (t) => {
  for (const code of Object.keys(ERRORS) as ErrorCode[]) {
    const [status] = ERRORS[code];
    const isFinal =
      [400, 401, 402, 403, 404, 409, 410, 412, 413, 415, 422, 426].includes(status) ||
      ['upstream_auth_failed', 'usage_limit_reached'].includes(code);
    const said = refusalHeaders(status, new GatewayError(code, 'x'))['x-should-retry'];
    t.equal(said, isFinal ? 'false' : undefined, `${status} ${code}`);
  }
  t.end();
});

// A client that gets `retry-after: 1` repeats a call 30 times in 30 s.
test('a 503 says to come back in 2 to 5 seconds, spread', (t) => {
  const waits = Array.from({ length: 400 }, () => {
    const refusal = new GatewayError('service_unavailable', 'x');
    return refusalHeaders(503, refusal)['retry-after'];
  });
  t.same([...new Set(waits)].sort(), ['2', '3', '4', '5']);
  t.end();
});

test('refusals that cannot succeed say not to retry: calls, management, unknown routes, broken HTTP', async (t) => {
  const world = await startGatewayInProcess(t, { behave: () => undefined });
  const { key } = await world.account({ credits: 0 });
  const read = async (response: Response) => [response.status, response.headers.get('x-should-retry')];
  t.same(await read(await world.chat('sk-tg-nobody')), [401, 'false']);
  t.same(await read(await world.chat(key)), [402, 'false']);
  t.same(await read(await world.chat(key, { n: 'many' })), [400, 'false']);
  t.same(await read(await world.api('POST', '/v1/messages', key, HELLO)), [402, 'false']);
  t.same(await read(await world.api('GET', '/v1/nothing', key)), [404, 'false']);
  t.same(await read(await world.api('DELETE', '/api/keys/999999/', key)), [404, 'false']);
  t.same(await read(await world.api('POST', '/api/keys/', key, { no: 1 })), [400, 'false']);
  t.same(await read(await world.api('GET', '/dashboard/assets/nothing', key)), [404, 'false']);
  t.same(await read(await world.api('POST', '/api/keys/', key, 'x', { 'content-type': 'text/plain' })), [
    415,
    'false',
  ]);
  const expecting = 'POST /v1/responses HTTP/1.1\r\nHost: a\r\nExpect: more\r\nContent-Length: 0\r\n\r\n';
  t.equal((await sendRaw(world.url, expecting))?.headers.get('x-should-retry'), 'false');
  t.equal((await sendRaw(world.url, 'no HTTP\r\n\r\n'))?.headers.get('x-should-retry'), 'false');
});

test('a provider does not say whether its error is repeated: the SDKs go by the status', async (t) => {
  const answers = [
    { status: 400, body: { error: {} } },
    { status: 400, body: { error: {} }, headers: { 'x-should-retry': 'true' } },
    { status: 401, body: { error: {} } },
  ];
  const world = await startGatewayInProcess(t, { behave: () => answers.shift() });
  const { key } = await world.account();
  const read = async () => {
    const response = await world.chat(key);
    return [response.status, response.headers.get('x-should-retry')];
  };
  t.same(await read(), [400, null]);
  t.same(await read(), [400, null]);
  t.same(await read(), [502, 'false'], 'the gateway answers, and a repeat cannot mend its credential');
});

// Anthropic's SDKs show it as `request_id`; the provider's own id is not in our ledger.
test('request-id on Anthropic’s routes is the id that the ledger knows, on answers, errors and refusals', async (t) => {
  const theirs = { 'request-id': 'req_theirs', 'x-request-id': 'req_theirs' };
  const answers = [{ headers: theirs }, { headers: theirs }, { headers: theirs, status: 529, body: '{}' }];
  const world = await startGatewayInProcess(t, { behave: () => answers.shift() });
  const { key } = await world.account();
  const post = (body: object, token = key) => world.api('POST', '/v1/messages', token, { ...HELLO, ...body });
  const responses = [
    await post({}),
    await post({ stream: true }),
    await post({}),
    await post({ n: -1 }),
    await post({}, 'sk-tg-nobody'),
    await world.api('POST', '/v1/messages/count_tokens', key, { ...HELLO, model: 'gpt-0' }),
    await world.api('GET', '/v1/messages/batches', key),
    await world.api('POST', '/openai/v1/messages', key, HELLO),
  ];
  t.same(
    responses.map(({ status }) => status),
    [200, 200, 529, 400, 401, 404, 404, 404],
  );
  for (const { status, headers } of responses) {
    t.match(headers.get('x-request-id'), /^req_(?!theirs)/);
    t.equal(headers.get('request-id'), headers.get('x-request-id'), String(status));
  }
  for (const response of responses) await response.text();
  t.equal((await world.chat(key)).headers.get('request-id'), null, 'not elsewhere');
});

test('an error in Anthropic’s shape has the code and the field: credits and limits are both billing_error', async (t) => {
  const world = await startGatewayInProcess(t, { behave: () => undefined });
  const { key } = await world.account({ credits: 0 });
  const errorOf = async (body: object) =>
    await (await world.api('POST', '/v1/messages', key, { ...HELLO, ...body })).json();
  t.match(await errorOf({}), {
    type: 'error',
    error: { type: 'billing_error', code: 'insufficient_credits', param: null, message: /credits/ },
  });
  t.match(await errorOf({ max_tokens: -1 }), {
    type: 'error',
    error: { type: 'invalid_request_error', code: 'invalid_field', param: 'max_tokens' },
  });
});

test('the quota of the operator’s account at the provider is nobody’s to see, on answers and errors', async (t) => {
  const quota = Object.fromEntries(
    [
      'x-ratelimit-limit-requests',
      'x-ratelimit-remaining-tokens',
      'anthropic-ratelimit-requests-limit',
      'anthropic-ratelimit-unified-status',
      'ratelimit',
      'ratelimit-policy',
      'ratelimit-remaining',
      'x-rate-limit-limit',
    ].map((name) => [name, '1']),
  );
  const headers = { ...quota, 'retry-after': '7', 'x-kept': '1' };
  const answers = [{ headers }, { headers }, { headers, status: 429, body: { error: {} } }];
  const world = await startGatewayInProcess(t, { behave: () => answers.shift() });
  const { key } = await world.account();
  for (const body of [{}, { stream: true }, {}]) {
    const response = await world.chat(key, body);
    await response.text();
    t.equal(response.headers.get('retry-after'), '7');
    t.equal(response.headers.get('x-kept'), '1');
    for (const name in quota) t.equal(response.headers.get(name), null, name);
  }
});
