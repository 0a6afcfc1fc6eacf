/**
 * Semaphore that accounts share fairly. An account gets its first permit while any is free, its second while half of
 * all permits are free, its n-th while (n − 1)/n are free, and never more than `mostOfOne`. So a permit stays free for
 * the next account as long as at most half as many accounts as there are permits use up their shares, with receivers
 * that do not answer. Of the accounts that wait, the one with the fewest permits goes first.
 */
export class FairSemaphore {
  readonly #permits: number;
  readonly #mostOfOne: number;
  #free: number;
  /** Permits that each account holds; accounts without one are absent. */
  readonly #held = new Map<number, number>();
  /** Waiting work by account. Accounts are in the order in which they began to wait or last got a permit. */
  readonly #waiting = new Map<number, (() => void)[]>();

  /** `permits`: at least 1. `mostOfOne`: permits that one account may hold at once. */
  constructor(permits: number, mostOfOne: number) {
    this.#permits = permits;
    this.#free = permits;
    this.#mostOfOne = mostOfOne;
  }

  /** True where work of the account would begin at once. */
  isFree(account: number): boolean {
    return !this.#waiting.has(account) && this.#mayAcquire(account);
  }

  /** Runs the work once the account has a permit, and releases the permit when the work's promise has settled. */
  async run<T>(account: number, work: () => Promise<T>): Promise<T> {
    if (this.isFree(account)) this.#acquire(account);
    else await new Promise<void>((resolve) => this.#queue(account).push(resolve));
    try {
      return await work();
    } finally {
      this.#release(account);
    }
  }

  #mayAcquire(account: number): boolean {
    const held = this.#held.get(account) ?? 0;
    return this.#free > 0 && held < this.#mostOfOne && this.#free * (held + 1) >= this.#permits * held;
  }

  #acquire(account: number): void {
    this.#free -= 1;
    this.#held.set(account, (this.#held.get(account) ?? 0) + 1);
  }

  #release(account: number): void {
    this.#free += 1;
    const held = (this.#held.get(account) ?? 0) - 1;
    if (held > 0) this.#held.set(account, held);
    else this.#held.delete(account);
    for (let next = this.#next(); next !== undefined; next = this.#next()) this.#begin(next);
  }

  /** Acquires a permit at once and then starts the work, so that no other account can slip in between. */
  #begin(account: number): void {
    const queue = this.#queue(account);
    const begin = queue.shift();
    this.#waiting.delete(account);
    if (queue.length > 0) this.#waiting.set(account, queue);
    this.#acquire(account);
    begin?.();
  }

  #next(): number | undefined {
    let next: number | undefined;
    for (const account of this.#waiting.keys()) {
      if (!this.#mayAcquire(account)) continue;
      const held = this.#held.get(account) ?? 0;
      if (next === undefined || held < (this.#held.get(next) ?? 0)) next = account;
    }
    return next;
  }

  #queue(account: number): (() => void)[] {
    let queue = this.#waiting.get(account);
    if (!queue) {
      queue = [];
      this.#waiting.set(account, queue);
    }
    return queue;
  }
}
