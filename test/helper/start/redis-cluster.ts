import { Command, Redis } from 'ioredis';
import { until } from '../check/until.ts';
import { freePorts, type RedisProcess, startRedis } from './redis-process.ts';
import type { Scope } from './scope.ts';

const SLOTS = 16_384;

export interface RedisCluster {
  /** URL `redis+cluster://…` with one node only, through which the others are found. */
  readonly url: string;
  /** The nodes that were masters at the start. */
  readonly nodes: readonly RedisProcess[];
  /** One replica of each master, in the same order; empty without replicas. */
  readonly replicas: readonly RedisProcess[];
  /** The node that has the slot of a Redis key now. */
  ownerOf(name: string): Promise<RedisProcess>;
  /**
   * Moves the slot of a Redis key to another master, key by key, as resharding does. Awaits `halfway` when half of the
   * keys have moved.
   */
  moveSlot(name: string, to: RedisProcess, halfway?: () => Promise<unknown>): Promise<void>;
  /** Resolves when every node is up, every replica is connected, and all nodes agree about the slots. */
  whole(): Promise<void>;
}

export interface ClusterOptions {
  readonly withReplicas?: boolean;
  readonly nodeTimeoutMs?: number;
  /** Further settings of each node. */
  readonly settings?: Record<string, string>;
  /** Maps the port of a node to the port at which clients and replicas reach it, such as that of a proxy. */
  readonly front?: (port: number) => Promise<number>;
}

/** Starts three real masters on loopback that share the slots, optionally with a replica each. */
export async function startCluster(t: Scope, options: ClusterOptions = {}): Promise<RedisCluster> {
  const {
    withReplicas = false,
    nodeTimeoutMs = 2_000,
    settings = {},
    front = async (port) => port,
  } = options;
  const count = withReplicas ? 6 : 3;
  const ports = await freePorts(2 * count);
  const fronts = await Promise.all(ports.slice(0, count).map(front));
  const all = await Promise.all(
    Array.from({ length: count }, (_, index) =>
      startRedis(t, {
        port: String(ports[index]),
        'cluster-enabled': 'yes',
        'cluster-node-timeout': String(nodeTimeoutMs),
        // While a master is away, the others still serve their slots.
        'cluster-require-full-coverage': 'no',
        'repl-diskless-sync-delay': '0',
        // Clients see a replica once it has heard from its master, which by default can take 10 s.
        'repl-ping-replica-period': '1',
        // The default is the port + 10,000, which may be beyond 65,535 or in use.
        'cluster-port': String(ports[count + index]),
        ...(fronts[index] === ports[index] ? {} : { 'cluster-announce-port': String(fronts[index]) }),
        ...settings,
      }),
    ),
  );
  const nodes = all.slice(0, 3);
  const replicas = all.slice(3);
  const connections = new Map(all.map((node) => [node, connectTo(t, node)]));
  const raw = (node: RedisProcess) => connections.get(node) as Redis;
  await join(nodes.map(raw));
  for (const [index, replica] of replicas.entries()) {
    await follow(raw(replica), raw(nodes[index] as RedisProcess));
  }
  await Promise.all(all.map((node) => hasMet(raw(node), all.map(raw))));
  const slotOf = (name: string) => new Command('get', [name]).getSlot();
  const ownerOf = async (name: string) => {
    const port = await Promise.any(all.map(async (node) => ownerPort(raw(node), slotOf(name))));
    return all[fronts.indexOf(port)] as RedisProcess;
  };
  return {
    url: `redis+cluster://127.0.0.1:${fronts[0]}`,
    nodes,
    replicas,
    ownerOf,
    async moveSlot(name, to, halfway) {
      const from = await ownerOf(name);
      const masters = await mastersAmong(all.map(raw));
      await migrate(slotOf(name), { from: raw(from), to: raw(to), masters, halfway });
    },
    async whole() {
      await Promise.all(all.map((node) => isWhole(raw(node), all.length)));
      await Promise.all(all.map((node) => hasItsMaster(raw(node))));
      await agree(all.map(raw), fronts);
    },
  };
}

function connectTo(t: Scope, { port }: RedisProcess): Redis {
  const connection = new Redis(port, '127.0.0.1', { maxRetriesPerRequest: 0, retryStrategy: () => 50 });
  connection.on('error', () => {});
  t.teardown(() => connection.disconnect());
  return connection;
}

async function isWhole(node: Redis, known: number): Promise<void> {
  let info = '';
  const facts = ['cluster_state:ok', `cluster_slots_ok:${SLOTS}`, `cluster_known_nodes:${known}`];
  const asked = async () => {
    info = String(await node.cluster('INFO').catch(() => ''));
    return facts.every((fact) => info.includes(fact));
  };
  await until('the cluster to be whole', asked).catch((error: Error) => {
    throw new Error(`${error.message}: ${info}`);
  });
}

const MEET_AGAIN_MS = 5_000;

