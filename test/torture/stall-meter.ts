const TICK_MS = 10;
/** How many ticks are remembered: three seconds. */
const TICKS = 300;

/**
 * Measures how late the timers of this process fire. Gateways, Redis and the book share the machine with it and stall as
 * long, so a bound in milliseconds can be checked only while this is small.
 */
export class StallMeter {
  readonly #late: number[] = [];
  readonly #timer: NodeJS.Timeout;
  #dueAt = performance.now() + TICK_MS;

  constructor() {
    this.#timer = setInterval(() => {
      const now = performance.now();
      this.#late.push(Math.max(0, now - this.#dueAt));
      this.#dueAt = now + TICK_MS;
      if (this.#late.length > TICKS) this.#late.shift();
    }, TICK_MS);
    this.#timer.unref();
  }

  /** Lateness of the latest of the last three seconds' ticks, in ms. */
  get worstMs(): number {
    return Math.max(0, ...this.#late);
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
