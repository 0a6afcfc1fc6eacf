import { test } from 'tap';
import { duration } from '../../../src/gateway/limits.ts';
import { startGatewayInProcess } from '../../helper/start/gateway-in-process.ts';

const HELLO = [{ role: 'user', content: 'Hello' }];
const CLAUDE = { model: 'claude-flat', max_tokens: 10, messages: HELLO };
const THEIRS = { 'x-ratelimit-limit-requests': '9999', 'anthropic-ratelimit-requests-limit': '9999' };

function limitHeaders({ headers }: Response): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => name.includes('ratelimit')));
}

test('every answer of a key with limits shows their state, after this call', async (t) => {
  const answers = [{ headers: THEIRS }, { headers: THEIRS }, { status: 500, body: {}, headers: THEIRS }];
  const world = await startGatewayInProcess(t, { behave: () => answers.shift() });
  const { key } = await world.account({
    credits: 3,
    key: { rpmLimit: 100, allowedModels: ['flat', 'claude-flat', 'tokens'] },
  });
  const read = async (response: Response, status: number, left: number) => {
    await response.text();
    t.equal(response.status, status);
    const headers = limitHeaders(response);
    t.match(headers, { 'x-ratelimit-limit-requests': '100', 'x-ratelimit-reset-requests': /^[0-9]s$/ });
    // The limit refills one request every 600 ms.
    const remaining = Number(headers['x-ratelimit-remaining-requests']);
    t.ok(remaining >= left && remaining <= 100, `${remaining} of at least ${left}`);
    t.equal(Object.keys(limitHeaders(response)).length, 3, 'and nothing of the provider’s');
  };
  await read(await world.chat(key), 200, 99);
  await read(await world.chat(key, { stream: true }), 200, 98);
  await read(await world.chat(key), 500, 97);
  await world.settled();
  await read(await world.chat(key), 200, 96);
  await world.settled();
  await read(await world.chat(key, { model: 'tokens', max_tokens: 5 }), 402, 96);
  await read(await world.chat(key, { model: 'renamed' }), 403, 96);
  await read(await world.chat(key, { model: 'none' }), 404, 96);
  await read(await world.chat(key, { n: 'many' }), 400, 96);
  t.same(limitHeaders(await world.chat('sk-tg-nobody')), {}, 'a stranger is told nothing');
  const expired = await world.account({ key: { rpmLimit: 100, expiresAt: 1 } });
  t.same(limitHeaders(await world.chat(expired.key)), {}, 'nor is the holder of an expired key');
});

test('a refusal by address shows them too', async (t) => {
  const world = await startGatewayInProcess(t);
  const { key } = await world.account({ key: { tpmLimit: 5_000, allowedIps: ['8.8.8.8'] } });
  const refused = await world.chat(key);
  t.equal(refused.status, 403);
  t.same(limitHeaders(refused), {
    'x-ratelimit-limit-tokens': '5000',
    'x-ratelimit-remaining-tokens': '5000',
    'x-ratelimit-reset-tokens': '0s',
  });
});

test('Anthropic’s routes have its names, and moments in RFC 3339', async (t) => {
  const world = await startGatewayInProcess(t);
  const { key } = await world.account({ key: { rpmLimit: 6, tpmLimit: 600 } });
  const before = Date.now();
  const response = await world.api('POST', '/v1/messages', key, CLAUDE);
  t.equal(response.status, 200);
  const headers = limitHeaders(response);
  t.match(headers, {
    'anthropic-ratelimit-requests-limit': '6',
    'anthropic-ratelimit-requests-remaining': '5',
    'anthropic-ratelimit-requests-reset': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/,
    'anthropic-ratelimit-tokens-limit': '600',
    'anthropic-ratelimit-tokens-remaining': /^5\d\d$/,
    'anthropic-ratelimit-tokens-reset': /Z$/,
  });
  t.equal(Object.keys(headers).length, 6);
  const fullInMs = Date.parse(headers['anthropic-ratelimit-requests-reset'] ?? '') - before;
  t.ok(fullInMs > 9_000, `${fullInMs} ms until a request of six a minute is back`);
  const refused = await world.api('POST', '/v1/messages', key, { ...CLAUDE, model: 'none' });
  t.equal(refused.status, 404);
  t.equal(limitHeaders(refused)['anthropic-ratelimit-requests-limit'], '6');
});

test('headers show the limit of key or account with the least left', async (t) => {
  const world = await startGatewayInProcess(t);
  const { key, accountId } = await world.account({ key: { rpmLimit: 100 } });
  await world.limitAccount(accountId, { rpmLimit: 3, tpmLimit: 100_000 });
  const headers = limitHeaders(await world.chat(key));
  t.match(headers, {
    'x-ratelimit-limit-requests': '3',
    'x-ratelimit-remaining-requests': '2',
    'x-ratelimit-limit-tokens': '100000',
  });
});

test('without a limit of requests or tokens there are no such headers', async (t) => {
  const world = await startGatewayInProcess(t, { behave: () => ({ headers: THEIRS }) });
  const open = await world.account();
  const parallel = await world.account({ key: { maxParallelRequests: 5 } });
  for (const { key } of [open, parallel]) {
    t.same(limitHeaders(await world.chat(key)), {});
    t.same(limitHeaders(await world.chat(key, { model: 'none' })), {});
  }
});

test('pages in browsers may read them', async (t) => {
  const world = await startGatewayInProcess(t);
  const { key } = await world.account({ key: { rpmLimit: 3 } });
  const response = await world.chat(key, {}, { origin: 'https://app.example.com' });
  const exposed = response.headers.get('access-control-expose-headers') ?? '';
  for (const name of ['retry-after-ms', 'x-ratelimit-remaining-tokens', 'anthropic-ratelimit-tokens-reset']) {
    t.match(exposed, name);
  }
});

test('time spans are written in whole seconds, rounded up', (t) => {
  t.same([0, 1, 1_000, 59_001, 360_000, 3_605_000].map(duration), [
    '0s',
    '1s',
    '1s',
    '1m0s',
    '6m0s',
    '1h0m5s',
  ]);
  t.end();
});