/**
 * Resolves when the cluster is complete for a node. Repeats the handshake meanwhile: on a busy machine it can take
 * longer than `cluster-node-timeout`, after which two nodes forget each other.
 */
async function hasMet(node: Redis, all: readonly Redis[]): Promise<void> {
  const again = setInterval(() => {
    for (const other of all) if (other !== node) meet(node, other).catch(() => {});
  }, MEET_AGAIN_MS);
  try {
    await isWhole(node, all.length);
  } finally {
    clearInterval(again);
  }
}

/** Joins the masters to a cluster, like `redis-cli --cluster create`, which may not be installed. */
async function join(masters: readonly Redis[]): Promise<void> {
  for (const [index, master] of masters.entries()) {
    const first = Math.ceil((SLOTS / masters.length) * index);
    const last = Math.ceil((SLOTS / masters.length) * (index + 1)) - 1;
    await master.call('CLUSTER', 'SET-CONFIG-EPOCH', index + 1);
    await master.call('CLUSTER', 'ADDSLOTSRANGE', first, last);
    if (index > 0) await meet(masters[0] as Redis, master);
  }
  await Promise.all(masters.map((master) => hasMet(master, masters)));
}

async function meet(member: Redis, other: Redis): Promise<void> {
  const [, busPort = ''] = (await other.config('GET', 'cluster-port')) as string[];
  await member.call('CLUSTER', 'MEET', '127.0.0.1', String(other.options.port), busPort);
}

async function follow(replica: Redis, master: Redis): Promise<void> {
  await meet(replica, master);
  const id = String(await master.call('CLUSTER', 'MYID'));
  await until('the replica to know its master', () =>
    replica.call('CLUSTER', 'REPLICATE', id).then(
      () => true,
      () => false,
    ),
  );
  await hasItsMaster(replica);
}

async function hasItsMaster(node: Redis): Promise<void> {
  await until('the replica to have it all', async () => {
    const info = await node.info('replication').catch(() => '');
    return info.includes('role:master') || info.includes('master_link_status:up');
  });
}

async function mastersAmong(nodes: readonly Redis[]): Promise<Redis[]> {
  const infos = await Promise.all(nodes.map((node) => node.info('replication').catch(() => '')));
  return nodes.filter((_, index) => infos[index]?.includes('role:master'));
}

/** Resolves when every node lists the same masters and replicas, at the ports `fronts` and no others. */
async function agree(nodes: readonly Redis[], fronts: readonly number[]): Promise<void> {
  await until('the nodes to agree', async () => {
    const views = await Promise.all(nodes.map((node) => viewOf(node).catch(() => [])));
    const ports = new Set(views[0]?.flatMap(({ ports }) => ports));
    const isSame = new Set(views.map((view) => JSON.stringify(view))).size === 1;
    return isSame && ports.size === nodes.length && fronts.every((port) => ports.has(port));
  });
}

async function viewOf(node: Redis): Promise<{ first: number; last: number; ports: number[] }[]> {
  const ranges = (await node.call('CLUSTER', 'SLOTS')) as [number, number, ...[string, number][]][];
  return ranges
    .map(([first, last, ...members]) => ({ first, last, ports: members.map(([, port]) => port) }))
    .sort((a, b) => a.first - b.first);
}

async function ownerPort(node: Redis, slot: number): Promise<number> {
  const ranges = (await node.call('CLUSTER', 'SLOTS')) as [number, number, [string, number]][];
  const range = ranges.find(([first, last]) => first <= slot && slot <= last);
  if (!range) throw new Error(`nobody has slot ${slot}`);
  return range[2][1];
}

/** Moves a slot as the Redis Cluster specification says: IMPORTING, MIGRATING, the keys, then NODE at every master. */
async function migrate(
  slot: number,
  plan: { from: Redis; to: Redis; masters: Redis[]; halfway?: (() => Promise<unknown>) | undefined },
): Promise<void> {
  const { from, to, masters, halfway = async () => {} } = plan;
  const [source, target] = (await Promise.all(
    [from, to].map((node) => node.call('CLUSTER', 'MYID')),
  )) as string[];
  if (source === target) return;
  await to.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', String(source));
  await from.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', String(target));
  const half = Math.ceil(Number(await from.call('CLUSTER', 'COUNTKEYSINSLOT', slot)) / 2);
  for (let moved = 0; ; moved++) {
    if (moved === half) await halfway();
    // One key at a time, so that the slot is divided between two masters for as long as possible.
    const keys = (await from.call('CLUSTER', 'GETKEYSINSLOT', slot, 1)) as string[];
    if (keys.length === 0) break;
    const { port = 0 } = to.options;
    await from.call('MIGRATE', '127.0.0.1', port, '', 0, 5_000, 'KEYS', ...keys);
  }
  for (const node of [to, from, ...masters]) {
    await node.call('CLUSTER', 'SETSLOT', slot, 'NODE', String(target));
  }
}
