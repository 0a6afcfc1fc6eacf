import { execFileSync } from 'node:child_process';
import type { Test } from 'tap';
import { findRedisServer } from '../../src/ledger/redis-binary.ts';
import { freePort, type RedisProcess, startRedis } from './redis-process.ts';
import { until } from './until.ts';

export interface RedisCluster {
  /** `redis+cluster://…`, naming one node only: the others are found through it. */
  readonly url: string;
  readonly nodes: readonly RedisProcess[];
}

/** Three real masters on loopback that share the slots. */
export async function startCluster(t: Test): Promise<RedisCluster> {
  const nodes = await Promise.all(
    Array.from({ length: 3 }, async () =>
      startRedis(t, {
        'cluster-enabled': 'yes',
        'cluster-node-timeout': '2000',
        // By default the port + 10,000, which may be beyond 65,535 or taken.
        'cluster-port': String(await freePort()),
      }),
    ),
  );
  const client = findRedisServer().replace(/-server$/, '-cli');
  const addresses = nodes.map(({ port }) => `127.0.0.1:${port}`);
  execFileSync(client, ['--cluster', 'create', ...addresses, '--cluster-yes'], { stdio: 'pipe' });
  for (const node of nodes) {
    const raw = await node.connect();
    await until('the cluster to be whole', async () =>
      (await raw.cluster('INFO')).includes('cluster_state:ok'),
    );
  }
  return { url: `redis+cluster://${addresses[0]}`, nodes };
}
