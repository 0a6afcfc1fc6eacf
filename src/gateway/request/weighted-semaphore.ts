/**
 * Turns at something that takes memory, by size: at most `total` at once, in the order of asking. One that asks for more
 * than the total gets its turn alone; one that asks for less than `least` counts as that.
 */
export class Turns {
  readonly #total: number;
  readonly #least: number;
  #taken = 0;
  readonly #waiting: { readonly size: number; readonly start: () => void }[] = [];

  constructor(total: number, least = 0) {
    this.#total = total;
    this.#least = least;
  }

  /** Resolves when it is one's turn, with what ends it. */
  async take(asked: number): Promise<() => void> {
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
