import { Cluster, type Redis } from 'ioredis';
import type { Log } from '../../log/log.ts';
import type { BucketOwners } from './bucket-owners.ts';
import { nodesOf, type RedisClient } from './connect.ts';
import { ALL_BUCKETS } from './redis-keys.ts';

/** Whether Redis can do what an admission needs. The texts are public: no addresses or secrets. */
export interface RedisReport {
  /** False if no call can be admitted. */
  readonly ok: boolean;
  /** Why nodes take no writes: one sentence each; of a cluster, the others may. */
  readonly faults: readonly string[];
  /** Settings that let Redis lose data (specification section 1). */
  readonly durabilityFaults: readonly string[];
}

/** Redis is reachable and can't be used, whatever the gateway does. The message is one line for the operator. */
export class UnusableRedis extends Error {}

/** Answers within this time share one probe. */
const FRESH_MS = 1_000;

/**
 * Words of Redis' refusals of a script that writes; `isFinal`: waiting does not help, so it refuses a start. Other errors
 * mean that Redis doesn't answer.
 */
const REFUSALS: readonly (readonly [code: RegExp, words: string, isFinal?: true])[] = [
  [/\bREADONLY\b/, 'Redis is a replica and takes no writes: REDIS_URL must name the primary.', true],
  [/\bNOPERM\b|unknown command/i, 'Redis lets its user run no scripts (ACL: +@all -@admin ~*).', true],
  [/\bOOM\b/, 'Redis is full (maxmemory).'],
  [/\bLOADING\b/, 'Redis is loading its data.'],
  [/\bNOREPLICAS\b/, 'Redis has fewer replicas than min-replicas-to-write.'],
  [/\bMISCONF\b/, "Redis can't write to its disk."],
  [/\bCLUSTERDOWN\b/, 'The Redis cluster has a slot that no node serves.'],
  [/\bMASTERDOWN\b/, 'Redis is a replica without its primary.'],
  [/\bBUSY\b/, 'Redis is busy with a script.'],
];
const SILENT = 'Redis does not answer.';
const NO_INFO = 'its user may not run INFO, so nobody knows whether Redis persists (ACL: +info)';

interface NodeFault {
  readonly words: string;
  /** The server's own words, for the log and the refusal of a start. */
  readonly reason: string;
  readonly isFinal: boolean;
}

/**
 * Tries on every node of Redis what an admission does: a script that writes. The log has a line when a node begins to
 * refuse it, with the node's name, and one when it is back.
 */
export class RedisHealth {
  readonly #client: RedisClient;
  readonly #owners: BucketOwners;
  readonly #log: Log;
  readonly #down = new Map<string, string>();
  #last: { readonly startedAt: number; readonly report: Promise<RedisReport> } | undefined;

  constructor(client: RedisClient, owners: BucketOwners, log: Log) {
    this.#client = client;
    this.#owners = owners;
    this.#log = log;
  }

  /** Probes Redis, at most once a second for all callers. Never rejects. */
  report(): Promise<RedisReport> {
    const now = performance.now();
    if (this.#last === undefined || now - this.#last.startedAt >= FRESH_MS)
      this.#last = { startedAt: now, report: this.#probe() };
    return this.#last.report;
  }

  /** Rejects with UnusableRedis if Redis refuses writes for a reason that only the operator can end. */
  async requireUsable(): Promise<void> {
    await this.#requireDatabase();
    const faults = [...(await this.#faults()).values()];
    const [first] = faults;
    if (first && faults.every((fault) => fault?.isFinal)) {
      throw new UnusableRedis(`${first.words} Redis says: ${first.reason.split('\n', 1)[0]}`);
    }
  }

  /** The client would go on in database 0, which may be another program's. */
  async #requireDatabase(): Promise<void> {
    const { db } = this.#client.options as { db?: number };
    if (!db || this.#client instanceof Cluster) return;
    await this.#client.select(db).catch((error: Error) => {
      throw new UnusableRedis(`REDIS_URL names database ${db}, which Redis refuses: ${error.message}`);
    });
  }

  async #probe(): Promise<RedisReport> {
    const [found, durabilityFaults] = await Promise.all([this.#faults(), durabilityOf(this.#client)]);
    this.#note(found);
    const faults = [...found.values()].filter((fault) => fault !== undefined);
    const ok = faults.length < found.size;
    return {
      ok,
      faults: [...new Set(faults.map(({ words }) => words))],
      // A Redis that is loading, or away, reports nothing that could be trusted.
      durabilityFaults: ok ? durabilityFaults : [],
    };
  }

  /** The fault of each node that has buckets, by its name; undefined if it takes writes. */
  async #faults(): Promise<Map<string, NodeFault | undefined>> {
    const buckets = Map.groupBy(ALL_BUCKETS, (bucket) => this.#owners.ownerOf(bucket) ?? 'no node');
    const found = await Promise.all(
      [...buckets].map(async ([owner, [bucket = 0]]) => [owner, await this.#faultOf(owner, bucket)] as const),
    );
    return new Map(found);
  }

  async #faultOf(owner: string, bucket: number): Promise<NodeFault | undefined> {
    try {
      const commands = this.#owners.commandsOn(owner);
      if (!commands) throw new Error('no connection');
      await commands.tryWrite(bucket);
      return undefined;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const [, words = SILENT, isFinal = false] = REFUSALS.find(([code]) => code.test(reason)) ?? [];
      return { words, reason, isFinal };
    }
  }

  #note(found: ReadonlyMap<string, NodeFault | undefined>): void {
    for (const [redis, fault] of found) {
      const before = this.#down.get(redis);
      if (fault && fault.words !== before) {
        this.#log.error({ redis, reason: fault.reason }, `redis takes no writes: ${fault.words}`);
        this.#down.set(redis, fault.words);
      } else if (!fault && before !== undefined) {
        this.#log.info({ redis }, 'redis is back: it takes writes again');
        this.#down.delete(redis);
      }
    }
    // A node that has left the cluster will not be back.
    for (const redis of this.#down.keys()) if (!found.has(redis)) this.#down.delete(redis);
  }
}

/** Finds settings that let Redis lose data, of the nodes that report them. Never rejects. */
async function durabilityOf(client: Redis | Cluster): Promise<string[]> {
  const faults = new Set<string>();
  // INFO instead of CONFIG GET, which hosted servers often refuse.
  const infos = await Promise.allSettled(
    nodesOf(client).map(async (node) => `${await node.info('persistence')}${await node.info('memory')}`),
  );
  for (const info of infos) {
    if (info.status === 'rejected') {
      if (/\bNOPERM\b|unknown command/i.test(String(info.reason))) faults.add(NO_INFO);
      else if (client instanceof Cluster) faults.add('a node of the cluster does not answer');
      continue;
    }
    if (!/^aof_enabled:1\s*$/m.test(info.value)) {
      faults.add(
        'append-only persistence is off (appendonly no): a restart of Redis loses credits and holds',
      );
    }
    const policy = /^maxmemory_policy:(\S+)/m.exec(info.value)?.[1];
    if (policy && policy !== 'noeviction') {
      faults.add(`maxmemory-policy is ${policy}: Redis may drop balances (use noeviction)`);
    }
  }
  return [...faults];
}
