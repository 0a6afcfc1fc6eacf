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
  /** Resumes it (SIGCONT). */
  thaw(): void;
  /**
   * Opens the test's own connection, which prefixes Redis keys as src/ledger/redis/redis-keys.ts does; some must exist.
   */
  connect(): Promise<Redis>;
}

/**
 * Starts a Redis that ends with the test. `settings` are its command-line options without the dashes. `dir` is the
 * parent of its data folder.
 */
export async function startRedis(t: Scope, settings: Record<string, string> = {}): Promise<RedisProcess> {
  const folder = mkdtempSync(join(settings.dir ?? tmpdir(), 'tollgate-redis-'));
  let port = settings.port === undefined ? await freePort() : Number(settings.port);
  let child: ChildProcess | undefined;
  const connections: Redis[] = [];
  // Even without fsync, a kill loses nothing. With it, a slow disk would delay replies and writes.
  const fsync = { appendonly: 'yes', appendfsync: 'no' };
  const all = { bind: '127.0.0.1', ...fsync, save: '', ...settings, dir: folder };
  const args = Object.entries(all).flatMap(([name, value]) => [`--${name}`, String(value)]);

  async function kill(): Promise<void> {
    if (child?.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  }
  async function start(): Promise<void> {
    const started = spawn(findRedisServer(), [...args, '--port', String(port)], { stdio: 'ignore' });
    child = started;
    endWithProcess(started);
    const probe = new Redis(port, '127.0.0.1', { lazyConnect: true, retryStrategy: () => 20 });
    probe.on('error', () => {});
    const hasEnded = () => started.exitCode !== null || started.signalCode !== null;
    await until('Redis to answer', async () => hasEnded() || (await probe.ping().catch(() => undefined)));
    probe.disconnect();
    if (hasEnded()) throw new Error(`Redis did not start on port ${port}`);
  }
  /** Another process may take a free port before this one does. */
  async function startOnFreePort(): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        return await start();
      } catch (error) {
        if (settings.port !== undefined || tries === MAX_PORTS) throw error;
        port = await freePort();
      }
    }
  }
  t.teardown(async () => {
    for (const connection of connections) connection.disconnect();
    await kill();
    rmSync(folder, { recursive: true, force: true });
  });
  await startOnFreePort();
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
      return open(prefixOf(await open('').keys('*tg:*')));
    },
  };
}

/**
 * The prefix of the Redis keys of a book (src/ledger/redis/redis-keys.ts), from names that all have it: up to the first
 * colon. A search for `tg:` would find it in the id of one book in 4,096. '' without names.
 */
export function prefixOf([name = '']: readonly string[]): string {
  return name.slice(0, name.indexOf(':') + 1);
}

/** An unused port on loopback. */
export async function freePort(): Promise<number> {
  const [port] = await freePorts(1);
  return port as number;
}

/**
 * Time limit for a reply of Redis, long enough for a busy machine, in tests about other things. Tests of the real limit
 * of 6 s start a gateway as deployed, in test/process (redis-slow, redis-silent, lost-replies), or a ledger, in
 * test/ledger (slow-redis, late-admissions).
 */
export const REDIS_TIMEOUT_MS = 20_000;

/**
 * First port to try. These ports, and those of a cluster's bus 10,000 above, are below the range of ephemeral ports. A
 * busy machine may take an ephemeral port at any time, even while a server is down.
 */
const FIRST = 12_000;
const COUNT = 10_000;

/** Maximum free ports that a server tries. */
export const MAX_PORTS = 5;

/** Finds `count` unused ports on loopback. */
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
