import { LedgerUnavailable } from '../ledger.ts';
import type { ScriptSender } from '../redis/script-sender.ts';

/**
 * Bounds how many calls wait for Redis at once. A Redis that has become slow, or is away, would otherwise gather every
 * call of a second with its body in memory; calls beyond the bound are refused at once (specification section 5: 503).
 *
 * Calls that gave up waiting count until Redis has answered their command. Without that, a Redis that takes fewer calls
 * than come gathered them without end: 13 MB of heap a second were measured at 5,000 calls a second.
 */
export class WaitingCalls {
  readonly #max: number;
  readonly #scripts: Pick<ScriptSender, 'late'>;
  #count = 0;

  constructor(max: number, scripts: Pick<ScriptSender, 'late'>) {
    this.#max = max;
    this.#scripts = scripts;
  }

  /** Runs the work as a waiting call. Throws LedgerUnavailable, and does not begin, at the bound. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.enter();
    try {
      return await work();
    } finally {
      this.leave();
    }
  }

  /** Counts one more waiting call, until `leave` is called once. Throws LedgerUnavailable at the bound. */
  enter(): void {
    if (this.#count + this.#scripts.late >= this.#max)
      throw new LedgerUnavailable('too many calls wait for redis', { reason: 'too_many' });
    this.#count++;
  }

  leave(): void {
    this.#count--;
  }
}
