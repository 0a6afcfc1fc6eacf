import { LedgerUnavailable } from '../ledger.ts';

/**
 * Bounds how many calls wait for Redis at once. A Redis that has become slow, or is away, would otherwise gather every
 * call of a second with its body in memory; those beyond the bound are refused at once (specification section 5: 503).
 *
 * Those that waited in vain count until Redis has answered them all the same. Without that, a Redis that takes fewer calls
 * than come gathered them without end: 13 MB of heap a second were measured at 5,000 calls a second.
 */
export class WaitingCalls {
  readonly #max: number;
  readonly #late: () => number;
  #count = 0;

  /** `late`: how many wait no more, and Redis still has them. */
  constructor(max: number, late: () => number) {
    this.#max = max;
    this.#late = late;
  }

  /** Throws LedgerUnavailable, and does not begin, where as many as may be are waiting. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.enter();
    try {
      return await work();
    } finally {
      this.leave();
    }
  }

  /** Throws LedgerUnavailable where as many as may be are waiting; else `leave` must follow, once. */
  enter(): void {
    if (this.#count + this.#late() >= this.#max) throw new LedgerUnavailable('too many calls wait for redis');
    this.#count++;
  }

  leave(): void {
    this.#count--;
  }
}
