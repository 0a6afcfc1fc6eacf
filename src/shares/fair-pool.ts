/** Bounds of one kind of unit: for all accounts together, and for one. */
export interface Bound {
  readonly all: number;
  readonly ofOne: number;
  /** Part of `all` kept for accounts that hold at most an eighth of this part. Default: 0. */
  readonly spare?: number;
}

/** Accounts that share the spare part of a bound. */
const SMALL_SHARES = 8;

export interface PoolBounds {
  /** Bound of the shares that are held at once; absent: any number. */
  readonly places?: Bound;
  /** Bound of the bytes that these shares have together; absent: any number. */
  readonly bytes?: Bound;
}

/** A place in a pool, with its bytes, from `take` or `acquire` until `release`. */
export interface Share {
  readonly bytes: number;
  /** Changes the bytes of the share by `by`. False, and nothing changes, if the pool has no room for more. */
  grow(by: number): boolean;
  /** Gives the place and its bytes back. Safe to call again. */
  release(): void;
}

/** Use of a pool and its number of refusals, for the metrics. */
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
 * A resource of the process that accounts share fairly, counted in places and in bytes.
 *
 * An account may hold `ofOne` while half of the pool is free. Beyond that it gets more only while what it would hold,
 * times what all hold, is at most `ofOne` squared; its first place it gets while any is free. So the more of the pool
 * is taken, the smaller is the share that one account may add: it takes about 30 accounts, each with all that it can
 * get, to fill a pool with shares of an eighth, and 270 to fill one of 512 places with shares of 16. Three fill one with
 * shares of a half, which is why those have a spare part.
 *
 * Accounts that wait take turns: the next is the one that holds least, then the one that has waited longest for a turn.
 */
export class FairPool<Owner = number> {
  readonly #places: Bound;
  /** Bounds of the bytes. */
  readonly bytes: Bound;
  readonly #used: Use = { places: 0, bytes: 0 };
  /** The share of each account; accounts that hold nothing are absent. */
  readonly #held = new Map<Owner, Use>();
  /** Waiting work by account. Accounts are in the order in which they began to wait, or last had their turn. */
  readonly #waiting = new Map<Owner, Waiting[]>();
  #waits = 0;
  #refused = 0;
  /** What shares of this pool call when they change. */
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
    this.#places = places;
    this.bytes = bytes;
  }

  get use(): PoolUse {
    return { ...this.#used, waiting: this.#waits, refused: this.#refused };
  }

  /** True if a share of the account would be had at once. */
  isFree(owner: Owner, bytes = 0): boolean {
    return !this.#waiting.has(owner) && this.#isWithinShare(owner, 1, bytes) && this.#hasRoom(bytes);
  }

  /** Takes a share at once. Undefined, and counted as refused, if there is no room. */
  take(owner: Owner, bytes = 0): Share | undefined {
    if (this.isFree(owner, bytes)) return this.#shareOf(owner, bytes);
    this.#refused++;
    return undefined;
  }

  /** Resolves with a share when it is the account's turn. `bytes` above the share of one account are cut to it. */
  async acquire(owner: Owner, bytes = 0): Promise<Share> {
    const size = Math.min(bytes, this.bytes.ofOne, this.bytes.all);
    // Nobody overtakes those who wait, unless they wait for room in their own share.
    if (this.isFree(owner, size) && this.#next() === undefined) return this.#shareOf(owner, size);
    return await new Promise((begin) => {
      const queue = this.#waiting.get(owner) ?? [];
      this.#waiting.set(owner, queue);
      queue.push({ bytes: size, begin });
      this.#waits++;
    });
  }

  /** Runs the work with a share of the account, which is given back when the work's promise has settled. */
  async run<T>(owner: Owner, work: () => Promise<T>, bytes = 0): Promise<T> {
    const share = await this.acquire(owner, bytes);
    try {
      return await work();
    } finally {
      share.release();
    }
  }

  #hasRoom(bytes: number): boolean {
    return this.#used.places + 1 <= this.#places.all && this.#used.bytes + bytes <= this.bytes.all;
  }

  #isWithinShare(owner: Owner, places: number, bytes: number): boolean {
    const held = this.#held.get(owner) ?? NOTHING;
    return (
      isWithin(this.#places, held.places, places, this.#used.places) &&
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
      // The share is taken here and not if it is waited for, so that nobody slips in between.
      next.begin(this.#shareOf(owner, next.bytes));
    }
  }

  /** Makes the account the last in turn of those that wait, because it just had its turn. */
  #toEnd(owner: Owner): void {
    const queue = this.#waiting.get(owner);
    if (!queue) return;
    this.#waiting.delete(owner);
    this.#waiting.set(owner, queue);
  }

  /** The account whose turn it is, of those that wait and have room in their own shares. */
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

/** True if an account that holds `held` may have `more`, of a pool in which all hold `used`. */
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

/** A pool as its shares see it. */
interface Accounting<Owner> {
  mayGrow(owner: Owner, by: number): boolean;
  grown(by: number): void;
  released(owner: Owner, held: Use, bytes: number): void;
}

class PoolShare<Owner> implements Share {
  readonly #owner: Owner;
  /** All that the owner holds of the pool, this share included. */
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
