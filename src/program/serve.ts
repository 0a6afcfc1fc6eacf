import type { FastifyBaseLogger } from 'fastify';
import type { AlertWorker } from '../alerts/alert-worker.ts';
import type { Book } from '../book/book.ts';
import { openBook } from '../book/open-book.ts';
import { liveLine, startWarnings } from '../config/catalog.ts';
import type { Config } from '../config/config.ts';
import { parseRedisUrl } from '../config/redis-url.ts';
import type { ReplaceCatalog } from '../config/reload.ts';
import { DemoUpstreams } from '../demo/demo-provider.ts';
import type { SpoolFolder } from '../gateway/request/spool/spool.ts';
import { type OpenLedger, openLedger } from '../ledger/open-ledger.ts';
import { BookOlderThanRedis } from '../ledger/recovery/live-state-check.ts';
import { UnusableRedis } from '../ledger/redis/redis-health.ts';
import { startPrivateRedisFor } from '../redis-server/server.ts';
import { buildApp } from './app.ts';
import { compose } from './container.ts';
import { Stopping } from './stopping.ts';

/** Backlog of unaccepted connections: as many as Linux allows. Without room, a client retries after a second. */
const BACKLOG = 4_096;

/** Time for settles and the journal after the last request (specification section 1, "Stop"). */
const DRAIN_WITHIN_MS = 10_000;

const LISTEN_FAULTS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program uses this port. Stop it, or set PORT to another port',
  EACCES: 'this user may not use this port. Set PORT to a port above 1023',
  EADDRNOTAVAIL: 'this machine does not have this address. Set HOST to one of its addresses',
  ENOTFOUND: 'this host does not exist. Set HOST to an address of this machine',
};

/** Closes resources in reverse order of opening. A failure doesn't prevent the others from closing. */
class Closers {
  readonly #closers: (() => Promise<unknown> | unknown)[] = [];

  add(closer: () => Promise<unknown> | unknown): void {
    this.#closers.push(closer);
  }

  async close(): Promise<void> {
    for (const closer of this.#closers.splice(0).reverse()) {
      try {
        await closer();
      } catch (error) {
        process.stderr.write(`tollgate: while stopping: ${(error as Error).message}\n`);
      }
    }
  }
}

export interface Served {
  readonly url: string;
  readonly config: Config;
  readonly book: Book;
  readonly ledger: OpenLedger;
  readonly replaceCatalog: ReplaceCatalog;
  /** Finishes requests, settles calls, drains the journal and closes all (specification section 1, "Stop"). */
  close(): Promise<void>;
}

export interface ServeOptions {
  /** Called when everything is open, before the gateway listens. */
  readonly beforeListening?: () => void;
  /** Time for requests in flight to finish on shutdown. Default: 30 s (specification section 1, "Stop"). */
  readonly finishWithinMs?: number;
  /** The code with which the first operator is made, while there is none. */
  readonly setupCode?: string | undefined;
}

/**
 * Opens everything, calls `beforeListening`, and listens. Rejects with one line if a setting is invalid, and closes
 * all.
 */
export async function serve(
  config: Config,
  logger: FastifyBaseLogger,
  options: ServeOptions = {},
): Promise<Served> {
  const closers = new Closers();
  try {
    return await open(closers, config, logger, options);
  } catch (error) {
    await closers.close();
    throw error;
  }
}

