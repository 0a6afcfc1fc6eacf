/** Bounds of one unit (places or bytes): for all accounts together, and for one. */
export interface Bound {
  readonly all: number;
  readonly ofOne: number;
  /** Part of `all` reserved for accounts that hold at most an eighth of this part. Default: 0. */
  readonly spare?: number;
}

/** The spare part is for accounts that hold at most one part in this many of it. */
const SMALL_SHARES = 8;

export interface PoolBounds {
  /** Bound of the shares held at once. Default: unbounded. */
  readonly places?: Bound;
  /** Bound of their bytes together. Default: unbounded. */
  readonly bytes?: Bound;
}

/** A place in a pool, with its bytes, from `take` or `acquire` until `release`. */
export interface Share {
  readonly bytes: number;
  /** Changes the bytes of the share by `by`. False, without a change, if the pool has no room. */
  grow(by: number): boolean;
  /** Returns the place and its bytes to the pool. Safe to call again. */
  release(): void;
}

/** Use and refusals of a pool, for the metrics. */
export interface PoolUse {
  readonly places: number;
  readonly bytes: number;
  readonly waiting: number;
  readonly refused: number;
}

interface Use {
  places: number;
  bytes: number;
}

interface Waiting {
  readonly bytes: number;
  readonly begin: (share: Share) => void;
}

const UNBOUNDED: Bound = { all: Number.POSITIVE_INFINITY, ofOne: Number.POSITIVE_INFINITY };
const NOTHING: Readonly<Use> = { places: 0, bytes: 0 };

/**
 * A resource of the process, counted in places and bytes, that accounts share fairly.
 *
 * An account may hold `ofOne` while half of the pool is free. Beyond that, its holding times the pool's total use may
 * be at most `ofOne` squared. It always gets its first place while one is free. So the fuller the pool, the less one
 * account may add: about 30 accounts that take all they can get fill a pool with shares of an eighth, and 270 fill one
 * of 512 places with shares of 16. Three fill one with shares of a half, so those have a spare part.
 *
 * Waiting accounts take turns: first the one that holds least, then the one that has waited longest for a turn.
 */
export class FairPool<Owner = number> {
  readonly places: Bound;
  readonly bytes: Bound;
  readonly #used: Use = { places: 0, bytes: 0 };
  /** Holdings by account; absent if it holds nothing. */
  readonly #held = new Map<Owner, Use>();
  /** Waiting work by account, in the order in which accounts began to wait or last had their turn. */
  readonly #waiting = new Map<Owner, Waiting[]>();
  #waits = 0;
  #refused = 0;
  /** Callbacks of this pool's shares. */
  readonly #accounting: Accounting<Owner> = {
    mayGrow: (owner, by) => this.#used.bytes + by <= this.bytes.all && this.#isWithinShare(owner, 0, by),
    grown: (by) => {
      this.#used.bytes += by;
      if (by < 0) this.#beginNext();
    },
    released: (owner, held, bytes) => {
      add(this.#used, -1, -bytes);
      if (held.places === 0) this.#held.delete(owner);
      this.#toEnd(owner);
      this.#beginNext();
    },
  };

  constructor({ places = UNBOUNDED, bytes = UNBOUNDED }: PoolBounds) {
    this.places = places;
    this.bytes = bytes;
  }

