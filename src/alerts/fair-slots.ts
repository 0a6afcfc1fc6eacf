/**
 * Slots that accounts share. An account takes its first while any is free, its second while half of all are, its n-th while
 * (n − 1)/n of all are, and never more than `most`. So however many accounts fill theirs with receivers that do not answer,
 * there is a free one for the account that comes next, until more than half as many accounts as there are slots do so at
 * once. Of the accounts that wait, the one that has the fewest goes first.
 */
export class FairSlots {
  readonly #count: number;
  readonly #most: number;
  #free: number;
  readonly #taken = new Map<number, number>();
  /** In the order in which accounts began to wait, or were given a slot last. */
  readonly #waiting = new Map<number, (() => void)[]>();

  constructor(count: number, most: number) {
    this.#count = count;
    this.#free = count;
    this.#most = most;
  }

  /** Whether work of the account would begin at once. */
  isOpen(account: number): boolean {
    return !this.#waiting.has(account) && this.#mayTake(account);
  }

  /** Runs the work once a slot is the account's, and holds the slot until it has settled. */
  async run<T>(account: number, work: () => Promise<T>): Promise<T> {
    if (this.isOpen(account)) this.#take(account);
    else await new Promise<void>((resolve) => this.#queue(account).push(resolve));
    try {
      return await work();
    } finally {
      this.#giveBack(account);
    }
  }

  #mayTake(account: number): boolean {
    const taken = this.#taken.get(account) ?? 0;
    return this.#free > 0 && taken < this.#most && this.#free * (taken + 1) >= this.#count * taken;
  }

  #take(account: number): void {
    this.#free -= 1;
    this.#taken.set(account, (this.#taken.get(account) ?? 0) + 1);
  }

  #giveBack(account: number): void {
    this.#free += 1;
    const left = (this.#taken.get(account) ?? 0) - 1;
    if (left > 0) this.#taken.set(account, left);
    else this.#taken.delete(account);
    for (let next = this.#next(); next !== undefined; next = this.#next()) this.#begin(next);
  }

  /** The slot is taken before the work is told, so that nobody can slip in between. */
  #begin(account: number): void {
    const queue = this.#queue(account);
    const begin = queue.shift();
    this.#waiting.delete(account);
    if (queue.length > 0) this.#waiting.set(account, queue);
    this.#take(account);
    begin?.();
  }

  #next(): number | undefined {
    let next: number | undefined;
    for (const account of this.#waiting.keys()) {
      if (!this.#mayTake(account)) continue;
      const taken = this.#taken.get(account) ?? 0;
      if (next === undefined || taken < (this.#taken.get(next) ?? 0)) next = account;
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
