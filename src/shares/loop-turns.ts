/** Milliseconds of paced work in one turn of the event loop. What it leads to may take as long again. */
const WORK_MS = 4;

type Work = () => void;

/**
 * Paces work that comes in bursts, so that a thousand requests, or waits, that come or end together do not hold the
 * event loop: one turn of it does a few milliseconds of such work, and the rest follows in the next turns, by turns of
 * its owners. Work that is no burst runs at once, for 0.1 µs more.
 */
export class LoopTurns {
  /** Start of the paced work of this turn of the loop, by `performance.now()`; undefined if there was none. */
  #startedAt: number | undefined;
  /** Work for later turns, by owner. Owners are in the order in which they have their turns. */
  readonly #later = new Map<unknown, Work[]>();

  /** Runs the work now, or in a later turn of the event loop. It must not throw. */
  run(owner: unknown, work: Work): void {
    if (this.#startedAt === undefined) this.#begin();
    else if (this.#later.size > 0 || this.#isOver(this.#startedAt)) {
      const queue = this.#later.get(owner);
      if (queue) queue.push(work);
      else this.#later.set(owner, [work]);
      return;
    }
    work();
  }

  #begin(): number {
    this.#startedAt = performance.now();
    setImmediate(() => void this.#next());
    return this.#startedAt;
  }

  #isOver(startedAt: number): boolean {
    return performance.now() - startedAt > WORK_MS;
  }

  async #next(): Promise<void> {
    this.#startedAt = undefined;
    if (this.#later.size === 0) return;
    const startedAt = this.#begin();
    for (const [owner, queue] of this.#later) {
      const work = queue.shift();
      this.#later.delete(owner);
      // At the end of the map, which this loop gets to once every other owner has had a turn.
      if (queue.length > 0) this.#later.set(owner, queue);
      work?.();
      // Time that the work spends in promises counts too.
      await undefined;
      if (this.#isOver(startedAt)) return;
    }
  }
}
