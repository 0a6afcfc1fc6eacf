import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { findRedisServer } from '../../../src/redis-server/server.ts';
import { until } from '../check/until.ts';
import { endWithProcess } from './end-with-process.ts';
import type { Scope } from './scope.ts';

/** A real Redis on a port of loopback, with append-only persistence, that gateways can share. */
export interface RedisProcess {
  readonly port: number;
  readonly url: string;
  /** Folder of its data. */
  readonly folder: string;
  /** Sends SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>;
  /** Starts it again on the same port and data; resolves when it answers. */
  start(): Promise<void>;
  /** Suspends it with its connections open (SIGSTOP). */
  freeze(): void;
  /** Lets it go on (SIGCONT). */
  thaw(): void;
  /**
   * Opens the test's own connection, which prefixes Redis keys as src/ledger/redis/redis-keys.ts does; some must exist.
   */
  connect(): Promise<Redis>;
}

/**
 * Starts a Redis that ends with the test. `settings` are those of its command line without the dashes; `dir` is the
 * folder in which the folder of its data is made.
 */
export async function startRedis(t: Scope, settings: Record<string, string> = {}): Promise<RedisProcess> {
  const folder = mkdtempSync(join(settings.dir ?? tmpdir(), 'tollgate-redis-'));
  const port = settings.port === undefined ? await freePort() : Number(settings.port);
  let child: ChildProcess | undefined;
  const connections: Redis[] = [];
  // Without fsync a kill loses nothing, and a slow disk keeps no reply waiting, nor a write back until its fsync is done.
  const fsync = { appendonly: 'yes', appendfsync: 'no' };
  const all = { port, bind: '127.0.0.1', ...fsync, save: '', ...settings, dir: folder };
  const args = Object.entries(all).flatMap(([name, value]) => [`--${name}`, String(value)]);

  async function kill(): Promise<void> {
    if (child?.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  }
  async function start(): Promise<void> {
    child = spawn(findRedisServer(), args, { stdio: 'ignore' });
    endWithProcess(child);
    const probe = new Redis(port, '127.0.0.1', { lazyConnect: true, retryStrategy: () => 20 });
    probe.on('error', () => {});
    await until('Redis to answer', () => probe.ping().catch(() => undefined));
    probe.disconnect();
  }
  t.teardown(async () => {
    for (const connection of connections) connection.disconnect();
    await kill();
    rmSync(folder, { recursive: true, force: true });
  });
  await start();
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    folder,
    kill,
    start,
    freeze: () => void child?.kill('SIGSTOP'),
    thaw: () => void child?.kill('SIGCONT'),
    async connect() {
      const open = (keyPrefix: string) => {
        const connection = new Redis(port, '127.0.0.1', { keyPrefix });
        connection.on('error', () => {});
        connections.push(connection);
        return connection;
      };
      const [name = ''] = await open('').keys('*tg:*');
      return open(name.slice(0, name.indexOf('tg:')));
    },
  };
}

/** A port on loopback that nobody listens on. */
export async function freePort(): Promise<number> {
  const [port] = await freePorts(1);
  return port as number;
}

/**
 * Time for a reply of Redis in tests of other things, as a busy machine needs it. That a gateway waits for 6 s and no
 * longer is proven where it is started as it is deployed, in test/process (redis-slow, redis-silent, lost-replies), and in
 * test/ledger (slow-redis, late-admissions).
 */
export const REDIS_TIMEOUT_MS = 20_000;

/**
 * First port to try. These ports, and those of a cluster's bus 10,000 above them, are below the range of ephemeral
 * ports, of which a busy machine may take one at any time, also while a server is down.
 */
const FIRST = 12_000;
const COUNT = 10_000;

/** Finds `count` different ports on loopback that nobody listens on. */
export async function freePorts(count: number): Promise<number[]> {
  const held = [];
  while (held.length < count) {
    const port = FIRST + Math.floor(Math.random() * COUNT);
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (isFree) held.push({ port, server });
  }
  for (const { server } of held) {
    server.close();
    await once(server, 'close');
  }
  return held.map(({ port }) => port);
}
