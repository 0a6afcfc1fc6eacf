import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Test, test } from 'tap';
import { makePlace, run } from '../helper/start/gateway-process.ts';
import { createDatabase } from '../helper/start/postgres-database.ts';
import { freePort, startRedis } from '../helper/start/redis-process.ts';
import { servePlace } from '../helper/start/served-place.ts';

const place = (t: Test, env: NodeJS.ProcessEnv = {}, more = '') =>
  makePlace(t, 'http://127.0.0.1:1', env, more);

/** Checks that a start in the test's process is refused in one line. */
async function refused(t: Test, env: NodeJS.ProcessEnv, reason: RegExp): Promise<void> {
  const message = await servePlace(t, { env }).then(
    () => 'it started',
    (error: Error) => error.message,
  );
  t.match(message, /^[^\n]+$/, 'one line');
  t.match(message, reason);
}

/** Specification section 1, "Refusal to start": one clear line on stderr, exit code 1. */
async function refusedProgram(t: Test, env: NodeJS.ProcessEnv, reason: RegExp): Promise<void> {
  const { code, output, errors } = await run('main.js', env);
  t.equal(code, 1);
  t.match(errors, /^tollgate: [^\n]+\n$/, 'one line');
  t.match(errors, reason);
  t.notMatch(errors, /\n\s+at |Error:/, 'no stack');
  t.notMatch(output, 'listening');
}

test('a config file with faults names each in one line', async (t) => {
  const { env } = place(t, { PORT: 'eighty' }, 'color: red\n');
  await refusedProgram(t, env, /color.*PORT|PORT.*color/);
});

test('a config file that is not there', async (t) => {
  await refused(t, { ...place(t).env, TOLLGATE_CONFIG: '/nowhere/gateway.yaml' }, /\/nowhere\/gateway\.yaml/);
});

test('a config file that is not YAML', async (t) => {
  const { env } = place(t);
  writeFileSync(env.TOLLGATE_CONFIG ?? '', 'models: [\n  "');
  await refused(t, env, /configuration|gateway\.yaml/);
});

test('a Node that drops the headers of a proxy behind a thousand others', async (t) => {
  const old = 'Object.defineProperty(process,"versions",{value:{...process.versions,node:"24.18.0"}})';
  const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(old)}`;
  await refusedProgram(t, { ...place(t).env, NODE_OPTIONS }, /Node\.js 24\.18\.0 is too old.*24\.18\.1/);
});

test('a database out of reach', async (t) => {
  const DATABASE_URL = `postgres://user:geheim@127.0.0.1:${await freePort()}/book`;
  await refused(t, place(t, { DATABASE_URL }).env, /127\.0\.0\.1:\d+\/book can't be reached.*DATABASE_URL/);
});

test('a database that takes connections and says nothing', async (t) => {
  const silent = createServer(() => {}).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  t.teardown(() => silent.close());
  const address = silent.address();
  const port = typeof address === 'object' ? address?.port : 0;
  const DATABASE_URL = `postgres://user:geheim@127.0.0.1:${port}/book`;
  await refused(t, place(t, { DATABASE_URL }).env, /did not answer in time/);
});

test('a Redis out of reach', async (t) => {
  await refused(t, place(t, { REDIS_URL: `redis://127.0.0.1:${await freePort()}` }).env, /Redis.*REDIS_URL/);
});

test('a Redis that does not persist, where it is required to', async (t) => {
  const redis = await startRedis(t, { appendonly: 'no' });
  const { env } = place(t, { REDIS_URL: redis.url, REQUIRE_DURABLE_REDIS: 'true' });
  await refused(t, env, /REQUIRE_DURABLE_REDIS.*append-only/);
});

test('a book that a newer version has used', async (t) => {
  const { env, dataDir } = place(t);
  await (await servePlace(t, { env })).close();
  const book = new DatabaseSync(join(dataDir, 'book.sqlite'));
  book.exec(
    "insert into kysely_migration (name, timestamp) values ('9999_future', '2030-01-01T00:00:00.000Z')",
  );
  book.close();
  await refused(t, env, /was used by a newer version of Tollgate.*"9999_future"/);
});

test('a data folder in use by another process', async (t) => {
  const { env } = place(t);
  await servePlace(t, { env });
  await refusedProgram(t, env, /in use by another gateway.*TOLLGATE_DATA/);
});

test('a data folder that cannot be one', async (t) => {
  const first = place(t);
  mkdirSync(first.dataDir);
  const file = `${first.dataDir}/file`;
  writeFileSync(file, '');
  await refused(t, { ...first.env, TOLLGATE_DATA: file }, /data folder .* can't be used/);
});

test('a data folder where the system has no place for one does not hang the start', async (t) => {
  const path = process.platform === 'linux' ? '/proc/none' : '/dev/null/none';
  await refused(
    t,
    { ...place(t).env, TOLLGATE_DATA: `${path}/data` },
    /data folder .* can't be used.*TOLLGATE_DATA/,
  );
});

test('a data folder that can take no bodies, where Redis and the book are elsewhere', async (t) => {
  const [redis, DATABASE_URL] = await Promise.all([startRedis(t), createDatabase()]);
  const first = place(t, { REDIS_URL: redis.url, DATABASE_URL });
  mkdirSync(first.dataDir);
  const file = `${first.dataDir}/file`;
  writeFileSync(file, '');
  await refused(t, { ...first.env, TOLLGATE_DATA: file }, /data folder .* can't be used.*TOLLGATE_DATA/);
});

test('a port in use, and its private Redis does not stay behind', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const address = taken.address();
  const PORT = String(typeof address === 'object' ? address?.port : 0);
  const { env } = place(t);
  await refused(t, { ...env, PORT }, /PORT/);
  taken.close();
  await once(taken, 'close');
  t.ok(await servePlace(t, { env: { ...env, PORT } }), 'the folder is free again');
});
