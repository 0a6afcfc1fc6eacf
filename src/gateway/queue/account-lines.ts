import {
  drained,
  type FullLimit,
  hasBuckets,
  hasCallLimits,
  type LimitOwner,
  type LimitState,
  type LimitStates,
  msUntilServed,
} from '../../domain/call-limits.ts';
import type { KeyAndAccountLimits } from '../../domain/rules.ts';
import type { Share } from '../../shares/fair-pool.ts';

/** Fields that decide whether a new call must queue. */
export type Newcomer = Pick<QueuedCall<never>, 'keyId' | 'limits' | 'tokens'>;

/**
 * The waiting calls of one account, a line for each key. A head (the first call of a line) that lacks room in the
 * limits of its key waits for that alone. If the account has limits too, all other heads queue in one more line for
 * room in those, in the order in which they came.
 */
export class AccountLines<Held> {
  readonly lines = new Map<number, KeyLine<Held>>();
  /** The first call of each line, in the order in which they came. */
  readonly heads: Waiter<Held>[] = [];
  /** True if `CallQueue` is about to look whose turn it is. */
  isPumped = false;
  /** Calls that a newcomer must wait for, if its key has no line, in the line for room in the limits of the account. */
  readonly #ahead: Ahead = { calls: 0, tokens: 0 };
  #known: Known | undefined;

  /** True if the call has to wait behind others, because it would take room that they wait for. */
  isBehind({ keyId, limits, tokens }: Newcomer): boolean {
    const wantsPlaceOnly = !hasBuckets(limits.key) && !hasBuckets(limits.account);
    const holdsUp = (line: KeyLine<Held> | undefined) => {
      if (line === undefined) return false;
      if (wantsPlaceOnly) return !line.waiting.every(lacksNoPlace);
      return tokens > 0 || !line.waiting.every(lacksTokensOnly);
    };
    if (holdsUp(this.lines.get(keyId))) return true;
    if (!hasCallLimits(limits.account)) return false;
    return this.heads.some((head) => isQueuedForAccount(head) && holdsUp(this.lines.get(head.call.keyId)));
  }

  /** Adds a call behind all others. Returns true if it is the head of its line. */
  add(waiter: Waiter<Held>): boolean {
    const { keyId } = waiter.call;
    const line = this.lines.get(keyId) ?? new KeyLine();
    this.lines.set(keyId, line);
    line.keyTokens += waiter.tokens.key;
    line.accountTokens += waiter.tokens.account;
    const isHead = line.waiting.push(waiter) === 1;
    if (isHead) this.heads.push(waiter);
    this.#recount(line);
    return isHead;
  }

  remove(waiter: Waiter<Held>): void {
    const { keyId } = waiter.call;
    const line = this.lines.get(keyId);
    const at = line?.waiting.indexOf(waiter) ?? -1;
    if (!line || at < 0) return;
    line.waiting.splice(at, 1);
    line.keyTokens -= waiter.tokens.key;
    line.accountTokens -= waiter.tokens.account;
    const [next] = line.waiting;
    // Presumably the next call lacks the same as the first one.
    if (at === 0 && next) next.blockedBy = waiter.blockedBy;
    this.#recount(line);
    if (at > 0) return;
    this.heads.splice(this.heads.indexOf(waiter), 1);
    if (!next) {
      this.lines.delete(keyId);
      return;
    }
    const after = this.heads.findIndex(({ turn }) => turn > next.turn);
    this.heads.splice(after < 0 ? this.heads.length : after, 0, next);
  }

  /** Stores the state of the limits, as Redis just gave it, for `fullFor`. */
  note(keyId: number, { key, account }: LimitStates): void {
    const at = performance.now();
    this.#known = { state: account, at };
    const line = this.lines.get(keyId);
    if (!line) return;
    line.known = { state: key, at };
    // The key's record may have changed, and with it the limits that the head waits for.
    this.#recount(line);
  }

  /** Stores what blocks a head. */
  setBlocked(head: Waiter<Held>, blockedBy: Waiter<Held>['blockedBy']): void {
    head.blockedBy = blockedBy;
    const line = this.lines.get(head.call.keyId);
    if (line) this.#recount(line);
  }

