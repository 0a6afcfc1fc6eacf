import { Cluster, Redis } from 'ioredis';
import type { RedisAddress } from '../../config/redis-url.ts';
import type { Log } from '../../log/log.ts';
import { addScripts, type ScriptClient } from './scripts.ts';

/**
 * Milliseconds after which a reply counts as lost; the caller must then assume nothing. As long as the release of lost holds
 * within 10 s allows (PROOF.md, "Late admissions"): a machine that is short of processor time is slow, and
 * not broken.
 */
export const COMMAND_TIMEOUT_MS = 6_000;
/**
 * Time without any reply after which a connection is replaced, as a multiple of that for a reply. Without it, a network that
 * dropped packets for a while would keep a gateway from Redis for as long as TCP waits before it sends again: minutes.
 */
const SILENCE = 1.25;
/** Part of that time within which Redis must execute an admission; the rest is for the way of its reply. */
const ADMISSION = 5 / 6;

/** Milliseconds after it was written within which Redis executes an admission; later, it refuses it. */
export function admitWithinMs(timeoutMs: number): number {
  return timeoutMs * ADMISSION;
}

/** Milliseconds of one attempt to connect. On loopback and a load of 35 on two cores, attempts took more than one second. */
const CONNECT_TIMEOUT_MS = 3_000;

/**
 * Settings that make a lost reply a rejection instead of a second debit or a hang: nothing waits in an offline queue, and
 * nothing in flight is sent again on reconnect. A caller that asks again does so with its request id of before.
 */
function safeOptions(name: string, timeoutMs: number) {
  return {
    connectionName: `tollgate-${name}`,
    commandTimeout: timeoutMs,
    connectTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: SILENCE * timeoutMs,
    maxRetriesPerRequest: 0,
    lazyConnect: true,
    noDelay: true,
  };
}

const SINGLE = { enableOfflineQueue: false, retryStrategy: reconnectDelayMs };

function reconnectDelayMs(attempt: number): number {
  return Math.min(20 * 2 ** Math.min(attempt, 6), 1_000);
}

export type RedisClient = (Redis | Cluster) & ScriptClient;

/**
 * A connection that is not open yet: call connectRedis. `keyPrefix` is put before every Redis key; `timeoutMs` is the time
 * within which a reply must come.
 */
export function createRedis(
  address: RedisAddress,
  options: { name: string; keyPrefix: string; log: Log; timeoutMs?: number },
): RedisClient {
  const { name, keyPrefix, log, timeoutMs = COMMAND_TIMEOUT_MS } = options;
  const safe = safeOptions(name, timeoutMs);
  const client =
    address.kind === 'cluster'
      ? new RedisCluster([...address.nodes], {
          redisOptions: { ...safe, ...address.auth },
          keyPrefix,
          enableOfflineQueue: false,
          lazyConnect: true,
          clusterRetryStrategy: reconnectDelayMs,
          // A slot that is moving answers MOVED, ASK or TRYAGAIN: following those is not a second execution. A bucket
          // that is partly on either node answers TRYAGAIN until all of it has moved; a command gives up after
          // COMMAND_TIMEOUT_MS.
          maxRedirections: 200,
          retryDelayOnTryAgain: 20,
          retryDelayOnClusterDown: 100,
        })
      : address.kind === 'socket'
        ? new Redis({ ...safe, ...SINGLE, keyPrefix, path: address.path })
        : new Redis(address.url, { ...safe, ...SINGLE, keyPrefix });
  // Without a listener an 'error' event would end the process; every command rejects by itself anyway.
  let last = '';
  client.on('error', (error: Error) => {
    if (error.message !== last) log.warn({ redis: name, reason: error.message }, 'redis connection error');
    last = error.message;
  });
  client.on('ready', () => {
    last = '';
  });
  return addScripts(client);
}

/**
 * Opens the connection, to every master of a cluster, and resolves when commands can be sent. Rejects with the connection's
 * error at the first attempt that fails; an attempt that only takes too long is repeated until `withinMs` is over. The client
 * goes on trying until it is disconnected.
 */
export async function connectRedis(client: RedisClient, withinMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('redis is not ready in time')), withinMs);
  });
  // A cluster's connect() never settles if its first ready check fails, though a later one passes.
  const ready = new Promise((resolve) => client.once('ready', resolve));
  let heard: Error | undefined;
  const hear = (error: Error) => {
    heard = error;
  };
  client.on('error', hear);
  const connected = client.connect().catch((error: unknown) => {
    if (!tookTooLong(heard)) throw error;
    return ready;
  });
  try {
    await Promise.race([connected, ready, patience]);
    // A cluster connects to each node at its first command, and refuses the next ones until that is done.
    if (client instanceof Cluster) await Promise.all(nodesOf(client).map((node) => node.ping()));
  } catch (error) {
    // The connection's own error says why (no server, an untrusted certificate), if ioredis says "Connection is closed."
    throw heard ?? error;
  } finally {
    client.off('error', hear);
    clearTimeout(timer);
  }
}

/** Connections of a client: to each master of a cluster, or to the one server. */
export function nodesOf(client: Redis | Cluster): Redis[] {
  return client instanceof Cluster ? client.nodes('master') : [client];
}

const CLOSED = 'Connection is closed.';
/** What ioredis says of an attempt that CONNECT_TIMEOUT_MS ended, and of a cluster's node that did not answer within 1 s. */
const TOOK_TOO_LONG: ReadonlySet<string | undefined> = new Set(['connect ETIMEDOUT', 'timeout']);

/** Whether an error of the connection says that an attempt only took too long; a cluster's has that of the last node. */
function tookTooLong(error: (Error & { readonly lastNodeError?: Error }) | undefined): boolean {
  return TOOK_TOO_LONG.has((error?.lastNodeError ?? error)?.message);
}
const MOVED = /^MOVED (\d+) /;

/** The ways in which ioredis can handle a command that failed; only those that we choose ourselves are named here. */
interface Handlers {
  readonly defaults: () => void;
}

/**
 * ioredis' Cluster with two of its decisions changed.
 *
 * A command whose connection ended is rejected and not sent again: it may have been executed, and only the caller knows
 * how to find out. A command that a node refuses with MOVED has not been executed; it follows its slot only when
 * `beforeMove` lets it, because a replica that has just taken over may lack writes that its master had acknowledged.
 */
export class RedisCluster extends Cluster {
  /** Delays a command until the promise resolves; undefined: not at all. If it rejects, the command fails with MOVED. */
  beforeMove: (slot: number) => Promise<void> | undefined = () => undefined;

  override handleError(error: Error, ttl: { value?: number }, handlers: Handlers): void {
    if (error.message === CLOSED) {
      this.refreshSlotsCache();
      handlers.defaults();
      return;
    }
    const slot = MOVED.exec(error.message)?.[1];
    const moved = slot === undefined ? undefined : this.beforeMove(Number(slot));
    if (!moved) {
      super.handleError(error, ttl, handlers);
      return;
    }
    this.refreshSlotsCache();
    moved.then(
      () => super.handleError(error, ttl, handlers),
      () => handlers.defaults(),
    );
  }
}
