import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Cluster, Redis } from 'ioredis';
import { BUCKETS, journalRedisKey } from '../../src/ledger/redis/redis-keys.ts';
import { startCluster } from '../helper/redis-cluster.ts';
import { type RedisProcess, startRedis } from '../helper/redis-process.ts';
import type { Scope } from '../helper/scope.ts';
import { type RedisNode, Shard } from './shard.ts';
import { startWire, type Watcher, type Whose, type Wire } from './wire.ts';

/** Redis as a history has it: one server, or a cluster of three masters with a replica each. */
export interface LiveRedis {
  /** As nobody in particular: no fault is meant for those who use it. */
  readonly url: string;
  readonly shards: readonly Shard[];
  /** What a gateway is told: with a name that its wires know it by. */
  urlFor(slot: number): string;
  /** All of it, on names of src/ledger/redis/redis-keys.ts. A book must have written some. */
  connect(): Promise<Redis | Cluster>;
  /** Moves a bucket to another shard; `halfway` is waited for when half of its names have gone. Cluster only. */
  move(bucket: number, to: Shard, halfway: () => Promise<unknown>): Promise<void>;
}

export interface RedisPlan {
  /** For files. */
  readonly folder: string;
  readonly gateways: number;
  readonly watcher: Watcher;
}

const ALL = Array.from({ length: BUCKETS }, (_, bucket) => bucket);
const NAME = 'gateway-';
/** Long enough that a busy machine is not taken for a dead node. */
const NODE_TIMEOUT_MS = 1_500;

export async function startSingle(scope: Scope, plan: RedisPlan): Promise<LiveRedis> {
  const process = await startRedis(scope, { aclfile: usersFile(plan) });
  const wire = await startWire(scope, process.port, plan.watcher, whose);
  const nodes = nodesOf(scope, [process], [wire]);
  const shard = new Shard({ master: nodes[0] as RedisNode, buckets: ALL, whole: async () => {} });
  return {
    url: process.url,
    shards: [shard],
    urlFor: (slot) => `redis://${NAME}${slot}:any@127.0.0.1:${wire.port}`,
    async connect() {
      await name(nodes);
      return shard.master.raw;
    },
    async move() {
      throw new Error('one server has nothing to move');
    },
  };
}

/**
 * One wire for each node, which the node announces as its own port: whoever asks the cluster for its nodes is led through
 * it, replicas too. Replicas take over only when they are let: else a node that a busy machine keeps waiting would lose
 * its place, and its last writes, unseen by the driver.
 */
export async function startSharded(scope: Scope, plan: RedisPlan): Promise<LiveRedis> {
  const wires = new Map<number, Wire>();
  const cluster = await startCluster(scope, {
    withReplicas: true,
    nodeTimeoutMs: NODE_TIMEOUT_MS,
    settings: { aclfile: usersFile(plan), 'cluster-replica-no-failover': 'yes' },
    async front(port) {
      const wire = await startWire(scope, port, plan.watcher, whose);
      wires.set(port, wire);
      return wire.port;
    },
  });
  await cluster.whole();
  const processes = [...cluster.nodes, ...cluster.replicas];
  const nodes = nodesOf(
    scope,
    processes,
    processes.map(({ port }) => wires.get(port) as Wire),
  );
  const owners = await Promise.all(ALL.map((bucket) => cluster.ownerOf(journalRedisKey(bucket))));
  const shards = cluster.nodes.map(
    (process, index) =>
      new Shard({
        master: nodes[index] as RedisNode,
        replica: nodes[cluster.nodes.length + index],
        buckets: ALL.filter((bucket) => owners[bucket] === process),
        whole: () => cluster.whole(),
      }),
  );
  return {
    url: cluster.url,
    shards,
    urlFor: (slot) => cluster.url.replace('//', `//${NAME}${slot}:any@`),
    async connect() {
      const keyPrefix = await name(nodes);
      const all = new Cluster(
        processes.map(({ port }) => ({ host: '127.0.0.1', port })),
        { keyPrefix },
      );
      all.on('error', () => {});
      scope.teardown(() => all.disconnect());
      return all;
    },
    async move(bucket, to, halfway) {
      await cluster.moveSlot(journalRedisKey(bucket), to.master.process, halfway);
      for (const shard of shards) shard.buckets.delete(bucket);
      to.buckets.add(bucket);
    },
  };
}

/** Each gateway has a user of its own, so that a wire knows whose a connection is. Any password will do. */
function usersFile({ folder, gateways }: RedisPlan): string {
  const users = Array.from({ length: gateways }, (_, slot) => `user ${NAME}${slot} on nopass ~* &* +@all`);
  const file = join(folder, 'users.acl');
  writeFileSync(file, ['user default on nopass ~* &* +@all', ...users, ''].join('\n'));
  return file;
}

function whose(bytes: Buffer): Whose | undefined {
  const text = bytes.toString('latin1');
  const slot = new RegExp(`${NAME}(\\d)`).exec(text)?.[1];
  if (slot !== undefined) return Number(slot);
  return text.includes('REPLCONF') ? 'replica' : undefined;
}

/** The driver's own connections; `name` tells them how names begin. */
function nodesOf(scope: Scope, processes: readonly RedisProcess[], wires: readonly Wire[]): RedisNode[] {
  return processes.map((process, index) => {
    const raw = new Redis(process.port, '127.0.0.1', { keyPrefix: '', retryStrategy: () => 50 });
    raw.on('error', () => {});
    scope.teardown(() => raw.disconnect());
    return { process, wire: wires[index] as Wire, raw };
  });
}

async function name(nodes: readonly RedisNode[]): Promise<string> {
  const lists = await Promise.all(nodes.map(({ raw }) => raw.keys('*tg:*')));
  const [some = ''] = lists.flat();
  const keyPrefix = some.slice(0, some.indexOf('tg:'));
  for (const { raw } of nodes) raw.options.keyPrefix = keyPrefix;
  return keyPrefix;
}
