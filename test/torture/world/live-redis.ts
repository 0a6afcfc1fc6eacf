import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Cluster, Redis } from 'ioredis';
import { BUCKETS, journalRedisKey } from '../../../src/ledger/redis/redis-keys.ts';
import { startCluster } from '../../helper/start/redis-cluster.ts';
import { prefixOf, type RedisProcess, startRedis } from '../../helper/start/redis-process.ts';
import type { Scope } from '../../helper/start/scope.ts';
import { type RedisNode, Shard } from './shard.ts';
import { startWire, type Watcher, type Whose, type Wire } from './wire.ts';

/** The Redis of a history: one server, or a cluster of three masters with a replica each. */
export interface LiveRedis {
  /** URL that belongs to no gateway, so its users have no faults of a gateway's connections. */
  readonly url: string;
  readonly shards: readonly Shard[];
  /** URL for the gateway in a slot, with a user name by which the wires recognize its connections. */
  urlFor(slot: number): string;
  /** Connects to all of it and prefixes Redis keys as src/ledger/redis/redis-keys.ts does; some must exist. */
  connect(): Promise<Redis | Cluster>;
  /** Moves a bucket to another shard and awaits `halfway` when half of its keys have moved. For clusters only. */
  move(bucket: number, to: Shard, halfway: () => Promise<unknown>): Promise<void>;
}

export interface RedisPlan {
  /** Folder for files. */
  readonly folder: string;
  readonly gateways: number;
  readonly watcher: Watcher;
}

const ALL = Array.from({ length: BUCKETS }, (_, bucket) => bucket);
const NAME = 'gateway-';
/** Time after which a node counts as dead, long enough for a busy machine. */
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
 * Starts a cluster with a wire before each node. The node announces the wire's port as its own, so that all clients and
 * replicas go through it. Replicas take over only when the driver allows it: a node that a busy machine delays would
 * otherwise lose its place and its last writes without the driver's knowledge.
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

/**
 * Writes the file of Redis users: one for each gateway, with any password. A wire identifies connections by their user.
 */
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

/** The nodes with the driver's own connections, which prefix Redis keys once the prefix is known. */
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
  const keyPrefix = prefixOf(lists.flat());
  if (keyPrefix === '') throw new Error('no gateway has written to this Redis');
  for (const { raw } of nodes) raw.options.keyPrefix = keyPrefix;
  return keyPrefix;
}
