import type { Cluster, Redis } from 'ioredis';
import { nodesOf } from './connect.ts';

/**
 * What is wrong with how Redis keeps its data; empty: it persists and evicts nothing (specification section 1). Rejects where
 * Redis does not answer. A cluster that lacks a node does: the accounts of the others are served.
 */
export async function durabilityFaults(client: Redis | Cluster): Promise<string[]> {
  const faults = new Set<string>();
  // INFO and not CONFIG GET: hosted servers often refuse the latter.
  const infos = await Promise.allSettled(
    nodesOf(client).map(async (node) => `${await node.info('persistence')}${await node.info('memory')}`),
  );
  const answers = infos.filter((info) => info.status === 'fulfilled');
  if (answers.length === 0) throw new Error('no node of redis answers');
  if (answers.length < infos.length) faults.add('a node of the cluster does not answer');
  for (const { value: info } of answers) {
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
