/** Milliseconds of paced work in one turn of the event loop. Its follow-up may double that. */
const WORK_MS = 4;
/** Milliseconds of an owner's turn: several small pieces of work, or one large one. */
const OWNER_MS = 1;
/**
 * Longest wait of paced work, in milliseconds, while connections are accepted. Accepting one and reading its request
 * takes 0.1 ms. The last of 1,000 is accepted after some 200 ms; with 4 ms here it took 550 ms, and without this wait
 * 1,000 to 1,300 ms.
 */
const ACCEPT_MS = 20;
/**
 * Prompt work: a little work of each owner runs ahead of queued work. Milliseconds of it in each `PROMPT_SPAN_MS`, of
 * one owner and of all. Beside 3,900 connections of three accounts, the median call of a fourth takes 50 ms with it,
 * and 70 ms without.
 */
const PROMPT_OWNER_MS = 2;
const PROMPT_MS = 12;
const PROMPT_SPAN_MS = 20;

type Work = () => void;

interface Waiting {
  readonly work: Work;
  /** Milliseconds of follow-up work that it causes. */
  readonly more: number;
}

/**
 * Paces bursts of work, so that a thousand simultaneous requests, or ends of waits, do not block the event loop. One
 * turn of the loop does a few milliseconds of such work; the owners of the rest alternate in later turns. Work outside
 * a burst runs immediately and costs 0.1 µs more. So does a little work of owners who are not part of the burst.
 *
 * libuv accepts one connection per turn of the loop. Behind a thousand simultaneous connections, the next one would
 * wait for a thousand turns filled with the work of the first ones. So paced work waits for a turn without a new
 * connection.
 */
export class LoopTurns {
  /** Start of this turn's paced work, by `performance.now()`; undefined if there was none. */
  #startedAt: number | undefined;
  /** True if a connection was accepted in this turn. */
  #hasAccepted = false;
  /** Time since which runnable work has waited, by `performance.now()`. */
  #waitsSince = 0;
  #isScheduled = false;
  /** Start of the current span of prompt work, by `performance.now()`, and the milliseconds done in it, of all and by owner. */
  #promptSince = 0;
  #promptMs = 0;
  readonly #promptMsOf = new Map<unknown, number>();
  /** True until a piece of prompt work is measured, including its first promises. */
  #isPrompt = false;
  /** Work for later turns by owner, in the order of their turns. */
  readonly #later = new Map<unknown, Waiting[]>();

  /**
   * Runs the work now, or in a later turn of the event loop. The work must not throw. `more`: milliseconds of follow-up
   * work in the next turn, which count as its own.
   */
  run(owner: unknown, work: Work, more = 0): void {
    if (this.#later.size > 0 || this.#hasAccepted || this.#isOver()) {
      if (this.#later.has(owner) || !this.#runPromptly(owner, work, more)) this.#add(owner, { work, more });
      return;
    }
    this.#startedAt = (this.#startedAt ?? performance.now()) - more;
    this.#schedule();
    work();
  }

  /** Resolves at the owner's turn. The code that runs directly after it is the work. */
  next(owner: unknown, more = 0): Promise<void> {
    return new Promise((begin) => this.run(owner, begin, more));
  }

  /** Call for each accepted connection. */
  accepted(): void {
    this.#hasAccepted = true;
    this.#schedule();
  }

  /** Runs work of an owner without a queue. False if the time for prompt work is used up. */
  #runPromptly(owner: unknown, work: Work, more: number): boolean {
    const now = performance.now();
    if (now - this.#promptSince > PROMPT_SPAN_MS) {
      this.#promptSince = now;
      this.#promptMs = 0;
      this.#promptMsOf.clear();
    }
    const used = this.#promptMsOf.get(owner) ?? 0;
    if (this.#isPrompt || used >= PROMPT_OWNER_MS || this.#promptMs >= PROMPT_MS) return false;
    this.#isPrompt = true;
    work();
    queueMicrotask(() => {
      const took = performance.now() - now + more;
      this.#isPrompt = false;
      this.#promptMs += took;
      this.#promptMsOf.set(owner, used + took);
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
      // The end of the map, which this loop reaches after every other owner's turn.
      if (queue.length > 0) this.#later.set(owner, queue);
      if (this.#isOver()) break;
    }
    this.#waitsSince = performance.now();
  }
}
