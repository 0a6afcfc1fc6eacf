import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { Redis } from 'ioredis';
import { type Test, test } from 'tap';
import { serversOn } from '../../src/redis-server/leftover.ts';
import { startPrivateRedis } from '../../src/redis-server/server.ts';
import { ask, quiet, start } from './start.ts';

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

test('data survives a stop and a start', async (t) => {
  const dataDir = t.testdir();
  const first = await start(t, dataDir);
  await ask(first.socketPath, 'SET', 'balance', '1000');
  await first.stop();
  const second = await start(t, dataDir);
  t.equal(await ask(second.socketPath, 'GET', 'balance'), '1000');
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
