import { setTimeout as sleep } from 'node:timers/promises';

/** A call that was sent and is not settled yet. */
interface OpenCall {
  /** Its client left: it is only read on, for its usage. */
  readonly hasLeft: boolean;
  /** Ends the call now, as its deadline does. */
  timeIsUp(): void;
}

/** Time after `giveUp` for the calls to settle. */
const SETTLE_WITHIN_MS = 5_000;

/**
 * The unsettled calls of this process, which a stop waits for: calls that their clients abandoned have no connection to
 * wait on. States: open → giving up (later departures are settled at once).
 */
export class OpenCalls {
  readonly #readOnMs: number;
  /**
   * By place; undefined: free. Not a Set: its tables, once outgrown, keep calls alive until the next major collection,
   * which took 70 of 350 µs of CPU a call.
   */
  readonly #calls: (OpenCall | undefined)[] = [];
  readonly #free: number[] = [];
  #isGivenUp = false;
  #isLate = false;
  #empty: PromiseWithResolvers<void> | undefined;

  constructor({ readOnMs }: { readonly readOnMs: number }) {
    this.#readOnMs = readOnMs;
  }

  /** Maximum time to read on after a client leaves now; 0: its call is settled at once. */
  get readOnMs(): number {
    return this.#isGivenUp ? 0 : this.#readOnMs;
  }

  /** Calls that are not settled. */
  get count(): number {
    return this.#calls.length - this.#free.length;
  }

  /** Calls that are read on. */
  get readOn(): number {
    return this.#calls.filter((call) => call?.hasLeft).length;
  }

  get #isEmpty(): boolean {
    return this.count === 0;
  }

  /** Registers an open call. Returns its slot for `settled`. */
  began(call: OpenCall): number {
    const place = this.#free.pop() ?? this.#calls.length;
    this.#calls[place] = call;
    return place;
  }

  /** Removes the call in this slot. Call it once. */
  settled(place: number): void {
    this.#calls[place] = undefined;
    this.#free.push(place);
    if (this.#isEmpty) this.#end();
  }

  /** Ends all calls, and from now on each one that its client leaves. */
  giveUp(): void {
    this.#isGivenUp = true;
    for (const call of [...this.#calls]) call?.timeIsUp();
    void sleep(SETTLE_WITHIN_MS, undefined, { ref: false }).then(() => {
      this.#isLate = true;
      this.#end();
    });
  }

  /** Resolves once no call is open, at the latest 5 s after `giveUp`. */
  async ended(): Promise<void> {
    if (this.#isEmpty || this.#isLate) return;
    this.#empty ??= Promise.withResolvers<void>();
    await this.#empty.promise;
  }

  #end(): void {
    this.#empty?.resolve();
    this.#empty = undefined;
  }
}
