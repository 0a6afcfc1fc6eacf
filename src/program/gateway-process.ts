import cluster from 'node:cluster';
import { once } from 'node:events';
import { isIPv6 } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import { loadConfig } from '../config/load.ts';
import { Reloader } from '../config/reload.ts';
import { openLog } from '../log/open-log.ts';
import { ensureDemoAccount } from './demo-account.ts';
import { serve } from './serve.ts';
import { HangupSignal } from './sighup.ts';
import { trimStartupHeap } from './trim-startup-heap.ts';
import { type Serving, WorkerFailed, Workers } from './workers.ts';

const load = () => loadConfig({ env: process.env });

const isDemo = process.env.TOLLGATE_DEMO === 'true';

/** Time within which a second signal is taken for the first one, delivered by another process too. */
const REPEAT_MS = 1_000;

interface Running {
  readonly url: string;
  reload(): void;
  close(): Promise<void>;
}

async function start(): Promise<Running> {
  const config = load();
  const logger = await openLog(config.logLevel);
  const isSupervisor = cluster.isPrimary && config.workers > 1;
  const running = isSupervisor ? await Workers.start(config, logger) : await startOne(config, logger);
  hangup.onReload = () => running.reload();
  // V8's default again, which main.ts lowered while modules load: under load a larger young generation saves CPU.
  setFlagsFromString('--semi-space-growth-factor=2');
  // Lets the old generation grow to three times the live data before a full collection. V8's default, half as much
  // again, makes one every 5 s at 2,500 calls a second; each takes 60 ms of two cores. The p99 was 24 to 51 ms, and is
  // 7 to 28.
  setFlagsFromString('--heap-growing-percent=200');
  const { url } = running;
  // The line does not go through the logger, because scripts that start the gateway wait for it at any LOG_LEVEL. At a
  // terminal, the demo has printed the address in words.
  if (cluster.isPrimary && !(isDemo && process.stdout.isTTY)) {
    const line = { msg: 'listening', url: boundUrl(config.server.host, url) };
    process.stdout.write(`${JSON.stringify(line)}\n`);
  } else if (!cluster.isPrimary) process.send?.({ serving: url } satisfies Serving);
  return running;
}

/**
 * `http://HOST:PORT` for the line `listening` (specification section 1). HOST stays 0.0.0.0 where that is configured:
 * with 127.0.0.1 a container would seem to be closed to the outside.
 */
function boundUrl(host: string, url: string): string {
  return `http://${isIPv6(host) ? `[${host}]` : host}:${new URL(url).port || '80'}`;
}

/** Starts a gateway that runs in this process. */
async function startOne(config: Config, logger: Logger): Promise<Running> {
  const served = await serve(config, logger, trimStartupHeap);
  if (isDemo) {
    const { book, ledger, url } = served;
    await ensureDemoAccount({ book, ledger: ledger.ledger, config: served.config, url });
  }
  const { url, replaceCatalog } = served;
  const reloader = new Reloader({ running: config, load, replaceCatalog, log: logger });
  return { url, reload: () => void reloader.reload(), close: () => served.close() };
}

const hangup = new HangupSignal();
const signal = Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT'), hangup.terminalGone]);
try {
  const running = await start();
  await signal;
  hangup.onReload = () => {};
  // A second signal ends the process at once, unless it is the first one: a signal to a process group arrives twice.
  setTimeout(() => {
    process.once('SIGTERM', () => process.exit(1));
    process.once('SIGINT', () => process.exit(1));
  }, REPEAT_MS).unref();
  process.on('SIGTERM', () => {});
  process.on('SIGINT', () => {});
  await running.close();
} catch (error) {
  // A refusal to start is one clear line (specification section 1); a failed worker has already written its own.
  if (!(error instanceof WorkerFailed)) process.stderr.write(`tollgate: ${(error as Error).message}\n`);
  process.exit(1);
}
process.exit(0);