  /**
   * Limits that will have no room for a new call until the calls ahead of it have had theirs, each with its wait in
   * milliseconds if that is known.
   */
  fullFor({
    keyId,
    limits,
    tokens,
  }: {
    keyId: number;
    limits: QueuedCall<Held>['limits'];
    tokens: Waiter<Held>['tokens'];
  }): FullLimit[] {
    const own = this.lines.get(keyId);
    const ofKey = own ? fullBehind('key', own.known, own.waiting.length, own.keyTokens + tokens.key) : [];
    if (!hasCallLimits(limits.account)) return ofKey;
    const ahead = this.#ahead.calls + (own ? own.waiting.length - own.ahead.calls : 0);
    const taken = this.#ahead.tokens + tokens.account + (own ? own.accountTokens - own.ahead.tokens : 0);
    return ahead === 0 ? ofKey : [...ofKey, ...fullBehind('account', this.#known, ahead, taken)];
  }

  /** Brings `ahead` up to date with what changed in a line: summed for each newcomer, 5,000 lines took a second. */
  #recount(line: KeyLine<Held>): void {
    this.#ahead.calls -= line.ahead.calls;
    this.#ahead.tokens -= line.ahead.tokens;
    line.ahead = aheadIn(line);
    this.#ahead.calls += line.ahead.calls;
    this.#ahead.tokens += line.ahead.tokens;
  }
}

/** What of a line goes before a call of another key, in the line for room in the limits of the account. */
function aheadIn<Held>({ waiting, accountTokens }: KeyLine<Held>): Ahead {
  const [head] = waiting;
  if (!head || !isQueuedForAccount(head)) return { calls: 0, tokens: 0 };
  // Unknown how many of that key's calls precede this one; count at least its head.
  if (hasCallLimits(head.call.limits.key)) return { calls: 1, tokens: head.tokens.account };
  return { calls: waiting.length, tokens: accountTokens };
}

/** True if a call waits for tokens alone, so that one which takes none need not wait behind it. */
function lacksTokensOnly<Held>({ call, full }: Waiter<Held>): boolean {
  return call.tokens > 0 && full.length > 0 && full.every(({ name }) => name === 'tpm_limit');
}

/** True if a call has a place, as far as is known, so that one which wants nothing else need not wait behind it. */
function lacksNoPlace<Held>({ full }: Waiter<Held>): boolean {
  return full.length > 0 && full.every(({ name }) => name !== 'max_parallel_requests');
}

/** True if a head waits for room in the limits of its account, so that later calls do not overtake it. */
export function isQueuedForAccount({
  blockedBy,
  call,
}: Pick<Waiter<never>, 'blockedBy'> & { readonly call: Pick<QueuedCall<never>, 'limits'> }): boolean {
  return blockedBy !== 'key' && hasCallLimits(call.limits.account);
}

/** Limits without room for a call behind `ahead` others; `tokens`: those of all these calls together. */
function fullBehind(owner: LimitOwner, known: Known | undefined, ahead: number, tokens: number): FullLimit[] {
  if (!known) return [];
  const { state, at } = known;
  const passedMs = Math.floor(performance.now() - at);
  const full: FullLimit[] = [];
  if (state.parallel) {
    full.push({ owner, name: 'max_parallel_requests', limit: state.parallel.limit, waitMs: undefined });
  }
  const add = (name: 'rpm_limit' | 'tpm_limit', unit: 'requests' | 'tokens', units: number) => {
    const bucket = state[unit];
    const waitMs = bucket ? msUntilServed(drained(bucket, passedMs), units) : 0;
    if (bucket && waitMs > 0) full.push({ owner, name, limit: bucket.limit, waitMs });
  };
  add('rpm_limit', 'requests', ahead + 1);
  add('tpm_limit', 'tokens', tokens);
  return full;
}

/** Result of one attempt to admit a call: the admitted call, or the limits that have no room for it. */
export type AttemptResult<Held> =
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
  attempt(): Promise<AttemptResult<Held>>;
  /** Gives back what the admission took of a call whose client has left meanwhile. */
  giveBack(held: Held): void;
}

/** Outcome of waiting: the call was admitted, its limits refuse it, or its client left. */
export type Outcome<Held> =
  | { readonly end: 'held'; readonly held: Held; readonly waitedMs: number }
  | { readonly end: 'limited'; readonly full: readonly FullLimit[] }
  | { readonly end: 'left' };

/**
 * Handle of a call in the queue. `outcome` rejects with the rejection of `attempt`, or with a 503 if the gateway
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
 * the limits of its key or of its account (`blockedBy`) → ready …
 */
export class Waiter<Held> {
  readonly call: QueuedCall<Held>;
  /** Number of the call in the order of arrival. */
  readonly turn: number;
  readonly joinedAt = performance.now();
  readonly tokens: { readonly key: number; readonly account: number };
  readonly #settled = Promise.withResolvers<Outcome<Held>>();
  /** Owner of the limits that had no room at the last attempt; undefined if that is not known. */
  blockedBy: 'key' | 'account' | undefined;
  isReady = true;
  isAsking = false;
  /** True once the call has left the queue. */
  isOut = false;
  /** True if room may have come since the last attempt. */
  isWoken = false;
  /** True if a call that ends may make the room that is lacking. */
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

/** Share of the longest wait that waits end early. */
const JITTER = 0.05;

/**
 * Milliseconds that a call may wait: earlier than `maxQueueMs` by a share that `random`, of 0 to 1, draws, so that calls
 * which came together do not end together; but no less than the `knownMs` that it takes to get room.
 */
export function waitBound(maxQueueMs: number, knownMs: number, random: number): number {
  return maxQueueMs - random * Math.max(0, Math.min(maxQueueMs * JITTER, maxQueueMs - knownMs));
}

/** State of limits as Redis last gave it. `at` is by `performance.now()`. */
interface Known {
  readonly state: LimitState;
  readonly at: number;
}

/** Calls, and the tokens that they take of the limits of their account. */
interface Ahead {
  calls: number;
  tokens: number;
}

/** The waiting calls of one key, in the order in which they came. */
class KeyLine<Held> {
  readonly waiting: Waiter<Held>[] = [];
  /** Tokens that these calls take of the limits of their key, and of their account. */
  keyTokens = 0;
  accountTokens = 0;
  known: Known | undefined;
  /** What of this line goes before calls of other keys; `AccountLines` keeps it. */
  ahead: Ahead = { calls: 0, tokens: 0 };
}
