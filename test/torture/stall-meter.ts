const BEAT_MS = 10;
/** Beats that are remembered. */
const BEATS = 300;

/**
 * How late this process comes to what is due. Gateways, Redis and the book share the machine with it and have to wait as
 * long, so a bound in milliseconds can be judged only where this is small.
 */
export class Pulse {
  readonly #late: number[] = [];
  readonly #timer: NodeJS.Timeout;
  #dueAt = performance.now() + BEAT_MS;

  constructor() {
    this.#timer = setInterval(() => {
      const now = performance.now();
      this.#late.push(Math.max(0, now - this.#dueAt));
      this.#dueAt = now + BEAT_MS;
      if (this.#late.length > BEATS) this.#late.shift();
    }, BEAT_MS);
    this.#timer.unref();
  }

  /** The latest beat of the last three seconds, in ms. */
  get worstMs(): number {
    return Math.max(0, ...this.#late);
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
