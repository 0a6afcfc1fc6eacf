/**
 * The clock of Redis, as this process sees it. Deadlines of holds are set and judged by it: gateways whose own clocks
 * differ must not release each other's holds early.
 */
export class RedisClock {
  readonly #time: () => Promise<readonly (number | string)[]>;
  #offsetMs = 0;

  /** `time`: the reply of TIME, seconds and microseconds. */
  constructor(time: () => Promise<readonly (number | string)[]>) {
    this.#time = time;
  }

  /** Milliseconds since the epoch, off by half a round trip at most. */
  now(): number {
    return Date.now() + this.#offsetMs;
  }

  async adjust(): Promise<void> {
    const [seconds, microseconds] = await this.#time();
    this.#offsetMs = Math.round(Number(seconds) * 1_000 + Number(microseconds) / 1_000 - Date.now());
  }
}
