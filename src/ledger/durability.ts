import type { Cluster, Redis } from 'ioredis';
import { nodesOf } from './connect-redis.ts';

/** What is wrong with how Redis keeps its data; empty: it persists and evicts nothing (contract section 1). */
export async function durabilityFaults(client: Redis | Cluster): Promise<string[]> {
  const faults = new Set<string>();
  // INFO and not CONFIG GET: hosted servers often refuse the latter.
  const infos = await Promise.all(
    nodesOf(client).map(async (node) => `${await node.info('persistence')}${await node.info('memory')}`),
  );
  for (const info of infos) {
    if (!/^aof_enabled:1\s*$/m.test(info)) {
      faults.add(
        'append-only persistence is off (appendonly no): a restart of Redis loses credits and holds',
      );
    }
    const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1];
    if (policy && policy !== 'noeviction') {
      faults.add(`maxmemory-policy is ${policy}: Redis may drop balances (use noeviction)`);
    }
  }
  return [...faults];
}
