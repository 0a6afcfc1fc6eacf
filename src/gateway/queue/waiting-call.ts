import type { FullLimit, LimitState, LimitStates } from '../../domain/call-limits.ts';
import type { KeyAndAccountLimits } from '../../domain/rules.ts';
import type { Share } from '../../shares/fair-pool.ts';

/** Result of one attempt to admit a call: the admitted call, or the limits that have no room for it. */
export type AskResult<Held> =
  | { readonly held: Held }
  /** `onlyLimits`: the call lacks nothing else, so that waiting can help. */
  | { readonly limits: LimitStates; readonly onlyLimits: boolean };

/** A call that lacks room in its limits, as the queue sees it. */
export interface QueuedCall<Held> {
  readonly accountId: number;
  readonly keyId: number;
  /** Limits by the record that the call was last checked by. */
  readonly limits: KeyAndAccountLimits;
  /** Tokens that it is likely to use. */
  readonly tokens: number;
  /**
   * Checks the call again by the current record and asks the ledger to admit it. Rejects with the refusal for the
   * client.
   */
  ask(): Promise<AskResult<Held>>;
  /** Gives back what the admission took of a call whose client has left meanwhile. */
  giveBack(held: Held): void;
}

/** Outcome of waiting: the call was admitted, its limits refuse it, or its client left. */
export type Outcome<Held> =
  | { readonly end: 'held'; readonly held: Held; readonly waitedMs: number }
  | { readonly end: 'limited'; readonly full: readonly FullLimit[] }
  | { readonly end: 'left' };

/**
 * Handle of a call in the queue. `outcome` rejects with what `ask` rejected with, or with a 503 where the gateway
 * stops.
 */
export interface Waiting<Held> {
  readonly outcome: Promise<Outcome<Held>>;
  /** Takes the call out of the queue, because its client has left. */
  leave(): void;
  /** To be called once a call that was refused has its answer: only so many waits end at once. */
  answered(): void;
}

/**
 * A waiting call. States: behind others → ready (it asks when its turn comes) → asking → in, or refused, or waiting for room in
 * the limits of its key or of its account (`lacks`) → ready …
 */
export class Waiter<Held> {
  readonly call: QueuedCall<Held>;
  /** Number of the call in the order of arrival. */
  readonly turn: number;
  readonly joinedAt = performance.now();
  readonly tokens: { readonly key: number; readonly account: number };
  readonly #settled = Promise.withResolvers<Outcome<Held>>();
  /** Owner of the limits that had no room at the last attempt; undefined where that is not known. */
  lacks: 'key' | 'account' | undefined;
  isReady = true;
  isAsking = false;
  /** True once the call has left the queue. */
  isOut = false;
  /** True where room may have come since the last attempt. */
  isWoken = false;
  /** True where a call that ends may make the room that is lacking. */
  wakesOnEnd = false;
  /** Limits without room when the call came or last asked, with their waits counted from `fullAt`. */
  full: readonly FullLimit[] = [];
  fullAt = this.joinedAt;
  /** Share of the waiting room. */
  room: Share | undefined;
  /** Share of the waits that end at once, from when the call is refused until it has its answer. */
  ending: Share | undefined;
  isEnding = false;
  /** Milliseconds that the call may wait. */
  maxMs = 0;
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

  /** Limits without room, with the rest of their waits. */
  fullNow(): FullLimit[] {
    const passedMs = performance.now() - this.fullAt;
    return this.full.map((each) =>
      each.waitMs === undefined ? each : { ...each, waitMs: Math.max(1, Math.ceil(each.waitMs - passedMs)) },
    );
  }
}

/** Share of the longest wait by which waits end earlier. */
const JITTER = 0.05;

/**
 * Milliseconds that a call may wait: earlier than `maxQueueMs` by a share that `random`, of 0 to 1, draws, so that calls
 * which came together do not end together; but no less than the `knownMs` that it takes to get room.
 */
export function waitBound(maxQueueMs: number, knownMs: number, random: number): number {
  return maxQueueMs - random * Math.max(0, Math.min(maxQueueMs * JITTER, maxQueueMs - knownMs));
}

/** State of limits as Redis last gave it. `at` is by `performance.now()`. */
export interface Known {
  readonly state: LimitState;
  readonly at: number;
}

/** Calls, and the tokens that they take of the limits of their account. */
export interface Ahead {
  calls: number;
  tokens: number;
}

/** The waiting calls of one key, in the order in which they came. */
export class KeyLine<Held> {
  readonly waiting: Waiter<Held>[] = [];
  /** Tokens that these calls take of the limits of their key, and of their account. */
  keyTokens = 0;
  accountTokens = 0;
  known: Known | undefined;
  /** What of this line goes before calls of other keys; `AccountLines` keeps it. */
  ahead: Ahead = { calls: 0, tokens: 0 };
}
