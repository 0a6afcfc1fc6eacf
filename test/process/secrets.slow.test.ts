import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Redis } from 'ioredis';
import { type Test, test } from 'tap';
import type { BookSchema } from '../../src/book/schema.ts';
import { socketPathFor } from '../../src/redis-server/socket.ts';
import { bookPlaces, findSecret, type Place, redisPlaces } from '../helper/check/secrets.ts';
import { until } from '../helper/check/until.ts';
import {
  ADMIN_TOKEN,
  configure,
  drive,
  HOOK_TOKEN,
  type Secrets,
  STRANGER,
  startUpstream,
  UPSTREAM_KEY,
  upstreamPlaces,
} from '../helper/fixtures/planted-secrets.ts';
import { startReceiver } from '../helper/stand-ins/receiver.ts';
import { startGatewayProcess } from '../helper/start/gateway-process.ts';
import { execute } from '../helper/start/postgres-database.ts';
import { startPostgres } from '../helper/start/postgres-server.ts';
import { startRedis } from '../helper/start/redis-process.ts';

const REDIS_PASSWORD = 'planted-redis-password-4714';

/** Each secret, and the only places where a form of it may be. */
function checkPlaces(
  t: Test,
  { managing, limited, webhook }: Secrets,
  places: readonly Place[],
  passwords: string[],
): void {
  // Proves that the search finds what is there.
  t.same(findSecret(managing, places).includes('SHA-256: book keys.hash'), true);
  const keyBelongs = [
    /^(plain|URL-encoded): answer 201 to POST \/api\/(admin\/accounts|keys)\/$/,
    /^SHA-256: (book keys\.hash|book file|redis name tg:h:#|redis value tg:#:k:#|redis file)$/,
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

/** Everything in the book; a new table is a type error here. */
const TABLES = Object.keys({
  identity: true,
  gateways: true,
  accounts: true,
  keys: true,
  grants: true,
  ledger: true,
  spend_days: true,
  spend_hours: true,
  spend_model_days: true,
  spend_key_months: true,
  spend_five_hours: true,
  alerts: true,
  deliveries: true,
  resources: true,
  refusals: true,
  call_messages: true,
  rates: true,
  persons: true,
  identities: true,
  memberships: true,
  invitations: true,
  sessions: true,
  one_time_links: true,
  known_addresses: true,
  audit: true,
} satisfies Record<keyof BookSchema, true>);

test('planted secrets appear only where they belong: PostgreSQL, a Redis with a password, outages', async (t) => {
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
  const gateway = await startGatewayProcess(t, place);

  const { secrets, answers } = await drive(gateway, `${receiver.url}?token=${HOOK_TOKEN}`);
  const book = await bookPlaces(TABLES, (sql) => execute(databaseUrl, sql));
  const live = await redisPlaces(operator);
  // Outages, which are logged: first the book's, then that of Redis.
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

  checkPlaces(
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

test('planted secrets appear only where they belong: SQLite and the private Redis, their files too', async (t) => {
  const provider = await startUpstream(t);
  const receiver = await startReceiver();
  t.teardown(receiver.close);
  const place = configure(t, provider.url, {});
  const gateway = await startGatewayProcess(t, place);
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
  checkPlaces(
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
