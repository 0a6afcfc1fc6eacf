import cluster from 'node:cluster';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { isIPv6 } from 'node:net';
import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import { loadConfig } from '../config/load.ts';
import { Reloader } from '../config/reload.ts';
import { SYSTEM } from '../domain/actor.ts';
import { openLog } from '../log/log.ts';
import { ensureDemoAccount } from './demo-account.ts';
import { serve } from './serve.ts';
import { setupLink, takeSetupCode } from './setup-link.ts';
import { type Serving, WorkerFailed, Workers } from './workers.ts';

const load = () => loadConfig({ env: process.env });

const isDemo = process.env.TOLLGATE_DEMO === 'true';

/** A second signal within this time counts as the first one, delivered by another process as well. */
const REPEAT_MS = 1_000;

interface Running {
  readonly url: string;
  reload(): void;
  close(): Promise<void>;
}

async function start(): Promise<Running> {
  const config = load();
  const logger = await openLog(config.logLevel, config.keyPrefix, cluster.worker?.id);
  const isSupervisor = cluster.isPrimary && config.workers > 1;
  const running = isSupervisor ? await Workers.start(config, logger) : await startOne(config, logger);
  hangup.onReload = () => running.reload();
  // Restores V8's default, which main.ts lowered while modules load: under load a larger young generation saves CPU.
  setFlagsFromString('--semi-space-growth-factor=2');
  boundYoungGeneration();
  growOldGeneration();
  const { url } = running;
  // The line bypasses the logger, because scripts that start the gateway wait for it at any LOG_LEVEL. At a terminal,
  // the demo has printed the address in words.
  if (cluster.isPrimary && !(isDemo && process.stdout.isTTY)) {
    const line = { msg: 'listening', url: boundUrl(config.server.host, url) };
    process.stdout.write(`${JSON.stringify(line)}\n`);
  } else if (!cluster.isPrimary) process.send?.({ serving: url } satisfies Serving);
  return running;
}

/** Heap limit from which memory may be traded for fewer collections: that of a 1 GiB container. */
const ROOMY_BYTES = 512 * 1024 * 1024;

/**
 * Lets the old generation grow to three times the live data before a full collection. V8's default, 1.5 times, collects
 * every 5 s at 2,500 calls a second, for 60 ms of two cores each; this lowers the p99 from 24–51 ms to 7–28 ms. A 512
 * MB container has no room for it: 187 unread streams at full speed took 270 to 320 MB instead of 190 to 260; 73 MB are
 * live.
 */
function growOldGeneration(): void {
  if (getHeapStatistics().heap_size_limit >= ROOMY_BYTES) setFlagsFromString('--heap-growing-percent=200');
}

/** V8's maximum for the young generation, in a heap of 512 MB as in one of 4 GB. */
const MAX_YOUNG_BYTES = 128 * 1024 * 1024;

/**
 * Limits V8's young generation to a 24th of the heap limit, rounded to the next power of two. In a 512 MB heap, that is
 * 32 MB: 1,000 calls of 64 KB then take 195 to 200 MB instead of 290 to 330 MB; the difference is garbage.
 */
function boundYoungGeneration(): void {
  const mostBytes = getHeapStatistics().heap_size_limit / 24;
  if (mostBytes > MAX_YOUNG_BYTES) return;
  const collected = new PerformanceObserver(() => {
    const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
    if (!young || young.space_size < mostBytes) return;
    setFlagsFromString('--semi-space-growth-factor=1');
    collected.disconnect();
  });
  collected.observe({ entryTypes: ['gc'] });
}

/**
 * `http://HOST:PORT` for the line `listening` (specification section 1). Keeps a configured 0.0.0.0 as HOST: with
 * 127.0.0.1 a container would seem closed to the outside.
 */
function boundUrl(host: string, url: string): string {
  return `http://${isIPv6(host) ? `[${host}]` : host}:${new URL(url).port || '80'}`;
}

/** Starts a gateway in this process. */
async function startOne(config: Config, logger: Logger): Promise<Running> {
  const setupCode = takeSetupCode();
  const served = await serve(config, logger, { beforeListening: trimStartupHeap, setupCode });
  const publicUrl = config.server.publicUrl ?? served.url;
  const link = config.people.passwords ? await setupLink(served.book, publicUrl, setupCode) : undefined;
  if (isDemo) {
    const { book, ledger, url } = served;
    const hasPeople = await book.hasOperator();
    await ensureDemoAccount({
      book,
      ledger: ledger.ledger,
      config: served.config,
      url,
      setupLink: link,
      hasPeople,
    });
  } else if (link) process.stdout.write(`Dashboard  ${link}\n`);
  const { url, replaceCatalog, book } = served;
  const onReloaded = (what: string) => {
    const target = { type: 'config', id: null } as const;
    const change = { by: SYSTEM, action: 'config.reload', accountId: null, target, after: { what } } as const;
    return book.audit(change, Date.now());
  };
  const reloader = new Reloader({ running: config, load, replaceCatalog, log: logger, onReloaded });
  return { url, reload: () => void reloader.reload(), close: () => served.close() };
}

/**
 * Collects the startup garbage and returns its pages to the system: 17 MB that V8 would otherwise keep until the
 * gateway is under load. Blocks the process for 40 to 100 ms, so it must run before the gateway listens. Also drops
 * compiled code, which is recompiled within the first thousand calls. Does nothing under `--expose-gc`: whoever sets it
 * decides when to collect.
 */
function trimStartupHeap(): void {
  if (globalThis.gc) return;
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as NodeJS.GCFunction;
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  setFlagsFromString('--no-expose-gc');
}

/**
 * Distinguishes the two meanings of SIGHUP: a supervisor requests a configuration reload, or the gateway's terminal is
 * gone. In the second case `/dev/tty` can no longer be opened.
 */
class HangupSignal {
  /** Resolves when the terminal that started the process is gone; never if there was none. */
  readonly terminalGone: Promise<void>;
  /** Called at each SIGHUP that requests a reload. */
  onReload: () => void = () => {};

  constructor() {
    const hadTerminal = hasTerminal();
    const gone = Promise.withResolvers<void>();
    this.terminalGone = gone.promise;
    process.on('SIGHUP', () => (hadTerminal && !hasTerminal() ? gone.resolve() : this.onReload()));
  }
}

function hasTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r'));
    return true;
  } catch {
    return false;
  }
}

const hangup = new HangupSignal();
const signal = Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT'), hangup.terminalGone]);
try {
  const running = await start();
  await signal;
  hangup.onReload = () => {};
  // A second signal ends the process at once, unless it repeats the first: a process group receives a signal twice.
  setTimeout(() => {
    process.once('SIGTERM', () => process.exit(1));
    process.once('SIGINT', () => process.exit(1));
  }, REPEAT_MS).unref();
  process.on('SIGTERM', () => {});
  process.on('SIGINT', () => {});
  await running.close();
} catch (error) {
  // A refusal to start is one clear line (specification section 1); a failed worker has already written one.
  if (!(error instanceof WorkerFailed)) process.stderr.write(`tollgate: ${(error as Error).message}\n`);
  process.exit(1);
}
process.exit(0);
