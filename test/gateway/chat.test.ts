import { test } from 'tap';
import { startGatewayInProcess } from '../helper/start/gateway-in-process.ts';

test('a call is charged exactly the price of its usage', async (t) => {
  const usage = {
    prompt_tokens: 1_234,
    completion_tokens: 56,
    prompt_tokens_details: { cached_tokens: 1_000 },
  };
  const { chat, account, book, settled } = await startGatewayInProcess(t, { behave: () => ({ usage }) });
  const { key, accountId } = await account({ credits: 100 });
  const response = await chat(key, { model: 'tokens', max_tokens: 100 });
  // 234 × 0.001 + 1,000 × 0.0005 + 56 × 0.002
  t.equal(response.headers.get('x-tollgate-charge'), '0.846000');
  t.match(await response.json(), { choices: [{ message: { role: 'assistant' } }], usage });
  await settled();
  const [entry] = await book.ledger({ accountId, limit: 1 });
  t.match(entry, {
    id: response.headers.get('x-request-id'),
    type: 'charge',
    credits: -846_000,
    balanceAfter: 99_154_000,
    usage: { input: 234, cachedInput: 1_000, output: 56, requests: 1 },
    estimated: false,
    outcome: 'complete',
    status: 200,
    endpoint: '/v1/chat/completions',
  });
});

test('the hold is released when the call is settled', async (t) => {
  const { chat, account, ledger, settled } = await startGatewayInProcess(t);
  const { key, accountId } = await account({ credits: 50 });
  await (await chat(key, { model: 'tokens', max_tokens: 10 })).text();
  await settled();
  t.equal((await ledger.ledger.account(accountId)).held, 0);
});

test('the bytes that came are the bytes that go up, where nothing must change', async (t) => {
  const { url, account, provider } = await startGatewayInProcess(t, { behave: () => undefined });
  const { key } = await account();
  const body =
    '{ "seed":12345678901234567890,\n "model" : "flat", "messages":[{"role":"user","content":"\\u00e9 \\n x"}], "z":1.50 }';
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  await (await fetch(`${url}/v1/chat/completions`, { method: 'POST', body, headers })).text();
  t.equal((await provider.request(0)).body.toString(), body);
});

test('the upstream name of a model and include_usage are put in, and nothing else changes', async (t) => {
  const { url, account, provider } = await startGatewayInProcess(t, { behave: () => undefined });
  const { key } = await account();
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const send = async (body: string) => {
    const before = provider.requests.length;
    await (await fetch(`${url}/v1/chat/completions`, { method: 'POST', body, headers })).text();
    return (await provider.request(before)).body.toString();
  };
  t.equal(
    await send('{"seed":12345678901234567890, "model":"renamed","messages":[] }'),
    '{"seed":12345678901234567890, "model":"upstream-name","messages":[] }',
  );
  t.equal(
    await send('{"stream":true, "model":"renamed","messages":[]}'),
    '{"stream_options":{"include_usage":true},"stream":true, "model":"upstream-name","messages":[]}',
  );
  t.equal(
    await send(
      '{"stream":true,"model":"flat","messages":[],"stream_options":{ "include_usage" : false, "x":1.0}}',
    ),
    '{"stream":true,"model":"flat","messages":[],"stream_options":{ "include_usage" : true, "x":1.0}}',
  );
  t.equal(
    await send('{"stream":true,"model":"flat","messages":[],"stream_options":{"x":1.0}}'),
    '{"stream":true,"model":"flat","messages":[],"stream_options":{"include_usage":true,"x":1.0}}',
  );
});

test('request headers: the credential is replaced, and forbidden headers do not pass', async (t) => {
  const { chat, account, provider } = await startGatewayInProcess(t, { behave: () => undefined });
  const { key } = await account();
  await chat(
    key,
    {},
    {
      cookie: 'a=b',
      'x-forwarded-host': 'x',
      'x-api-key': 'also-secret',
      forwarded: 'for=1.1.1.1',
      'x-original-forwarded-for': '1.1.1.1',
      'x-title': 'kept',
      te: 'trailers',
      'proxy-authorization': 'Basic x',
      connection: 'authorization',
    },
  );
  const { headers, rawHeaders } = await provider.request(0);
  t.equal(headers.authorization, 'Bearer upstream-secret');
  t.equal(headers['x-title'], 'kept');
  for (const name of [
    'cookie',
    'x-forwarded-host',
    'x-forwarded-for',
    'x-api-key',
    'forwarded',
    'x-original-forwarded-for',
    'te',
    'proxy-authorization',
  ]) {
    t.notOk(name in headers, name);
  }
  t.notMatch(rawHeaders.join('\n'), key);
});

test('response headers: cookies and the provider’s own are dropped', async (t) => {
  const { chat, account } = await startGatewayInProcess(t, {
    behave: () => ({
      headers: {
        'set-cookie': 'a=b',
        server: 'x',
        'x-kept': '1',
        'openai-organization': 'org',
        'x-request-id': 'theirs',
      },
    }),
  });
  const { key } = await account();
  const response = await chat(key);
  t.equal(response.headers.get('x-kept'), '1');
  for (const name of ['set-cookie', 'server', 'openai-organization'])
    t.equal(response.headers.get(name), null, name);
  t.match(response.headers.get('x-request-id'), /^req_/);
});

