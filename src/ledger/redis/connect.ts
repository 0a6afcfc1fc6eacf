import { Cluster, Redis } from 'ioredis';
import type { RedisAddress } from '../../config/redis-url.ts';
import type { Log } from '../../log/log.ts';
import { addScripts, type ScriptClient } from './scripts.ts';

/**
 * Milliseconds after which a reply counts as lost; the command may have been executed. As long as the release of lost
 * holds within 10 s allows (PROOF.md, "Late admissions"), because a machine short of CPU is slow, not broken.
 */
export const COMMAND_TIMEOUT_MS = 6_000;
/**
 * Silence after which a connection is replaced, as a multiple of the command timeout. Without it, a network that
 * dropped packets for a while would keep a gateway off Redis until TCP retransmits: minutes.
 */
const SILENCE = 1.25;
/** Share of the command timeout within which Redis must execute an admission; the rest is for the reply. */
const ADMISSION = 5 / 6;

/** Deadline of an admission, in milliseconds after it was written; Redis refuses it later. */
export function admitWithinMs(timeoutMs: number): number {
  return timeoutMs * ADMISSION;
}

/** Connect timeout. On loopback with a load of 35 on two cores, attempts took more than one second. */
const CONNECT_TIMEOUT_MS = 3_000;

/**
 * Settings that make a lost reply a rejection instead of a double debit or a hang: no offline queue, and no resend on
 * reconnect. Callers retry with the same request id.
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

/** Creates a client without connecting; call connectRedis. `keyPrefix` goes before every Redis key. */
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
          // A moving slot answers MOVED, ASK or TRYAGAIN; following those executes nothing twice. A bucket split
          // between two nodes answers TRYAGAIN until it has moved; commands time out after COMMAND_TIMEOUT_MS.
          maxRedirections: 200,
          retryDelayOnTryAgain: 20,
          retryDelayOnClusterDown: 100,
          // An idle gateway hears of a takeover, too: it may have to repeat its last charges.
          slotsRefreshInterval: 1_000,
        })
      : address.kind === 'socket'
        ? new Redis({ ...safe, ...SINGLE, keyPrefix, path: address.path })
        : new Redis(address.url, { ...safe, ...SINGLE, keyPrefix });
  // Without a listener, an 'error' event would end the process. Commands reject anyway.
  let lastMessage = '';
  client.on('error', (error: Error) => {
    if (error.message !== lastMessage)
      log.warn({ redis: name, reason: error.message }, 'redis connection error');
    lastMessage = error.message;
  });
  client.on('ready', () => {
    lastMessage = '';
  });
  return addScripts(client);
}

/**
 * Connects, to every master of a cluster, and resolves when commands can be sent. Rejects at the first failed attempt;
 * attempts that time out are repeated for `withinMs`. The client keeps reconnecting until disconnected.
 */
export async function connectRedis(client: RedisClient, withinMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('redis is not ready in time')), withinMs);
  });
  // A cluster's connect() never settles if its first ready check fails, though a later one passes.
  const ready = new Promise((resolve) => client.once('ready', resolve));
  let lastError: Error | undefined;
  const remember = (error: Error) => {
    lastError = error;
  };
  client.on('error', remember);
  const connected = client.connect().catch((error: unknown) => {
    if (!isTimeout(lastError)) throw error;
    return ready;
  });
  try {
    await Promise.race([connected, ready, timeout]);
    // A cluster connects to each node at its first command and refuses commands until connected.
    if (client instanceof Cluster) await Promise.all(nodesOf(client).map((node) => node.ping()));
  } catch (error) {
    // The connection's own error has the reason (no server, an untrusted certificate); ioredis' may only be "Connection
    // is closed."
    throw lastError ?? error;
  } finally {
    client.off('error', remember);
    clearTimeout(timer);
  }
}

/** A client's connections: to each master of a cluster, or to the one server. */
export function nodesOf(client: Redis | Cluster): Redis[] {
  return client instanceof Cluster ? client.nodes('master') : [client];
}

const CLOSED = 'Connection is closed.';
/** ioredis' messages for a connect timeout, and for a cluster node that did not answer within 1 s. */
const TIMEOUT_MESSAGES: ReadonlySet<string | undefined> = new Set(['connect ETIMEDOUT', 'timeout']);

/** Whether a connection attempt only timed out; a cluster's error contains the last node's. */
function isTimeout(error: (Error & { readonly lastNodeError?: Error }) | undefined): boolean {
  return TIMEOUT_MESSAGES.has((error?.lastNodeError ?? error)?.message);
}
const MOVED = /^MOVED (\d+) /;

/** ioredis' ways to handle a failed command; only the one we call is declared. */
interface Handlers {
  readonly defaults: () => void;
}

/**
 * ioredis' Cluster with two changes.
 *
 * A command whose connection ended is rejected, not resent: it may have been executed, and only the caller knows how to
 * find out. A command refused with MOVED has not been executed, but follows its slot only after `beforeMove`, because a
 * replica that has just taken over may lack acknowledged writes.
 */
export class RedisCluster extends Cluster {
  /** Delays a command until the promise resolves; undefined: no delay. If it rejects, the command fails with MOVED. */
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
