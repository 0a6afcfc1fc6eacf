import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import type { Config } from '../config/config.ts';
import type { Log } from '../log/log.ts';
import { answerMetrics } from '../observability/metrics.ts';
import { startPrivateRedisFor } from '../redis-server/server.ts';
import { newSetupCode, SETUP_CODE } from './setup-link.ts';

/** Message from a worker to its supervisor once it serves: the gateway's address. */
export interface Serving {
  readonly serving: string;
}

/** A worker failed to start. It has reported the cause on stderr. */
export class WorkerFailed extends Error {}

/**
 * Milliseconds from a worker's end to its restart: doubles from `first` to `most`, and resets after a run of
 * `forgetAfter`.
 */
const RESTART_MS = { first: 100, most: 5_000, forgetAfter: 60_000 };
/** Time for a worker to stop after its drain delay: longer than finishing, settling and draining take (serve.ts). */
const STOP_WITHIN_MS = 60_000;

/**
 * Several gateway processes on one port (`WORKERS`), for machines with more cores than one process can use. The
 * supervisor accepts connections and distributes them in turn (node:cluster), owns the private Redis if any, and serves
 * nothing itself. Worker states: starting → serving → gone → starting again; once stopping: gone for good.
 */
export class Workers {
  readonly #count: number;
  readonly #log: Log;
  readonly #env: NodeJS.ProcessEnv;
  readonly #stopRedis: () => Promise<void>;
  readonly #stopWithinMs: number;
  readonly #restarts = new Set<NodeJS.Timeout>();
  #stopping = false;
  #url = '';

  private constructor(config: Config, log: Log, env: NodeJS.ProcessEnv, stopRedis: () => Promise<void>) {
    this.#count = config.workers;
    this.#stopWithinMs = STOP_WITHIN_MS + config.server.drainDelayMs;
    this.#log = log;
    this.#env = env;
    this.#stopRedis = stopRedis;
  }

  /** Starts all workers; resolves when they serve. Rejects with WorkerFailed if the first one fails to start. */
  static async start(config: Config, log: Log): Promise<Workers> {
    const redis = config.redisUrl === undefined ? await startPrivateRedisFor(config, log) : undefined;
    const env = {
      [SETUP_CODE]: newSetupCode(),
      ...(redis ? { REDIS_URL: `unix://${redis.socketPath}` } : {}),
    };
    const workers = new Workers(config, log, env, async () => redis?.stop());
    // JSON would turn NaN, a gauge's value while Redis or the book is away, into null, and the sum into a healthy 0.
    cluster.setupPrimary({ serialization: 'advanced' });
    answerMetrics();
    try {
      // The first worker starts alone: it migrates the book, creates the demo account, prints the setup link and reports
      // refused settings.
      workers.#url = await workers.#fork(true);
      const others = Array.from({ length: workers.#count - 1 }, () => workers.#fork(false));
      await Promise.all(others);
    } catch (error) {
      await workers.close();
      throw error;
    }
    return workers;
  }

  /** Address of the gateway, shared by all workers. */
  get url(): string {
    return this.#url;
  }

  /** Makes every worker reload its configuration. */
  reload(): void {
    for (const worker of all()) worker.process.kill('SIGHUP');
  }

  /** Stops all workers at once (specification section 1, "Stop"), then the private Redis. */
  async close(): Promise<void> {
    this.#stopping = true;
    for (const timer of this.#restarts) clearTimeout(timer);
    await Promise.all(all().map((worker) => stopped(worker, this.#stopWithinMs)));
    await this.#stopRedis();
  }

  /** Starts a worker. Resolves with its address when it serves; rejects if it ends first. */
  async #fork(isFirst: boolean, waitMs = RESTART_MS.first): Promise<string> {
    const worker = cluster.fork({
      ...this.#env,
      ...(isFirst ? {} : { TOLLGATE_DEMO: '', SETUP_LINK: 'false' }),
    });
    const startedAt = Date.now();
    const served = Promise.withResolvers<string>();
    let isServing = false;
    worker.on('message', (message: Partial<Serving>) => {
      if (message.serving === undefined) return;
      isServing = true;
      served.resolve(message.serving);
    });
    worker.once('exit', (code, signal) => {
      served.reject(new WorkerFailed('a worker ended before it could serve'));
      // The caller of #fork handles a worker that never served.
      if (isServing) this.#startAgain(worker, startedAt, waitMs, signal ?? code);
    });
    return await served.promise;
  }

  #startAgain(worker: Worker, startedAt: number, waitMs: number, reason: string | number): void {
    if (this.#stopping) return;
    const isHealthy = Date.now() - startedAt > RESTART_MS.forgetAfter;
    this.#forkLater(isHealthy ? RESTART_MS.first : waitMs);
    this.#log.error({ worker: worker.id, pid: worker.process.pid, reason }, 'worker ended; starting another');
  }

  #forkLater(waitMs: number): void {
    const next = Math.min(waitMs * 2, RESTART_MS.most);
    const timer = setTimeout(() => {
      this.#restarts.delete(timer);
      this.#fork(false, next).catch(() => {
        if (!this.#stopping) this.#forkLater(next);
      });
    }, waitMs);
    this.#restarts.add(timer);
  }
}

function all(): Worker[] {
  return Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
}

async function stopped(worker: Worker, withinMs: number): Promise<void> {
  if (worker.isDead()) return;
  const exited = once(worker, 'exit');
  worker.process.kill('SIGTERM');
  const impatient = setTimeout(() => worker.process.kill('SIGKILL'), withinMs);
  await exited;
  clearTimeout(impatient);
}
