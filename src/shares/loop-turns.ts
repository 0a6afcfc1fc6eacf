/** Milliseconds of paced work in one turn of the event loop. Its follow-up may take as long again. */
const WORK_MS = 4;
/** Milliseconds of it that one owner has at a time: some small pieces of work, or one large one. */
const OWNER_MS = 1;
/**
 * Milliseconds for which paced work waits while connections are accepted. With the reading of a request each takes 0.1 ms, so
 * that the last of 1,000 is accepted after some 200 ms; with 4 ms here it was 550, and without this wait 1,000 to 1,300.
 */
const ACCEPT_MS = 20;
/**
 * Milliseconds of prompt work in each `PROMPT_SPAN_MS`: work of owners who have none that waits, done ahead of the owners who
 * do. Beside 3,900 connections of three accounts, the median call of a fourth takes 37 ms with it, and 70 ms without.
 */
const PROMPT_MS = 2;
const PROMPT_SPAN_MS = 20;

type Work = () => void;

/** Work that waits, and the milliseconds that it leads to elsewhere. */
interface Waiting {
  readonly work: Work;
  readonly more: number;
}

/**
 * Paces work that comes in bursts, so that a thousand requests, or waits, that come or end together do not hold the
 * event loop: one turn of it does a few milliseconds of such work, and the rest follows in the next turns, by turns of
 * its owners. Work that is no burst runs at once, for 0.1 µs more, and so does a little work of owners who are no part of it.
 *
 * libuv accepts one connection in a turn of the loop. Behind a thousand connections that come together, the next one would
 * wait for a thousand turns full of the work that the first ones lead to. So paced work waits for a turn without a new connection.
 */
export class LoopTurns {
  /** Start of the paced work of this turn of the loop, by `performance.now()`; undefined if there was none. */
  #startedAt: number | undefined;
  /** True if a connection was accepted in this turn. */
  #hasAccepted = false;
  /** Time since which work waits that could have been done, by `performance.now()`. */
  #waitsSince = 0;
  #isScheduled = false;
  /** Start of the current span of prompt work, by `performance.now()`, and the milliseconds done in it. */
  #promptSince = 0;
  #promptMs = 0;
  /** True until the time of a piece of prompt work is known, with that of its first promises. */
  #isPrompt = false;
  /** Work for later turns, by owner. Owners are in the order in which they have their turns. */
  readonly #later = new Map<unknown, Waiting[]>();

  /**
   * Runs the work now, or in a later turn of the event loop. It must not throw. `more`: milliseconds that it leads to in the
   * next turn, and that are counted as its own.
   */
  run(owner: unknown, work: Work, more = 0): void {
    if (this.#later.size > 0 || this.#hasAccepted || this.#isOver()) {
      if (this.#later.has(owner) || !this.#runPromptly(work, more)) this.#add(owner, { work, more });
      return;
    }
    this.#startedAt = (this.#startedAt ?? performance.now()) - more;
    this.#schedule();
    work();
  }

  /** Resolves when it is the owner's turn; what follows at once is the work. */
  next(owner: unknown, more = 0): Promise<void> {
    return new Promise((begin) => this.run(owner, begin, more));
  }

  /** To be called for each connection that is accepted. */
  accepted(): void {
    this.#hasAccepted = true;
    this.#schedule();
  }

  /** Runs the work of an owner who has none that waits. False if the time for prompt work is used up. */
  #runPromptly(work: Work, more: number): boolean {
    const now = performance.now();
    if (now - this.#promptSince > PROMPT_SPAN_MS) {
      this.#promptSince = now;
      this.#promptMs = 0;
    }
    if (this.#isPrompt || this.#promptMs >= PROMPT_MS) return false;
    this.#isPrompt = true;
    work();
    queueMicrotask(() => {
      this.#isPrompt = false;
      this.#promptMs += performance.now() - now + more;
    });
    return true;
  }

  #add(owner: unknown, waiting: Waiting): void {
    if (this.#later.size === 0) this.#waitsSince = performance.now();
    const queue = this.#later.get(owner);
    if (queue) queue.push(waiting);
    else this.#later.set(owner, [waiting]);
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => void this.#work());
  }

  #isOver(): boolean {
    return this.#startedAt !== undefined && performance.now() - this.#startedAt > WORK_MS;
  }

  async #work(): Promise<void> {
    this.#isScheduled = false;
    this.#startedAt = undefined;
    const hasAccepted = this.#hasAccepted;
    this.#hasAccepted = false;
    if (this.#later.size === 0) return;
    this.#schedule();
    const now = performance.now();
    if (hasAccepted && now - this.#waitsSince < ACCEPT_MS) return;
    this.#startedAt = now;
    for (const [owner, queue] of this.#later) {
      let until = performance.now() + OWNER_MS;
      do {
        const { work, more } = queue.shift() as Waiting;
        until -= more;
        this.#startedAt -= more;
        work();
        // Time that the work spends in promises counts too.
        await undefined;
      } while (queue.length > 0 && performance.now() < until);
      this.#later.delete(owner);
      // At the end of the map, which this loop gets to once every other owner has had a turn.
      if (queue.length > 0) this.#later.set(owner, queue);
      if (this.#isOver()) break;
    }
    this.#waitsSince = performance.now();
  }
}
