import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Redis } from 'ioredis';
import { type Test, test } from 'tap';
import { startDemoProvider } from '../../src/demo/demo-provider.ts';
import { newKeyValue } from '../../src/domain/key-value.ts';
import { socketPathFor } from '../../src/ledger/redis-socket.ts';
import { type GatewayProcess, makePlace, startGateway } from '../helper/gateway-process.ts';
import { execute } from '../helper/postgres.ts';
import { startPostgres } from '../helper/postgres-server.ts';
import { sendRaw } from '../helper/raw-http.ts';
import { startReceiver } from '../helper/receiver.ts';
import { startRedis } from '../helper/redis-process.ts';
import { bookPlaces, findSecret, type Place, redisPlaces } from '../helper/secrets.ts';
import { until } from '../helper/until.ts';

const ADMIN_TOKEN = 'planted-admin-token-4711';
const UPSTREAM_KEY = 'planted-upstream-key-4712';
const HOOK_TOKEN = 'planted-hook-token-4713';
const REDIS_PASSWORD = 'planted-redis-password-4714';
/** Well-formed, and nobody's: a key of another gateway, or one that was mistyped. */
const STRANGER = newKeyValue('sk-tg-').value;

interface Secrets {
  readonly managing: string;
  readonly limited: string;
  readonly webhook: string;
}

/** A place with models that work, that refuse the credential, and that are not there. */
function configure(t: Test, upstreamUrl: string, env: NodeJS.ProcessEnv) {
  const place = makePlace(t, upstreamUrl, {
    ...env,
    ADMIN_TOKEN,
    UPSTREAM_KEY,
    LOG_LEVEL: 'trace',
  });
  const model = 'category: text, price: { request: 1 }, maxOutputTokens: 10';
  writeFileSync(
    place.env.TOLLGATE_CONFIG ?? '',
    `alerts: { allowPrivateNetworks: true }
upstreams:
  test: { url: "${upstreamUrl}", apiKey: "\${UPSTREAM_KEY}", format: openai }
  gone: { url: "http://127.0.0.1:1", apiKey: "\${UPSTREAM_KEY}", format: openai }
models:
  flat: { upstream: test, ${model} }
  refused: { upstream: test, ${model} }
  broken: { upstream: test, ${model} }
  gone: { upstream: gone, ${model} }
`,
  );
  return place;
}

