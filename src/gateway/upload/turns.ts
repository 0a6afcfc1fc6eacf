/**
 * Turns at something that takes memory, by size: at most `total` at once, in the order of asking. One that asks for more
 * than the total gets its turn alone.
 */
export class Turns {
  readonly #total: number;
  #taken = 0;
  readonly #waiting: { readonly size: number; readonly start: () => void }[] = [];

  constructor(total: number) {
    this.#total = total;
  }

  /** Resolves when it is one's turn, with what ends it. */
  async take(asked: number): Promise<() => void> {
    const size = Math.min(asked, this.#total);
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
