import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findRedisServer } from '../src/redis-server/server.ts';
import { freePort } from '../test/helper/start/redis-process.ts';
import type { Cleanup } from './cleanup.ts';
import { startListener } from './program.ts';

/**
 * Starts a Redis that several gateways can share, with the persistence of a private one. Returns its `redis://` URL.
 */
export async function startSharedRedis(cleanup: Cleanup): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), 'tollgate-bench-redis-'));
  cleanup.add(() => rmSync(dir, { recursive: true, force: true }));
  const port = await freePort();
  const settings = {
    port: String(port),
    bind: '127.0.0.1',
    dir,
    appendonly: 'yes',
    appendfsync: 'everysec',
    save: '',
    'maxmemory-policy': 'noeviction',
  };
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
  await startListener(cleanup, findRedisServer(), args, port);
  return `redis://127.0.0.1:${port}`;
}
