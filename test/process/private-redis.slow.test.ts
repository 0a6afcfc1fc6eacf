import { test } from 'tap';
import { makePlace, run, startGatewayProcess } from '../helper/start/gateway-process.ts';
import { createDatabase } from '../helper/start/postgres-database.ts';
import { startRedis } from '../helper/start/redis-process.ts';

const UPSTREAM = 'http://127.0.0.1:1';
const ALONE = /must be the only one that uses the database/g;

test('a private Redis beside a shared database logs one warning', async (t) => {
  const place = makePlace(t, UPSTREAM, { DATABASE_URL: await createDatabase() });
  const gateway = await startGatewayProcess(t, place);
  t.equal(gateway.output().match(ALONE)?.length, 1);

  const { code, errors } = await run('main.js', place.env);
  t.equal(code, 1);
  t.match(errors, /^tollgate: another gateway .* set REDIS_URL so that both share a Redis.*\n$/);
});

test('several workers with one private Redis log one warning too', async (t) => {
  const place = makePlace(t, UPSTREAM, { DATABASE_URL: await createDatabase(), WORKERS: '2' });
  t.equal((await startGatewayProcess(t, place)).output().match(ALONE)?.length, 1);
});

test('one data folder, or a shared Redis, logs no warning', async (t) => {
  const redis = await startRedis(t);
  const shared = { DATABASE_URL: await createDatabase(), REDIS_URL: redis.url };
  for (const env of [{}, shared]) {
    t.notMatch((await startGatewayProcess(t, makePlace(t, UPSTREAM, env))).output(), ALONE);
  }
});
