import { setTimeout as sleep } from 'node:timers/promises';

/** A call whose client has left while its answer was under way. */
interface LeftCall {
  /** Cancels the upstream and settles the call by an estimate. */
  giveUp(): void;
}

/** Time after `giveUp` for estimates: counting the tokens of a large request takes up to 3 s. */
const SETTLE_WITHIN_MS = 5_000;

/**
 * The calls of this process that are read on for their report after their client left. A stop waits for them here, because no
 * connection of a client stands for them any more. States: reading on → stopped, from where on calls that are left are given
 * up at once.
 */
export class LeftCalls {
  readonly #readOnMs: number;
  readonly #calls = new Set<LeftCall>();
  #isStopped = false;
  #onEmpty: (() => void) | undefined;

  constructor({ readOnMs }: { readonly readOnMs: number }) {
    this.#readOnMs = readOnMs;
  }

  /** Longest time for which a call that its client leaves now is read on; 0: it is given up at once. */
  get readOnMs(): number {
    return this.#isStopped ? 0 : this.#readOnMs;
  }

  get size(): number {
    return this.#calls.size;
  }

  add(call: LeftCall): void {
    this.#calls.add(call);
  }

  /** Removes a call that is settled. */
  delete(call: LeftCall): void {
    if (this.#calls.delete(call) && this.#calls.size === 0) this.#onEmpty?.();
  }

  /** Gives up all calls, and from now on each one that its client leaves. */
  giveUp(): void {
    this.#isStopped = true;
    for (const call of [...this.#calls]) call.giveUp();
  }

  /** Resolves once no call is left, at the latest 5 s after `signal` says that all are given up. */
  async ended(signal: AbortSignal): Promise<void> {
    if (this.#calls.size === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onEmpty = resolve;
    signal.addEventListener(
      'abort',
      () => void sleep(SETTLE_WITHIN_MS, undefined, { ref: false }).then(resolve),
      {
        once: true,
      },
    );
    await promise;
  }
}
