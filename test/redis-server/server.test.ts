import { statSync } from 'node:fs';
import { Redis } from 'ioredis';
import { test } from 'tap';
import { serversOn } from '../../src/redis-server/leftover.ts';
import { findRedisServer, RedisServerMissing, startPrivateRedis } from '../../src/redis-server/server.ts';
import { ask, quiet, start } from './start.ts';

test('it persists every write and evicts nothing', async (t) => {
  const { socketPath } = await start(t, t.testdir());
  t.same(await ask(socketPath, 'CONFIG', 'GET', 'appendonly'), ['appendonly', 'yes']);
  t.same(await ask(socketPath, 'CONFIG', 'GET', 'appendfsync'), ['appendfsync', 'everysec']);
  t.same(await ask(socketPath, 'CONFIG', 'GET', 'save'), ['save', '']);
  t.same(await ask(socketPath, 'CONFIG', 'GET', 'maxmemory-policy'), ['maxmemory-policy', 'noeviction']);
});

test('nobody else can read its folder or reach it, and it has no port', async (t) => {
  const dataDir = t.testdir();
  const { socketPath } = await start(t, dataDir);
  t.equal(statSync(`${dataDir}/redis`).mode & 0o777, 0o700);
  t.equal(statSync(socketPath).mode & 0o077, 0);
  t.same(await ask(socketPath, 'CONFIG', 'GET', 'port'), ['port', '0']);
});

test('a stop leaves nothing running, and can be repeated', async (t) => {
  const redis = await start(t, t.testdir());
  await redis.stop();
  await redis.stop();
  t.same(await serversOn(redis.socketPath), []);
});

test('one that dies is started again, with its data', async (t) => {
  const dataDir = t.testdir();
  let died = () => {};
  const noticed = new Promise<void>((resolve) => {
    died = resolve;
  });
  const { socketPath } = await start(t, dataDir, { ...quiet, error: died });
  await ask(socketPath, 'SET', 'balance', '1000');
  const [pid = 0] = await serversOn(socketPath);
  process.kill(pid, 'SIGKILL');
  await noticed;

  const client = new Redis({ path: socketPath, retryStrategy: () => 20, maxRetriesPerRequest: null });
  client.on('error', () => {});
  t.teardown(() => client.disconnect());
  t.equal(await client.get('balance'), '1000');
});

test('a stop while it is down keeps it down', async (t) => {
  let died = () => {};
  const noticed = new Promise<void>((resolve) => {
    died = resolve;
  });
  const redis = await start(t, t.testdir(), { ...quiet, error: died });
  const [pid = 0] = await serversOn(redis.socketPath);
  process.kill(pid, 'SIGKILL');
  await noticed;
  await redis.stop();
  // Nothing is left of the failed start, so the folder can be used at once.
  t.same(await serversOn(redis.socketPath), []);
});

test('a second gateway in the same folder is refused', async (t) => {
  const dataDir = t.testdir();
  const first = await start(t, dataDir);
  await t.rejects(startPrivateRedis(dataDir, quiet), { message: /another gateway.*TOLLGATE_DATA/ });
  t.equal(await ask(first.socketPath, 'PING'), 'PONG', 'the first one is left alone');
});

test('a path too long for a socket gets a short private one', async (t) => {
  const dataDir = `${t.testdir()}/${'deep/'.repeat(40)}`;
  const first = await start(t, dataDir);
  t.ok(Buffer.byteLength(first.socketPath) <= 103);
  t.equal(statSync(first.socketPath.replace(/\/redis\.sock$/, '')).mode & 0o777, 0o700);
  await ask(first.socketPath, 'SET', 'balance', '1000');
  await first.stop();
  const second = await start(t, dataDir);
  t.equal(second.socketPath, first.socketPath);
  t.equal(await ask(second.socketPath, 'GET', 'balance'), '1000');
});

test('a data folder that cannot be made is refused in a line', async (t) => {
  const file = `${t.testdir({ file: '' })}/file`;
  await t.rejects(startPrivateRedis(file, quiet), { message: /can't be used for Redis data/ });
});

test('without a server on the PATH, the error is one line with the command to run', async (t) => {
  const path = t.testdir({ 'redis-server': 'not executable' });
  t.throws(() => findRedisServer(path), RedisServerMissing);
  t.throws(() => findRedisServer(path), { message: /^[^\n]*apt-get install[^\n]*REDIS_URL[^\n]*$/ });
});
