import type { FullLimit, LimitState, LimitStates } from '../../domain/call-limits.ts';
import type { KeyAndAccountLimits } from '../../domain/rules.ts';

/** What asking for a call's admission gives: the admitted call, or the limits that have no room for it. */
export type AskResult<Held> =
  | { readonly held: Held }
  /** `onlyLimits`: the call lacks nothing else, so that waiting can help. */
  | { readonly limits: LimitStates; readonly onlyLimits: boolean };

/** A call that lacks room in its limits, as the queue sees it. */
export interface QueuedCall<Held> {
  readonly accountId: number;
  readonly keyId: number;
  /** Those of the record that it was last checked by. */
  readonly limits: KeyAndAccountLimits;
  /** Tokens that it is likely to use. */
  readonly tokens: number;
  /** Bytes of memory that it keeps while it waits. */
  readonly bytes: number;
  /** Checks the call anew by the current record and asks the ledger to admit it. Rejects with the answer of a refusal. */
  ask(): Promise<AskResult<Held>>;
  /** Gives back what an admission took whose client has left meanwhile. */
  giveBack(held: Held): void;
}

/** How waiting ended. */
export type Outcome<Held> =
  | { readonly end: 'held'; readonly held: Held; readonly waitedMs: number }
  | { readonly end: 'limited'; readonly full: readonly FullLimit[] }
  | { readonly end: 'left' };

/** A call in a queue. `outcome` rejects with what `ask` rejected with, or 503 where the gateway stops. */
export interface Waiting<Held> {
  readonly outcome: Promise<Outcome<Held>>;
  /** The client has left: nothing of the call is to stay behind. */
  leave(): void;
}

/**
 * A waiting call. States: behind others → ready (it asks when its turn comes) → asking → in, or refused, or waiting for room in
 * the limits of its key or of its account (`lacks`) → ready …
 */
export class Waiter<Held> {
  readonly call: QueuedCall<Held>;
  /** Order in which calls came. */
  readonly turn: number;
  readonly joinedAt = performance.now();
  readonly tokens: { readonly key: number; readonly account: number };
  readonly #settled = Promise.withResolvers<Outcome<Held>>();
  /** Whose limits had no room last; undefined: not known. */
  lacks: 'key' | 'account' | undefined;
  isReady = true;
  isAsking = false;
  /** It has left the queue. */
  isOut = false;
  /** Room may have come since it asked last. */
  isWoken = false;
  /** A call that ends may make the room that it lacks. */
  wakesOnEnd = false;
  /** The limits that had no room when it came or asked last, with their waits at `fullAt`. */
  full: readonly FullLimit[] = [];
  fullAt = this.joinedAt;
  askTimer: NodeJS.Timeout | undefined;
  deadline: NodeJS.Timeout | undefined;

  constructor(call: QueuedCall<Held>, turn: number, tokens: Waiter<Held>['tokens']) {
    this.call = call;
    this.turn = turn;
    this.tokens = tokens;
  }

  get outcome(): Promise<Outcome<Held>> {
    return this.#settled.promise;
  }

  get waitedMs(): number {
    return performance.now() - this.joinedAt;
  }

  resolve(outcome: Outcome<Held>): void {
    this.#settled.resolve(outcome);
  }

  reject(error: unknown): void {
    this.#settled.reject(error);
  }

  /** The limits without room, with what is left of their waits. */
  fullNow(): FullLimit[] {
    const passedMs = performance.now() - this.fullAt;
    return this.full.map((each) =>
      each.waitMs === undefined ? each : { ...each, waitMs: Math.max(1, Math.ceil(each.waitMs - passedMs)) },
    );
  }
}

/** Limits as Redis last said they stand, and when, by performance.now(). */
export interface Known {
  readonly state: LimitState;
  readonly at: number;
}

/** Calls of one key that wait, in the order in which they came. */
export class KeyLine<Held> {
  readonly waiting: Waiter<Held>[] = [];
  /** Tokens that they take of the limits of their key and of their account. */
  keyTokens = 0;
  accountTokens = 0;
  known: Known | undefined;
}
