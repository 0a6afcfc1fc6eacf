import t from 'tap';
import { until } from '../helper/check/until.ts';
import { apiOf, refusalOf } from '../helper/clients/api.ts';
import { ADMIN_TOKEN, startOwnGateway } from '../helper/start/gateway-in-process.ts';
import { createDatabase, execute } from '../helper/start/postgres-database.ts';
import { startRedis } from '../helper/start/redis-process.ts';

const UNAVAILABLE = [503, 'service_unavailable', null];

t.test(
  'while the book is out of reach, management returns 503 with Retry-After and no details',
  async (t) => {
    const databaseUrl = await createDatabase();
    const world = await startOwnGateway(t, { config: { databaseUrl } });
    const { key, keyId } = await world.account();
    await world.settled();
    const api = apiOf(world, key);
    t.equal((await api.get('/api/keys/')).status, 200);
    const server = new URL(databaseUrl);
    const database = server.pathname.slice(1);
    server.pathname = '/postgres';
    await execute(server.href, `alter database ${database} allow_connections false`);
    await execute(
      server.href,
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${database}'`,
    );

    const listed = await api.get('/api/keys/');
    t.same(refusalOf(listed), UNAVAILABLE);
    t.ok(Number(listed.headers.get('retry-after')) > 0);
    t.notMatch(listed.error?.message, /sql|postgres|database|redis/i);
    t.same(refusalOf(await api.get('/api/key/')), UNAVAILABLE);
    t.same(refusalOf(await api.post('/api/keys/', { name: 'x' })), UNAVAILABLE);
    t.same(refusalOf(await api.patch(`/api/keys/${keyId}/`, { name: 'x' })), UNAVAILABLE);
    t.same(refusalOf(await api.get('/api/account/ledger/?format=csv')), UNAVAILABLE);
    t.same(refusalOf(await apiOf(world, ADMIN_TOKEN).get('/api/admin/accounts/')), UNAVAILABLE);
    t.equal((await world.chat(key)).status, 200, 'model calls go on');

    await execute(server.href, `alter database ${database} allow_connections true`);
    await until('the book to answer again', async () => (await api.get('/api/keys/')).status === 200);
  },
);

t.test('while Redis is out of reach, no key is checked', async (t) => {
  const redis = await startRedis(t);
  const world = await startOwnGateway(t, { config: { redisUrl: redis.url } });
  const { key } = await world.account();
  await redis.kill();
  const refused = await apiOf(world, key).get('/api/keys/');
  t.same(refusalOf(refused), UNAVAILABLE);
  t.notMatch(refused.error?.message, /redis/i);
  await redis.start();
});

t.test('an operator loses no new key and no credits for want of Redis', async (t) => {
  const redis = await startRedis(t);
  const world = await startOwnGateway(t, { config: { redisUrl: redis.url } });
  const { accountId } = await world.account();
  await world.settled();
  const operator = apiOf(world, ADMIN_TOKEN);
  await redis.kill();
  const made = await operator.post<{ key: { key: string } }>('/api/admin/accounts/', {
    email: 'new@example.com',
    credits: 5,
  });
  t.match([made.status, made.body.key.key], [201, /^sk-tg-/]);
  const more = await operator.post<{ key: string }>(`/api/admin/accounts/${accountId}/keys/`, { name: 'x' });
  t.match([more.status, more.body.key], [201, /^sk-tg-/]);
  const deactivated = await operator.patch(`/api/admin/accounts/${accountId}/`, { is_active: false });
  t.same(refusalOf(deactivated), UNAVAILABLE, 'what is not in force yet is not answered as done');

  t.match(await world.book.pendingGrants(Date.now() + 1, 10), [{ amount: 5_000_000, type: 'top_up' }]);
  await redis.start();
  await until('the new key to be checked', async () => {
    return (await apiOf(world, made.body.key.key).get('/api/account/')).status === 200;
  });
  await until('the account to be inactive', async () => (await world.chat(more.body.key)).status === 403);
});
