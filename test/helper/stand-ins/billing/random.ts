/** Pseudo-random numbers, reproducible by their seed (mulberry32). */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** From 0 to below 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** An integer from 0 to `most`, included. */
  upTo(most: number): number {
    return Math.floor(this.next() * (most + 1));
  }

  chance(share: number): boolean {
    return this.next() < share;
  }

  of<T>(all: readonly [T, ...T[]]): T {
    return all[this.upTo(all.length - 1)] as T;
  }
}