for (const [status, expected, code] of [
  [400, 400, undefined],
  [429, 429, undefined],
  [500, 500, undefined],
  [503, 503, undefined],
  [401, 502, 'upstream_auth_failed'],
  [403, 502, 'upstream_auth_failed'],
  [302, 502, 'upstream_unavailable'],
] as const) {
  test(`an upstream's ${status} is answered ${expected}, charged 0, and sent once`, async (t) => {
    const { chat, account, provider, book, settled, ledger } = await startGatewayInProcess(t, {
      behave: () => ({
        status,
        headers: { location: 'http://127.0.0.1/' },
        body: { error: { message: 'theirs' } },
      }),
    });
    const { key, accountId } = await account({ credits: 5 });
    const response = await chat(key);
    t.equal(response.status, expected);
    const body = (await response.json()) as { error: { message: string; code?: string } };
    if (code) t.equal(body.error.code, code);
    else t.equal(body.error.message, 'theirs');
    await settled();
    t.equal(provider.requests.length, 1);
    t.match(await ledger.ledger.account(accountId), { balance: 5_000_000, held: 0 });
    t.match((await book.ledger({ accountId, limit: 1 }))[0], {
      credits: 0,
      outcome: 'upstream_error',
      status: expected,
    });
  });
}

test('an upstream that resets before it answers gives 502 at charge 0', async (t) => {
  const { chat, account, book, settled, provider } = await startGatewayInProcess(t, {
    behave: () => ({ breakAfter: 'nothing' }),
  });
  const { key, accountId } = await account({ credits: 5 });
  const response = await chat(key);
  t.equal(response.status, 502);
  t.match(await response.json(), { error: { code: 'upstream_unavailable', type: 'upstream_error' } });
  await settled();
  t.equal(provider.requests.length, 1);
  t.match(await book.ledger({ accountId, limit: 10 }), [
    { credits: 0, outcome: 'upstream_broke' },
    { type: 'top_up' },
  ]);
});

test('an upstream that refuses connections gives 502 without its address', async (t) => {
  const world = await startGatewayInProcess(t);
  const { key, accountId } = await world.account({ credits: 5 });
  await world.provider.close();
  const response = await world.chat(key);
  t.equal(response.status, 502);
  const text = await response.text();
  t.match(text, 'upstream_unavailable');
  t.notMatch(text, '127.0.0.1');
  await world.settled();
  t.match((await world.book.ledger({ accountId, limit: 1 }))[0], {
    credits: 0,
    outcome: 'upstream_unreachable',
  });
});

test('an upstream that does not answer in time gives 504 at an estimate, without a retry', async (t) => {
  const { chat, account, book, settled } = await startGatewayInProcess(t, {
    behave: () => ({ stallAfter: 'nothing' }),
    config: {
      limits: {
        requestTimeoutMs: 300,
        headersTimeoutMs: 30_000,
        idleTimeoutMs: 30_000,
        readOnMs: 60_000,
        hiddenTokensPerSecond: 50,
        imageTokens: 1,
        contextTokens: 1,
        toolRounds: 3,
        toolTokens: 50_000,
        waitingCalls: 1_000,
        journalEntries: 1_000_000,
      },
    },
  });
  const { key, accountId } = await account({ credits: 5 });
  const response = await chat(key);
  t.equal(response.status, 504);
  t.equal(response.headers.get('x-should-retry'), 'false', 'an SDK would pay for it twice more');
  t.match(await response.json(), { error: { code: 'upstream_timeout' } });
  await settled();
  t.match((await book.ledger({ accountId, limit: 1 }))[0], {
    credits: -1_000_000,
    estimated: true,
    outcome: 'timeout',
    status: 504,
  });
});

test('usage that is absent, negative or absurd is estimated and marked so', async (t) => {
  for (const usage of [
    false,
    { prompt_tokens: -5, completion_tokens: 3 },
    { prompt_tokens: 1e15, completion_tokens: 3 },
  ] as const) {
    const { chat, account, book, settled } = await startGatewayInProcess(t, {
      behave: () => ({ usage, text: 'Hello there, friend.' }),
    });
    const { key, accountId } = await account();
    const response = await chat(key, { model: 'tokens', max_tokens: 50 });
    t.equal(response.status, 200);
    await response.text();
    await settled();
    const [entry] = await book.ledger({ accountId, limit: 1 });
    t.match(entry, { estimated: true, outcome: 'complete' });
    t.ok((entry?.credits ?? 0) < 0 && (entry?.credits ?? 0) > -100_000, `credits ${entry?.credits}`);
  }
});

test('an answer over 1 MiB passes through and is charged by its usage', async (t) => {
  const { chat, account, book, settled } = await startGatewayInProcess(t, {
    behave: () => ({ text: 'word '.repeat(400_000), usage: { prompt_tokens: 10, completion_tokens: 20 } }),
  });
  const { key, accountId } = await account({ credits: 10_000 });
  const response = await chat(key, { model: 'tokens', max_tokens: 1_000_000, n: 0 });
  t.ok((await response.text()).length > 2_000_000);
  await settled();
  t.match((await book.ledger({ accountId, limit: 1 }))[0], {
    credits: -50_000,
    estimated: false,
    outcome: 'complete',
  });
});
