import { test } from 'tap';
import { memberOf, OWN } from '../helper/clients/people.ts';
import { ADMIN_TOKEN, startGatewayInProcess } from '../helper/start/gateway-in-process.ts';

/** Around a key as people copy and join it; `…` is the key. Bytes above 127 are UTF-8, read as Latin-1. */
const AROUND = [
  '…',
  '"…"',
  "'…'",
  '`…`',
  'Bearer …',
  'bearer  …',
  '"Bearer …"',
  'Bearer "…"',
  '\t…\t',
  '\u00e2\u0080\u009c…\u00e2\u0080\u009d',
  '\u00c2\u00a0…\u00c2\u00a0',
];

const ROUTES = [
  ['GET', '/v1/models'],
  ['GET', '/api/keys/'],
  ['GET', '/api/key/'],
  ['POST', '/v1/chat/completions'],
] as const;

type Route = readonly [method: string, path: string];

const send = async (url: string, headers: Record<string, string>, route: Route = ROUTES[0]) => {
  const [method, path] = route;
  const body = JSON.stringify({ model: 'flat', messages: [] });
  const answer = await fetch(`${url}${path}`, { method, headers, ...(method === 'POST' ? { body } : {}) });
  const { error } = (await answer.json()) as { error?: { code: string; message: string } };
  return { status: answer.status, code: error?.code, message: error?.message ?? '' };
};

test('a key is taken without what got around it, in each header, on all routes', async (t) => {
  const { url, account } = await startGatewayInProcess(t);
  const { key } = await account();
  for (const around of AROUND) {
    const value = around.replace('…', key);
    const whole = /^"?bearer/i.test(value) ? value : `Bearer ${value}`;
    for (const headers of [
      { authorization: whole },
      { authorization: `Bearer ${value}` },
      { 'x-api-key': value },
      { 'api-key': value },
    ]) {
      for (const route of ROUTES)
        t.equal((await send(url, headers, route)).status, 200, `${JSON.stringify(headers)} ${route}`);
    }
  }
});

test('an empty credential beside a good one counts as none', async (t) => {
  const { url, account } = await startGatewayInProcess(t);
  const { key } = await account();
  for (const empty of ['', 'Bearer', 'Bearer ', 'Bearer ""', 'Bearer Bearer', '""']) {
    for (const good of ['x-api-key', 'api-key'])
      t.equal((await send(url, { authorization: empty, [good]: key })).status, 200, `${empty}, ${good}`);
    t.match(await send(url, { authorization: empty }), { status: 401, code: 'missing_api_key' }, empty);
  }
  t.equal((await send(url, { 'x-api-key': '""', 'api-key': key })).status, 200);
  t.equal((await send(url, { 'x-api-key': '', authorization: `Bearer ${key}` })).status, 200);
});

test('an empty credential beside the session of a person counts as none', async (t) => {
  const world = await startGatewayInProcess(t);
  const { accountId } = await world.account();
  const { cookie } = await memberOf(world, accountId, 'owner');
  for (const authorization of ['', 'Bearer']) {
    const headers = { ...OWN, cookie, authorization };
    t.equal((await send(world.url, headers, ['GET', '/api/account/'])).status, 200);
  }
  const other = { ...OWN, cookie, authorization: 'Basic abc' };
  t.equal((await send(world.url, other, ['GET', '/api/account/'])).status, 401);
});

test('placeholders, two values and other schemes stay 401', async (t) => {
  const { url, account } = await startGatewayInProcess(t);
  const { key } = await account();
  for (const [headers, code] of [
    [{ authorization: `Bearer <${key}>` }, 'invalid_api_key'],
    [{ authorization: 'Bearer <key>' }, 'invalid_api_key'],
    [{ authorization: `Bearer ${key} ${key}` }, 'invalid_api_key'],
    [{ authorization: `Bearer ${key}, Bearer ${key}` }, 'invalid_api_key'],
    [{ 'x-api-key': `${key}, ${key}` }, 'invalid_api_key'],
    [{ 'api-key': `<${key}>` }, 'invalid_api_key'],
    [{ authorization: key }, 'missing_api_key'],
    [{ authorization: `Basic ${btoa(key)}`, 'x-api-key': key }, 'missing_api_key'],
    [{ authorization: 'Bearer sk-tg-nobody', 'x-api-key': key }, 'invalid_api_key'],
  ] as const) {
    t.match(await send(url, headers), { status: 401, code }, JSON.stringify(headers));
  }
});

test('a key of another service is told which keys this gateway takes', async (t) => {
  const { url } = await startGatewayInProcess(t);
  for (const foreign of ['sk-proj-abc', 'sk-ant-api03-abc', 'sk-or-v1-abc', '<key>', 'undefined']) {
    const { status, code, message } = await send(url, { authorization: `Bearer ${foreign}` });
    t.same([status, code], [401, 'invalid_api_key']);
    t.match(message, /begin with "sk-tg-"/);
    t.notMatch(message, foreign);
  }
  t.match((await send(url, { authorization: 'Bearer sk-tg-nobody' })).message, /does not exist/);
});

test('a key in the URL alone is told where keys go', async (t) => {
  const { url, account } = await startGatewayInProcess(t);
  const { key } = await account();
  for (const name of ['key', 'api_key', 'apikey', 'api-key', 'access_token', 'token', 'x-api-key']) {
    const { code, message } = await send(url, {}, ['GET', `/v1/models?limit=1&${name}=${key}`]);
    t.equal(code, 'missing_api_key');
    t.match(message, /not in the URL/, name);
  }
  t.notMatch((await send(url, {}, ['GET', '/v1/models?monkey=1'])).message, /URL/);
});

test('ADMIN_TOKEN is taken as it is', async (t) => {
  const { url } = await startGatewayInProcess(t);
  const token = (value: string) => send(url, { authorization: value }, ['GET', '/api/admin/models/']);
  t.equal((await token(`Bearer ${ADMIN_TOKEN}`)).status, 200);
  t.equal((await token(`Bearer "${ADMIN_TOKEN}"`)).status, 401);
});
