import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { Redis } from 'ioredis';
import { type Test, test } from 'tap';
import type { Log } from '../../src/log/log.ts';
import { serversOn } from '../../src/redis-server/leftover.ts';
import { findRedisServer, RedisServerMissing, startPrivateRedis } from '../../src/redis-server/server.ts';

const quiet: Log = { debug() {}, info() {}, warn() {}, error() {} };

async function start(t: Test, dataDir: string, log = quiet) {
  const redis = await startPrivateRedis(dataDir, log);
  t.teardown(() => redis.stop());
  return redis;
}

/** One command on a connection of its own. */
async function ask(socketPath: string, command: string, ...args: string[]): Promise<unknown> {
  const client = new Redis({ path: socketPath, maxRetriesPerRequest: 0 });
  try {
    return await client.call(command, ...args);
  } finally {
    client.disconnect();
  }
}

/** The part of a gateway that starts its Redis, in its own process. It prints the socket once Redis is up. */
async function owner(
  t: Test,
  dataDir: string,
  then = '',
): Promise<{ process: ChildProcessByStdio<Writable, Readable, null>; socketPath: string }> {
  const module = new URL('../../src/redis-server/server.ts', import.meta.url).href;
  const script = `
    import { startPrivateRedis } from ${JSON.stringify(module)};
    const log = { debug() {}, info() {}, warn() {}, error() {} };
    const redis = await startPrivateRedis(${JSON.stringify(dataDir)}, log);
    console.log(redis.socketPath);
    ${then}
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  const [line] = await once(child.stdout, 'data');
  return { process: child, socketPath: String(line).trim() };
}

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

test('data survives a stop and a start', async (t) => {
  const dataDir = t.testdir();
  const first = await start(t, dataDir);
  await ask(first.socketPath, 'SET', 'balance', '1000');
  await first.stop();
  const second = await start(t, dataDir);
  t.equal(await ask(second.socketPath, 'GET', 'balance'), '1000');
});

test('a stop leaves nothing running, and can be repeated', async (t) => {
  const redis = await start(t, t.testdir());
  await redis.stop();
  await redis.stop();
  t.same(await serversOn(redis.socketPath), []);
});

test('one that a killed gateway left behind is replaced, with its data, and not doubled', async (t) => {
  const dataDir = t.testdir();
  const killed = await owner(t, dataDir, 'setInterval(() => {}, 1e6)');
  await ask(killed.socketPath, 'SET', 'balance', '1000');
  killed.process.kill('SIGKILL');
  await once(killed.process, 'exit');
  t.equal((await serversOn(killed.socketPath)).length, 1, 'it survives its gateway');

  const next = await start(t, dataDir);
  t.equal(next.socketPath, killed.socketPath);
  t.equal((await serversOn(next.socketPath)).length, 1);
  t.equal(await ask(next.socketPath, 'GET', 'balance'), '1000');
  await next.stop();
  t.same(await serversOn(next.socketPath), []);
});

test('one left behind that hangs is replaced too', async (t) => {
  const dataDir = t.testdir();
  const killed = await owner(t, dataDir, 'setInterval(() => {}, 1e6)');
  killed.process.kill('SIGKILL');
  await once(killed.process, 'exit');
  const [pid = 0] = await serversOn(killed.socketPath);
  process.kill(pid, 'SIGSTOP');

  const next = await start(t, dataDir);
  const now = await serversOn(next.socketPath);
  t.equal(now.length, 1);
  t.not(now[0], pid);
});

test('a gateway that ends without a stop takes its Redis along', async (t) => {
  const ending = await owner(t, t.testdir(), 'process.stdin.once("data", () => process.exit(1))');
  const connection = connect(ending.socketPath);
  t.teardown(() => connection.destroy());
  await once(connection, 'connect');
  ending.process.stdin.write('end\n');
  await once(connection.resume(), 'close');
  t.pass('Redis hung up');
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

test('one whose folder is gone takes nobody along, and comes back with the folder', async (t) => {
  const dataDir = t.testdir();
  let failed = () => {};
  const noticed = new Promise<void>((resolve) => {
    failed = resolve;
  });
  const error = (details: object) => /ENOENT/.test(JSON.stringify(details)) && failed();
  const { socketPath } = await start(t, dataDir, { ...quiet, error });
  rmSync(join(dataDir, 'redis'), { recursive: true });
  const [pid = 0] = await serversOn(socketPath);
  process.kill(pid, 'SIGKILL');
  await noticed;

  mkdirSync(join(dataDir, 'redis'));
  const client = new Redis({ path: socketPath, retryStrategy: () => 20, maxRetriesPerRequest: null });
  client.on('error', () => {});
  t.teardown(() => client.disconnect());
  t.equal(await client.ping(), 'PONG');
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

test('a path with spaces works', async (t) => {
  const dataDir = `${t.testdir()}/my data`;
  const { socketPath } = await start(t, dataDir);
  t.equal(await ask(socketPath, 'PING'), 'PONG');
  t.equal((await serversOn(socketPath)).length, 1);
});

test('one that cannot start says why in a line', async (t) => {
  const dataDir = t.testdir({ redis: { appendonlydir: { 'appendonly.aof.manifest': 'not a manifest\n' } } });
  await t.rejects(startPrivateRedis(dataDir, quiet), {
    message: /^the private Redis did not start: .+redis\.log\)$/,
  });
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
