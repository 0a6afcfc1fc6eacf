import type { Log } from './log.ts';

const LONGEST_BACKOFF_MS = 30_000;

/** Waits after failed runs, in milliseconds: the first, doubled with each further failure up to the longest. */
interface Backoff {
  /** Default: twice the interval. */
  readonly firstMs?: number;
  /** Default: 30 s; never less than the interval. */
  readonly longestMs?: number;
}

/**
 * A background loop that can be trusted to stop. States: idle (timer armed) → running → idle; stopped is final.
 * Runs never overlap; `wake()` while running makes one more run follow; a run that throws is logged and tried again after
 * a backoff.
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

  /** Runs now, or once more after the run under way. Does nothing while it backs off from a failure. */
  wake(): void {
    if (!this.#started) return;
    if (this.#running) this.#again = true;
    else if (this.#failures === 0) this.#begin();
  }

  /** Resolves when no run is under way, and none is to follow at once. */
  async idle(): Promise<void> {
    while (this.#running) await this.#running;
  }

  /** No new run; resolves when the one under way has ended. */
  async stop(): Promise<void> {
    this.#started = false;
    clearTimeout(this.#timer);
    await this.#running;
  }

  #arm(): void {
    clearTimeout(this.#timer);
    const { firstMs = this.#intervalMs * 2, longestMs = LONGEST_BACKOFF_MS } = this.#backoff;
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
          // The first failure shows the cause; repeats would only fill the log.
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

/** The failures of a round of work whose pieces are all tried, whatever becomes of the others. */
export class Failures {
  readonly #errors: unknown[] = [];

  /** Resolves when `work` has settled; its rejection is remembered. Never rejects. */
  async collect(work: Promise<unknown>, onFailure?: () => void): Promise<void> {
    try {
      await work;
    } catch (error) {
      this.#errors.push(error);
      onFailure?.();
    }
  }

  /** Throws the only failure as it is, and several as an AggregateError. Does nothing if there was none. */
  throwAny(): void {
    if (this.#errors.length === 0) return;
    if (this.#errors.length === 1) throw this.#errors[0];
    throw new AggregateError(this.#errors, `${this.#errors.length} pieces of work failed`);
  }
}
