/**
 * A budget, such as bytes of memory, that is acquired in parts, in the order of asking. The parts held at one time
 * never exceed `total` together. Asking for more than `total` acquires all of it; asking for less than `least` acquires
 * `least`.
 */
export class WeightedSemaphore {
  readonly #total: number;
  readonly #least: number;
  #taken = 0;
  readonly #waiting: { readonly size: number; readonly start: () => void }[] = [];

  constructor(total: number, least = 0) {
    this.#total = total;
    this.#least = least;
  }

  /** Resolves with `release` once `asked` of the budget has been acquired. Call `release` exactly once. */
  async acquire(asked: number): Promise<() => void> {
    const size = Math.min(Math.max(asked, this.#least), this.#total);
    if (this.#waiting.length > 0 || this.#taken + size > this.#total) {
      await new Promise<void>((start) => this.#waiting.push({ size, start }));
    } else this.#taken += size;
    return () => {
      this.#taken -= size;
      this.#startNext();
    };
  }

  #startNext(): void {
    for (
      let next = this.#waiting[0];
      next && this.#taken + next.size <= this.#total;
      [next] = this.#waiting
    ) {
      this.#waiting.shift();
      this.#taken += next.size;
      next.start();
    }
  }
}
