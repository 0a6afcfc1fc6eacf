import { LedgerUnavailable } from './ledger.ts';

/**
 * Bounds how many calls wait for Redis at once. A Redis that has become slow, or is away, would otherwise gather every
 * call of a second with its body in memory; those beyond the bound are refused at once (contract section 5: 503).
 */
export class WaitingCalls {
  readonly #max: number;
  #count = 0;

  constructor(max: number) {
    this.#max = max;
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
    if (this.#count >= this.#max) throw new LedgerUnavailable('too many calls wait for redis');
    this.#count++;
  }

  leave(): void {
    this.#count--;
  }
}
