import type { Log } from './log.ts';

const MAX_BACKOFF_MS = 30_000;

/** Waits after failed runs, in milliseconds. The wait doubles with each failure. */
interface Backoff {
  /** Default: twice the interval. */
  readonly firstMs?: number;
  /** Default: 30 s; never less than the interval. */
  readonly longestMs?: number;
}

/**
 * Background loop with a reliable stop. States: idle (timer armed) → running → idle; stopped is final. Runs never
 * overlap. `wake()` during a run causes one more run. If a run throws, the loop logs the error and retries after a
 * backoff.
 */
export class Loop {
  readonly #name: string;
  readonly #intervalMs: number;
  readonly #run: () => Promise<void>;
  readonly #log: Log;
  readonly #backoff: Backoff;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #again = false;
  #started = false;
  #failures = 0;

  constructor(name: string, intervalMs: number, run: () => Promise<void>, log: Log, backoff: Backoff = {}) {
    this.#name = name;
    this.#intervalMs = intervalMs;
    this.#run = run;
    this.#log = log;
    this.#backoff = backoff;
  }

  start(): void {
    this.#started = true;
    this.#arm();
  }

  /** Runs now, or once more after the current run. Does nothing during a backoff. */
  wake(): void {
    if (!this.#started) return;
    if (this.#running) this.#again = true;
    else if (this.#failures === 0) this.#begin();
  }

  /** Resolves when no run is under way and none follows immediately. */
  async idle(): Promise<void> {
    while (this.#running) await this.#running;
  }

  /** Prevents new runs. Resolves when the current one has ended. */
  async stop(): Promise<void> {
    this.#started = false;
    clearTimeout(this.#timer);
    await this.#running;
  }

  #arm(): void {
    clearTimeout(this.#timer);
    const { firstMs = this.#intervalMs * 2, longestMs = MAX_BACKOFF_MS } = this.#backoff;
    const backoffMs = firstMs * 2 ** Math.min(this.#failures - 1, 10);
    const delay =
      this.#failures === 0 ? this.#intervalMs : Math.min(backoffMs, Math.max(longestMs, this.#intervalMs));
    this.#timer = setTimeout(() => this.#begin(), delay);
    this.#timer.unref();
  }

  #begin(): void {
    clearTimeout(this.#timer);
    this.#again = false;
    this.#running = this.#run()
      .then(
        () => {
          this.#failures = 0;
        },
        (error: unknown) => {
          // Repeats of the first failure would only fill the log.
          if (this.#failures++ === 0)
            this.#log.warn({ err: error }, `${this.#name} failed; it will be tried again`);
        },
      )
      .then(() => {
        this.#running = undefined;
        if (!this.#started) return;
        if (this.#again && this.#failures === 0) this.#begin();
        else this.#arm();
      });
  }
}

/** Collects the failures of independent pieces of work, so that one failure does not keep the others from running. */
export class Failures {
  readonly #errors: unknown[] = [];

  /** Resolves when `work` settles, and keeps its error. Never rejects. */
  async collect(work: Promise<unknown>, onFailure?: () => void): Promise<void> {
    try {
      await work;
    } catch (error) {
      this.#errors.push(error);
      onFailure?.();
    }
  }

  /** Throws a single failure unchanged, several as an AggregateError. Does nothing without failures. */
  throwAny(): void {
    if (this.#errors.length === 0) return;
    if (this.#errors.length === 1) throw this.#errors[0];
    throw new AggregateError(this.#errors, `${this.#errors.length} pieces of work failed`);
  }
}
