const TICK_MS = 10;
/** Number of ticks that are remembered: those of three seconds. */
const TICKS = 300;
/** Lateness from which on a stall is told of: a command may then have no reply in time, though nothing is broken. */
const LONG_MS = 1_000;

/**
 * Meter of how late the timers of this process fire. Gateways, Redis and the book share the machine and stall for as
 * long, so that a bound in milliseconds can be checked only while this is small.
 */
export class StallMeter {
  readonly #late: number[] = [];
  readonly #timer: NodeJS.Timeout;
  #dueAt = performance.now() + TICK_MS;

  /** `onLong` is called after each stall of a second or more. */
  constructor(onLong: (lateMs: number) => void = () => {}) {
    this.#timer = setInterval(() => {
      const now = performance.now();
      const lateMs = Math.max(0, now - this.#dueAt);
      this.#late.push(lateMs);
      if (lateMs >= LONG_MS) onLong(lateMs);
      this.#dueAt = now + TICK_MS;
      if (this.#late.length > TICKS) this.#late.shift();
    }, TICK_MS);
    this.#timer.unref();
  }

  /** Largest lateness among the ticks of the last three seconds, in milliseconds. */
  get worstMs(): number {
    return Math.max(0, ...this.#late);
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