  get use(): PoolUse {
    return { ...this.#used, waiting: this.#waits, refused: this.#refused };
  }

  /** True if the account can get a share immediately. */
  isFree(owner: Owner, bytes = 0): boolean {
    return !this.#waiting.has(owner) && this.#isWithinShare(owner, 1, bytes) && this.#hasRoom(bytes);
  }

  /** Takes a share immediately. If there is no room, counts a refusal and returns undefined. */
  take(owner: Owner, bytes = 0): Share | undefined {
    if (this.isFree(owner, bytes)) return this.#shareOf(owner, bytes);
    this.#refused++;
    return undefined;
  }

  /** Resolves with a share at the account's turn. Reduces `bytes` to the most that one account may hold. */
  async acquire(owner: Owner, bytes = 0): Promise<Share> {
    const size = Math.min(bytes, this.bytes.ofOne, this.bytes.all);
    // Waiting accounts go first, unless they wait for room in their own share.
    if (this.isFree(owner, size) && this.#next() === undefined) return this.#shareOf(owner, size);
    return await new Promise((begin) => {
      const queue = this.#waiting.get(owner) ?? [];
      this.#waiting.set(owner, queue);
      queue.push({ bytes: size, begin });
      this.#waits++;
    });
  }

  /** Runs the work with a share of the account, and releases the share when the work settles. */
  async run<T>(owner: Owner, work: () => Promise<T>, bytes = 0): Promise<T> {
    const share = await this.acquire(owner, bytes);
    try {
      return await work();
    } finally {
      share.release();
    }
  }

  #hasRoom(bytes: number): boolean {
    return this.#used.places + 1 <= this.places.all && this.#used.bytes + bytes <= this.bytes.all;
  }

  #isWithinShare(owner: Owner, places: number, bytes: number): boolean {
    const held = this.#held.get(owner) ?? NOTHING;
    return (
      isWithin(this.places, held.places, places, this.#used.places) &&
      isWithin(this.bytes, held.bytes, bytes, this.#used.bytes)
    );
  }

  #shareOf(owner: Owner, bytes: number): Share {
    let held = this.#held.get(owner);
    if (!held) {
      held = { places: 0, bytes: 0 };
      this.#held.set(owner, held);
    }
    add(held, 1, bytes);
    add(this.#used, 1, bytes);
    return new PoolShare(owner, held, bytes, this.#accounting);
  }

  #beginNext(): void {
    if (this.#waits === 0) return;
    for (let owner = this.#next(); owner !== undefined; owner = this.#next()) {
      const queue = this.#waiting.get(owner) ?? [];
      const [next] = queue;
      if (!next || !this.#hasRoom(next.bytes)) return;
      queue.shift();
      this.#waits--;
      if (queue.length === 0) this.#waiting.delete(owner);
      else this.#toEnd(owner);
      // Takes the share before the promise resolves, so nobody slips in between.
      next.begin(this.#shareOf(owner, next.bytes));
    }
  }

  /** Moves a waiting account to the end of the order, because it just had its turn. */
  #toEnd(owner: Owner): void {
    const queue = this.#waiting.get(owner);
    if (!queue) return;
    this.#waiting.delete(owner);
    this.#waiting.set(owner, queue);
  }

  /** The next account among those that wait and have room in their own share. */
  #next(): Owner | undefined {
    let next: Owner | undefined;
    let least = Number.POSITIVE_INFINITY;
    for (const [owner, [first]] of this.#waiting) {
      const places = this.#held.get(owner)?.places ?? 0;
      if (places >= least || !first || !this.#isWithinShare(owner, 1, first.bytes)) continue;
      next = owner;
      least = places;
      if (places === 0) break;
    }
    return next;
  }
}

/** True if an account that holds `held` may get `more` from a pool whose total use is `used`. */
function isWithin({ all, ofOne, spare = 0 }: Bound, held: number, more: number, used: number): boolean {
  if (more <= 0) return true;
  if (held + more > ofOne) return false;
  if (held === 0 || used + more <= all / 2 || held + more <= spare / SMALL_SHARES) return true;
  return used + more <= all - spare && (held + more) * used <= ofOne * ofOne;
}

function add(use: Use, places: number, bytes: number): void {
  use.places += places;
  use.bytes += bytes;
}

/** The part of a pool that its shares call. */
interface Accounting<Owner> {
  mayGrow(owner: Owner, by: number): boolean;
  grown(by: number): void;
  released(owner: Owner, held: Use, bytes: number): void;
}

class PoolShare<Owner> implements Share {
  readonly #owner: Owner;
  /** The owner's total in the pool, including this share. */
  readonly #held: Use;
  readonly #pool: Accounting<Owner>;
  #bytes: number;
  #isReleased = false;

  constructor(owner: Owner, held: Use, bytes: number, pool: Accounting<Owner>) {
    this.#owner = owner;
    this.#held = held;
    this.#bytes = bytes;
    this.#pool = pool;
  }

  get bytes(): number {
    return this.#bytes;
  }

  grow(by: number): boolean {
    if (this.#isReleased || !this.#pool.mayGrow(this.#owner, by)) return false;
    this.#bytes += by;
    this.#held.bytes += by;
    this.#pool.grown(by);
    return true;
  }

  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    add(this.#held, -1, -this.#bytes);
    this.#pool.released(this.#owner, this.#held, this.#bytes);
  }
}
