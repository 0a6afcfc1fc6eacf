import pg from 'pg';
import t from 'tap';
import type { KeyView, RotatedKeyView } from '../../src/api/keys/key-view.ts';
import { hashKey } from '../../src/domain/key-value.ts';
import { until } from '../helper/check/until.ts';
import { apiOf, refusalOf } from '../helper/clients/api.ts';
import { rotate, statusOf } from '../helper/clients/rotate.ts';
import { ADMIN_TOKEN, startOwnGateway } from '../helper/start/gateway-in-process.ts';
import { createDatabase, execute } from '../helper/start/postgres-database.ts';
import { startRedis } from '../helper/start/redis-process.ts';

const UNAVAILABLE = [503, 'service_unavailable', null];

t.test('no key rotates while Redis is unreachable', async (t) => {
  const redis = await startRedis(t);
  const world = await startOwnGateway(t, { config: { redisUrl: redis.url } });
  const { key, keyId, accountId } = await world.account();
  await world.settled();
  const operator = apiOf(world, ADMIN_TOKEN);
  const path = `/api/admin/accounts/${accountId}/keys/${keyId}/rotate/`;
  await redis.kill();
  for (const body of [{}, { grace_seconds: 60 }])
    t.same(refusalOf(await operator.post(path, body)), UNAVAILABLE);
  t.match(await world.book.key(accountId, keyId), { version: 1, hash: hashKey(key) });
  await redis.start();
  await until('Redis to be used again', async () => (await statusOf(world, key)) === 200);
});

t.test('a rotation that cannot be put into force is undone: no value is lost, and no grace', async (t) => {
  const redis = await startRedis(t);
  const databaseUrl = await createDatabase();
  const world = await startOwnGateway(t, { config: { redisUrl: redis.url, databaseUrl } });
  const { key: first, keyId, accountId } = await world.account();
  const { key: second } = await rotate(world, first, keyId, 3_600);
  t.same([await statusOf(world, first), await statusOf(world, second)], [200, 200]);
  await world.settled();
  const before = await world.book.key(accountId, keyId);

  // The row is locked, so that the test can stop Redis between reading its time and the publication.
  const holder = new pg.Client(databaseUrl);
  await holder.connect();
  await holder.query('begin');
  await holder.query(`select id from keys where id = ${keyId} for update`);
  const answer = apiOf(world, ADMIN_TOKEN).post<RotatedKeyView>(
    `/api/admin/accounts/${accountId}/keys/${keyId}/rotate/`,
    { grace_seconds: 60 },
  );
  await until('the rotation to wait for the row', async () => {
    const [waits] = (await execute(
      databaseUrl,
      "select count(*)::int as n from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()",
    )) as { n: number }[];
    return (waits?.n ?? 0) > 0;
  });
  await redis.kill();
  await holder.query('rollback');
  await holder.end();
  const refused = await answer;
  t.same(refusalOf(refused), UNAVAILABLE);
  t.match(refused.error?.message, /^The key was not rotated/);
  t.ok(Number(refused.headers.get('retry-after')) > 0);

  const { version, ...values } = before ?? { version: 0 };
  t.match(await world.book.key(accountId, keyId), { ...values, version: version + 2 });
  await redis.start();
  await until('Redis to be used again', async () => (await statusOf(world, second)) === 200);
  t.equal(await statusOf(world, first), 200, 'in its grace');
  const { body } = await apiOf(world, second).get<KeyView>('/api/key/');
  t.match(body, { id: keyId, version: version + 2, prefix: second.slice(0, body.prefix.length) });
  const third = await rotate(world, second, keyId, 60);
  t.same(
    [await statusOf(world, first), await statusOf(world, second), await statusOf(world, third.key)],
    [401, 200, 200],
  );
});