/** Uses every route, rightly and wrongly, and notes every answer. */
async function drive(gateway: GatewayProcess, hook: string): Promise<{ secrets: Secrets; answers: Place[] }> {
  const answers: Place[] = [];
  const call = async (
    method: string,
    path: string,
    token: string | undefined,
    body?: unknown,
    headers: Record<string, string> = {},
  ) => {
    const response = await fetch(`${gateway.url}${path}`, {
      method,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text().catch(() => '');
    const where = `answer ${response.status} to ${method} ${path.split('?', 1)[0]}`;
    answers.push({ where, text: `${JSON.stringify([...response.headers])}\n${text}` });
    return { status: response.status, text };
  };
  const raw = async (where: string, bytes: string) => {
    const answer = await sendRaw(gateway.url, bytes);
    answers.push({
      where: `answer ${answer?.status} to ${where}`,
      text: JSON.stringify([answer, ...(answer?.headers ?? [])]),
    });
  };

  const account = await call('POST', '/api/admin/accounts/', ADMIN_TOKEN, {
    email: 'a@example.com',
    credits: 150,
  });
  const managing: string = JSON.parse(account.text).key.key;
  const created = await call('POST', '/api/keys/', managing, {
    name: 'limited',
    spending_limit: 100,
    webhook_url: hook,
  });
  const { key: limited, id } = JSON.parse(created.text) as { key: string; id: number };
  const webhook: string = JSON.parse((await call('GET', '/api/account/', managing)).text).webhook_secret;

  const chat = (model: string, more = {}) => ({
    model,
    messages: [{ role: 'user', content: 'Hello' }],
    ...more,
  });
  for (const key of [managing, limited]) {
    for (const model of ['flat', 'refused', 'broken', 'gone', 'unknown']) {
      await call('POST', '/v1/chat/completions', key, chat(model));
      await call('POST', '/v1/chat/completions', key, chat(model, { stream: true }));
    }
    await call('POST', '/v1/chat/completions', undefined, chat('flat'), { 'x-api-key': key });
    await call('POST', '/v1/messages', undefined, chat('flat'), { 'x-api-key': key });
    await call('POST', '/v1/chat/completions', key, chat('flat'), {
      cookie: `key=${key}`,
      'x-forwarded-for': '1.2.3.4',
    });
    for (const path of [
      '/v1/models',
      '/api/keys/',
      '/api/account/',
      '/api/account/ledger/',
      '/api/account/ledger/?format=csv',
      '/api/account/usage/',
      '/api/account/alerts/',
      '/api/admin/accounts/',
      '/metrics',
      '/readyz',
      '/healthz',
      '/openapi.json',
      '/v1/unknown',
    ]) {
      await call('GET', path, key);
    }
    await call('POST', `/api/keys/${id}/explain/`, key, { model: 'flat' });
    await call('PATCH', `/api/keys/${id}/`, key, { description: 'x' });
    await call('PATCH', '/api/account/', key, { alert_threshold: 149 });
  }
  await call('POST', '/api/account/alerts/test/', managing);
  // Wrongly: where secrets come that are refused.
  for (const secret of [managing, STRANGER, ADMIN_TOKEN]) {
    for (const name of ['api_key', 'token']) {
      await call('POST', `/v1/chat/completions?${name}=${secret}`, undefined, chat('flat'));
      await call('GET', `/api/keys/?${name}=${secret}`, undefined);
      await call('GET', `/api/admin/accounts/?${name}=${secret}`, undefined);
    }
    await call('POST', '/v1/chat/completions', `${secret}x`, chat('flat'));
    await call('POST', '/v1/chat/completions', secret.slice(0, -1), chat('flat'));
    await call('POST', '/v1/chat/completions', undefined, `{"api_key":"${secret}"`, {
      authorization: `Basic ${secret}`,
    });
    await call('GET', '/metrics', secret, undefined, { 'x-forwarded-for': '1.2.3.4' });
    await call('POST', '/api/keys/', managing, `{"name":"${secret}`);
    await raw(
      'a broken request',
      `GET /healthz?${secret} HTTP/1.1\r\nAuthorization: Bearer ${secret}\r\nX A: b\r\n\r\n`,
    );
    await raw('a request that is no HTTP', `${secret}\r\n\r\n`);
  }
  await call('POST', `/v1/chat/completions?api_key=${managing}`, managing, chat('flat'));
  await call('GET', '/api/admin/accounts/', ADMIN_TOKEN);
  await call('GET', '/api/admin/accounts/1/', ADMIN_TOKEN);
  await call('POST', '/api/admin/accounts/1/credits/', ADMIN_TOKEN, { amount: 1, note: 'x' });
  await call('GET', '/metrics', ADMIN_TOKEN);
  await until('the test alert to be sent', async () =>
    /"delivered"/.test((await call('GET', '/api/account/alerts/', managing)).text),
  );
  await call('DELETE', `/api/keys/${id}/`, managing);
  await call('POST', '/v1/chat/completions', limited, chat('flat'));
  return { secrets: { managing, limited, webhook }, answers };
}

async function startUpstream(t: Test) {
  const provider = await startDemoProvider({
    record: true,
    behave: ({ body }) => {
      const { model } = JSON.parse(body.toString()) as { model: string };
      if (model === 'refused')
        return { status: 401, body: { error: { message: `bad key ${UPSTREAM_KEY}` } } };
      return model === 'broken' ? { breakAfter: 'nothing' } : undefined;
    },
  });
  t.teardown(() => provider.close());
  return provider;
}

/** Each secret, and the only places in which a form of it may stand. */
function judge(
  t: Test,
  { managing, limited, webhook }: Secrets,
  places: readonly Place[],
  passwords: string[],
): void {
  // The proof that the search finds what is there.
  t.same(findSecret(managing, places).includes('SHA-256: book keys.hash'), true);
  const keyBelongs = [
    /^(plain|URL-encoded): answer 201 to POST \/api\/(admin\/accounts|keys)\/$/,
    /^SHA-256: (book keys\.hash|book file|redis name tg:h:#|redis file)$/,
  ];
  t.same(findSecret(managing, places, keyBelongs), [], 'the managing key');
  t.same(findSecret(limited, places, keyBelongs), [], 'the limited key');
  t.same(findSecret(STRANGER, places), [], 'a key of nobody');
  t.same(findSecret(ADMIN_TOKEN, places), [], 'the token of the operator');
  t.same(
    findSecret(UPSTREAM_KEY, places, [/^(plain|URL-encoded): upstream header authorization$/]),
    [],
    'the credential at the provider',
  );
  const hookBelongs = [
    /^(plain|URL-encoded): (book (keys\.webhook_url|deliveries\.url|file)|redis value tg:#:k:#|receiver path)$/,
    /^(plain|URL-encoded): answer 200 to (GET|PATCH) \/api\/(keys\/(2\/)?|account\/alerts\/)$/,
  ];
  t.same(findSecret(HOOK_TOKEN, places, hookBelongs), [], 'what stands in the address of a webhook');
  const webhookBelongs = [
    /^plain: (book accounts\.webhook_secret|book file)$/,
    /^plain: answer 200 to (GET|PATCH) \/api\/account\/ *$/,
  ];
  t.same(
    findSecret(webhook.slice('whsec_'.length), places, webhookBelongs),
    [],
    'the secret of the webhooks',
  );
  for (const password of passwords) t.same(findSecret(password, places), [], 'a password');
}

const TABLES = [
  'identity',
  'accounts',
  'keys',
  'grants',
  'ledger',
  'spend_days',
  'alerts',
  'deliveries',
  'objects',
];

test('planted secrets stand nowhere but where they belong: PostgreSQL, a Redis with a password, outages', async (t) => {
  const postgres = await startPostgres({ fsync: 'off' });
  t.teardown(() => postgres.stop());
  const redis = await startRedis(t);
  const operator = new Redis(redis.port, '127.0.0.1');
  operator.on('error', () => {});
  t.teardown(() => operator.disconnect());
  await operator.config('SET', 'requirepass', REDIS_PASSWORD);
  await operator.auth(REDIS_PASSWORD);
  const databaseUrl = postgres.url('postgres');
  const databasePassword = decodeURIComponent(new URL(databaseUrl).password);
  const provider = await startUpstream(t);
  const receiver = await startReceiver();
  t.teardown(receiver.close);
  const REDIS_URL = `redis://:${REDIS_PASSWORD}@127.0.0.1:${redis.port}`;
  const place = configure(t, provider.url, { DATABASE_URL: databaseUrl, REDIS_URL });
  const gateway = await startGateway(t, place);

  const { secrets, answers } = await drive(gateway, `${receiver.url}?token=${HOOK_TOKEN}`);
  const book = await bookPlaces(TABLES, (sql) => execute(databaseUrl, sql));
  const live = await redisPlaces(operator);
  // Outages, which are told of: the book's, then that of Redis.
  await postgres.halt();
  const refused = await gateway.api('POST', '/api/keys/', secrets.managing, { name: 'a' });
  t.equal(refused.status, 503);
  await redis.kill();
  const unmetered = await until('Redis to be missed', async () => {
    const response = await gateway.chat(secrets.managing);
    return response.status === 503 && response;
  });
  const { output, errors } = await gateway.kill();
  t.match(output, /"level":40/, 'the outages are logged');
  // So that it can be stopped.
  await postgres.resume();

  judge(
    t,
    secrets,
    [
      ...answers,
      ...book,
      ...live,
      { where: 'answer 503 of the book', text: await refused.text() },
      { where: 'answer 503 of Redis', text: await unmetered.text() },
      { where: 'stdout', text: output },
      { where: 'stderr', text: errors },
      ...upstreamPlaces(provider.requests),
      ...receiver.requests.flatMap(({ path, headers, body }) => [
        { where: 'receiver path', text: path },
        { where: 'receiver request', text: JSON.stringify(headers) + body },
      ]),
    ],
    [databasePassword, REDIS_PASSWORD],
  );
});

test('planted secrets stand nowhere but where they belong: SQLite and the private Redis, their files too', async (t) => {
  const provider = await startUpstream(t);
  const receiver = await startReceiver();
  t.teardown(receiver.close);
  const place = configure(t, provider.url, {});
  const gateway = await startGateway(t, place);
  const { secrets, answers } = await drive(gateway, `${receiver.url}?token=${HOOK_TOKEN}`);
  const operator = new Redis(socketPathFor(join(place.dataDir, 'redis')));
  const live = await redisPlaces(operator);
  operator.disconnect();
  const { output, errors, code } = await gateway.stop();
  t.equal(code, 0);
  const file = join(place.dataDir, 'book.sqlite');
  const db = new DatabaseSync(file, { readOnly: true });
  const book = await bookPlaces(TABLES, async (sql) => db.prepare(sql).all());
  db.close();
  judge(
    t,
    secrets,
    [
      ...answers,
      ...book,
      ...live,
      { where: 'book file', text: readFileSync(file, 'latin1') },
      { where: 'stdout', text: output },
      { where: 'stderr', text: errors },
      ...upstreamPlaces(provider.requests),
    ],
    [],
  );
});

function upstreamPlaces(requests: readonly { url: string; headers: object; body: Buffer }[]): Place[] {
  return requests.flatMap(({ url, headers, body }) => [
    { where: 'upstream path', text: url },
    { where: 'upstream body', text: body.toString('latin1') },
    ...Object.entries(headers).map(([name, value]) => ({
      where: `upstream header ${name}`,
      text: String(value),
    })),
  ]);
}
