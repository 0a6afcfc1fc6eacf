import { Redis } from 'ioredis';
import type { Test } from 'tap';
import type { Log } from '../../src/log/log.ts';
import { startPrivateRedis } from '../../src/redis-server/server.ts';

export const quiet: Log = { debug() {}, info() {}, warn() {}, error() {} };

export async function start(t: Test, dataDir: string, log = quiet) {
  const redis = await startPrivateRedis(dataDir, log);
  t.teardown(() => redis.stop());
  return redis;
}

/** One command on a connection of its own. */
export async function ask(socketPath: string, command: string, ...args: string[]): Promise<unknown> {
  const client = new Redis({ path: socketPath, maxRetriesPerRequest: 0 });
  try {
    return await client.call(command, ...args);
  } finally {
    client.disconnect();
  }
}
