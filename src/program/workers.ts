import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import type { Config } from '../config/config.ts';
import type { Log } from '../log/log.ts';
import { answerMetrics } from '../observability/workers-metrics.ts';
import { startPrivateRedisFor } from './private-redis.ts';

/** What a worker tells its supervisor when it serves. */
export interface Serving {
  readonly serving: string;
}

/** A worker could not be started, and has said why. */
export class WorkerFailed extends Error {}

/** Waits between the end of a worker and its next start: twice as long each time, until it has run for a while. */
const RESTART_MS = { first: 100, most: 5_000, forgetAfter: 60_000 };
/** Longer than a worker takes to finish, settle and drain (serve.ts), once its drain delay is over. */
const STOP_WITHIN_MS = 60_000;

/**
 * Several gateway processes on one port (`WORKERS`), for machines with more cores than one process can use. The
 * supervisor accepts connections and hands them out in turn (node:cluster), owns the private Redis if there is one, and
 * serves nothing itself. States of a worker: starting → serving → gone → starting again; once stopping: gone for good.
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

  /** Resolves when all serve. Rejects where the first cannot; it has then said why on stderr. */
  static async start(config: Config, log: Log): Promise<Workers> {
    const redis = config.redisUrl === undefined ? await startPrivateRedisFor(config, log) : undefined;
    const env = redis ? { REDIS_URL: `unix://${redis.socketPath}` } : {};
    const workers = new Workers(config, log, env, async () => redis?.stop());
    // As JSON, a metric that is NaN because Redis or the book is away would become null, and the sum 0: all is well.
    cluster.setupPrimary({ serialization: 'advanced' });
    answerMetrics();
    try {
      // One worker starts first: it migrates the book, makes the demo account, and alone reports settings that cannot be honoured.
      workers.#url = await workers.#fork(true);
      const others = Array.from({ length: workers.#count - 1 }, () => workers.#fork(false));
      await Promise.all(others);
    } catch (error) {
      await workers.close();
      throw error;
    }
    return workers;
  }

  /** Address of the gateway, which all workers share. */
  get url(): string {
    return this.#url;
  }

  /** Has every worker read its configuration again. */
  reload(): void {
    for (const worker of all()) worker.process.kill('SIGHUP');
  }

  /** Specification section 1, "Stop", in every worker at once; then the private Redis. */
  async close(): Promise<void> {
    this.#stopping = true;
    for (const timer of this.#restarts) clearTimeout(timer);
    await Promise.all(all().map((worker) => stopped(worker, this.#stopWithinMs)));
    await this.#stopRedis();
  }

  /** Resolves with the address when it serves; rejects when it ends before. */
  async #fork(isFirst: boolean, waitMs = RESTART_MS.first): Promise<string> {
    const worker = cluster.fork({ ...this.#env, ...(isFirst ? {} : { TOLLGATE_DEMO: '' }) });
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
      // A worker that never served is handled by the caller of #fork.
      if (isServing) this.#startAgain(worker, startedAt, waitMs, signal ?? code);
    });
    return await served.promise;
  }

  #startAgain(worker: Worker, startedAt: number, waitMs: number, reason: string | number): void {
    if (this.#stopping) return;
    const isHealthy = Date.now() - startedAt > RESTART_MS.forgetAfter;
    this.#forkLater(isHealthy ? RESTART_MS.first : waitMs);
    this.#log.error({ worker: worker.id, pid: worker.process.pid, reason }, 'a worker ended; it is replaced');
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