async function open(
  closers: Closers,
  loaded: Config,
  logger: FastifyBaseLogger,
  { beforeListening, finishWithinMs, setupCode }: ServeOptions,
): Promise<Served> {
  for (const warning of startWarnings(loaded)) logger.warn(warning);
  logger.info(liveLine(loaded));

  const demo = new DemoUpstreams();
  closers.add(() => demo.close());
  const config = await demo.bind(loaded);
  let { catalog } = config;

  const book = await openBook({ databaseUrl: config.databaseUrl, dataDir: config.dataDir });
  closers.add(() => book.close());

  // Imported only if tracing is configured, to save load time (tracing.ts); closed after the last call is settled.
  const tracing =
    config.tracing && (await import('../observability/tracing.ts')).openTracing(config.tracing, logger);
  closers.add(() => tracing?.close());

  let alerts: AlertWorker | undefined;
  // Alerts stop after the ledger, because its last entries may queue one that would otherwise wait for the next start.
  closers.add(() => alerts?.stop(config.alerts.timeoutMs));
  const onAlerts = () => alerts?.notify();
  const { ledger, redisFaults, left } = await openLedgerOf(closers, config, book, logger, onAlerts);

  const stopping = new Stopping(finishWithinMs);
  const gateway = compose({
    config,
    catalog: () => catalog,
    logger,
    book,
    ledger,
    redisFaults,
    isDraining: () => stopping.isDraining,
    tracing,
    setupCode,
  });
  gateway.refusals.start();
  closers.add(() => gateway.refusals.stop());
  closers.add(() => gateway.transport.close());
  await checkFolder(gateway.spools, config.dataDir);
  alerts = gateway.alerts;
  alerts.start();
  book.anyBlockedCountries().then(
    (any) => any && gateway.countries.warmUp(),
    () => {},
  );

  const app = await buildApp(gateway.app);
  stopping.watch(app);
  closers.add(() => stopping.stop(app, gateway.openCalls, config.server.drainDelayMs));
  await app.ready();
  beforeListening?.();
  const { host, port } = config.server;
  const url = await app.listen({ host, port, backlog: BACKLOG }).catch((cause: NodeJS.ErrnoException) => {
    const reason = LISTEN_FAULTS[cause.code ?? ''] ?? cause.message;
    throw new Error(`The gateway cannot listen on ${host}, port ${port}: ${reason}.`, { cause });
  });
  const replaceCatalog = async (next: Config) => {
    ({ catalog } = await demo.bind(next));
  };
  const close = async () => {
    // Without these lines, a clean stop, a hang and a killed process look alike in the log.
    const inFlight = gateway.openCalls.count;
    logger.info({ calls: inFlight }, `stopping: ${inFlight} calls in flight`);
    await closers.close();
    logger.info(left, `stopped after ${inFlight} calls in flight, journal ${left.journal}`);
  };
  return { url, config, book, ledger, replaceCatalog, close };
}

/** The journal after a stop: in the book, or waiting in Redis for the next start. */
type Left = 'empty' | 'waiting' | 'unknown';

/** Opens the ledger on the configured Redis, or on a private one. */
async function openLedgerOf(
  closers: Closers,
  config: Config,
  book: Book,
  logger: FastifyBaseLogger,
  onAlerts: () => void,
): Promise<{ ledger: OpenLedger; redisFaults: readonly string[]; left: { journal: Left } }> {
  let address = config.redisUrl === undefined ? undefined : parseRedisUrl(config.redisUrl);
  if (!address) {
    const redis = await startPrivateRedisFor(config, logger);
    closers.add(() => redis.stop());
    address = { kind: 'socket', path: redis.socketPath };
  }
  const ledger = await openLedger({
    address,
    book,
    log: logger,
    requestTimeoutMs: config.limits.requestTimeoutMs,
    onAlerts,
    waitReplicas: config.redisWaitReplicas,
    redisTimeoutMs: config.redisTimeoutMs,
    bounds: config.limits,
  }).catch((cause: unknown) => {
    if (cause instanceof BookOlderThanRedis || cause instanceof UnusableRedis) throw cause;
    const reason = cause instanceof Error ? cause.message.split('\n', 1)[0] : String(cause);
    throw new Error(`Redis can't be reached (${reason}). Check REDIS_URL and that the server is running.`, {
      cause,
    });
  });
  const left: { journal: Left } = { journal: 'unknown' };
  closers.add(async () => {
    left.journal = (await ledger.close(DRAIN_WITHIN_MS)) ? 'empty' : 'waiting';
  });
  const { durabilityFaults: redisFaults } = await ledger.check();
  for (const fault of redisFaults) {
    if (config.requireDurableRedis) throw new Error(`REQUIRE_DURABLE_REDIS is set, but ${fault}`);
    logger.warn(`REDIS WILL LOSE CREDITS: ${fault}`);
  }
  return { ledger, redisFaults, left };
}

/**
 * Rejects if the data folder isn't writable. With REDIS_URL and DATABASE_URL set, nothing else would detect that at
 * startup, and every large body would be refused.
 */
async function checkFolder(spools: SpoolFolder, dataDir: string): Promise<void> {
  await spools.check().catch((cause: Error) => {
    const reason = `The data folder ${dataDir} can't be used (${cause.message})`;
    throw new Error(
      `${reason}. Large request bodies are stored there: check it, or set TOLLGATE_DATA to another folder.`,
      {
        cause,
      },
    );
  });
}
