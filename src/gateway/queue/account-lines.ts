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
 * The waiting calls of one account, one line per key. The head of a line that lacks room in its key's limits waits only
 * for that. If the account has limits too, all other heads also queue, in order of arrival, for room in those.
 */
export class AccountLines<Held> {
  readonly lines = new Map<number, KeyLine<Held>>();
  /** The first call of each line, in order of arrival. */
  readonly heads: Waiter<Held>[] = [];
  /** True if `CallQueue` is about to process these lines. */
  isPumped = false;
  /** Calls queued for the account's limits ahead of a newcomer whose key has no line. */
  readonly #ahead: Ahead = { calls: 0, tokens: 0 };
  #known: Known | undefined;

  /** Whether the call must queue, because it would take room that others wait for. */
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

  /** Adds a call at the end. Returns true if it heads its line. */
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
    // Assume the next call lacks the same as the first one.
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

  /** Stores the latest state of the limits for `fullFor`. */
  note(keyId: number, { key, account }: LimitStates): void {
    const at = performance.now();
    this.#known = { state: account, at };
    const line = this.lines.get(keyId);
    if (!line) return;
    line.known = { state: key, at };
    // The key's record may have changed, and with it the limits that block the head.
    this.#recount(line);
  }

  setBlocked(head: Waiter<Held>, blockedBy: Waiter<Held>['blockedBy']): void {
    head.blockedBy = blockedBy;
    const line = this.lines.get(head.call.keyId);
    if (line) this.#recount(line);
  }

  /**
   * Limits without room for a new call until the calls ahead have had theirs, each with its wait in milliseconds if
   * known.
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

  /** Updates `ahead` after a line changed: summing 5,000 lines for each newcomer took a second. */
  #recount(line: KeyLine<Held>): void {
    this.#ahead.calls -= line.ahead.calls;
    this.#ahead.tokens -= line.ahead.tokens;
    line.ahead = aheadIn(line);
    this.#ahead.calls += line.ahead.calls;
    this.#ahead.tokens += line.ahead.tokens;
  }
}

/** The part of a line that precedes a call of another key in the line for the account's limits. */
function aheadIn<Held>({ waiting, accountTokens }: KeyLine<Held>): Ahead {
  const [head] = waiting;
  if (!head || !isQueuedForAccount(head)) return { calls: 0, tokens: 0 };
  // Unknown how many of that key's calls precede this one; count at least its head.
  if (hasCallLimits(head.call.limits.key)) return { calls: 1, tokens: head.tokens.account };
  return { calls: waiting.length, tokens: accountTokens };
}

/** Whether a call waits only for tokens, so that a call without tokens need not queue behind it. */
function lacksTokensOnly<Held>({ call, full }: Waiter<Held>): boolean {
  return call.tokens > 0 && full.length > 0 && full.every(({ name }) => name === 'tpm_limit');
}

/** Whether a call has a slot, as far as known, so that a call that needs only a slot need not queue behind it. */
function lacksNoPlace<Held>({ full }: Waiter<Held>): boolean {
  return full.length > 0 && full.every(({ name }) => name !== 'max_parallel_requests');
}

/** Whether a head waits for room in its account's limits, so that later calls do not overtake it. */
export function isQueuedForAccount({
  blockedBy,
  call,
}: Pick<Waiter<never>, 'blockedBy'> & { readonly call: Pick<QueuedCall<never>, 'limits'> }): boolean {
  return blockedBy !== 'key' && hasCallLimits(call.limits.account);
}

/** Limits without room for a call behind `ahead` others; `tokens`: the sum of all these calls. */
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

/** Result of one admission attempt: the admitted call, or the limits without room. */
export type AttemptResult<Held> =
  | { readonly held: Held }
  /** `onlyLimits`: everything else fits, so that waiting can help. */
  | { readonly limits: LimitStates; readonly onlyLimits: boolean };

/** A call that lacks room in its limits. */
export interface QueuedCall<Held> {
  readonly accountId: number;
  readonly keyId: number;
  /** Limits in the record of its last check. */
  readonly limits: KeyAndAccountLimits;
  /** Estimated tokens. */
  readonly tokens: number;
  /**
   * Checks the call again by the current record and asks the ledger to admit it. Rejects with the refusal for the
   * client.
   */
  attempt(): Promise<AttemptResult<Held>>;
  /** Returns what the admission took if the client has left. */
  giveBack(held: Held): void;
}

/** Outcome of waiting: the call was admitted, its limits refuse it, or its client left. */
export type Outcome<Held> =
  | { readonly end: 'held'; readonly held: Held; readonly waitedMs: number }
  | { readonly end: 'limited'; readonly full: readonly FullLimit[] }
  | { readonly end: 'left' };

/** Handle of a queued call. `outcome` rejects with the error of `attempt`, or with a 503 if the gateway stops. */
export interface Waiting<Held> {
  readonly outcome: Promise<Outcome<Held>>;
  /** Removes the call, because its client has left. */
  leave(): void;
  /** Call it once a refused call has been answered: only a limited number of waits end at once. */
  answered(): void;
}

/**
 * A waiting call. States: behind others → ready (asks at its turn) → asking → in, refused, or waiting for room in the
 * limits of its key or account (`blockedBy`) → ready …
 */
export class Waiter<Held> {
  readonly call: QueuedCall<Held>;
  /** Arrival number. */
  readonly turn: number;
  readonly joinedAt = performance.now();
  readonly tokens: { readonly key: number; readonly account: number };
  readonly #settled = Promise.withResolvers<Outcome<Held>>();
  /** Owner of the limits that had no room at the last attempt, if known. */
  blockedBy: 'key' | 'account' | undefined;
  isReady = true;
  isAsking = false;
  /** True once the call has left the queue. */
  isOut = false;
  /** True if room may have been freed since the last attempt. */
  isWoken = false;
  /** True if the end of a call may free the needed room. */
  wakesOnEnd = false;
  /** Limits without room when the call arrived or last asked, with waits counted from `fullAt`. */
  full: readonly FullLimit[] = [];
  fullAt = this.joinedAt;
  /** Share of the waiting room. */
  room: Share | undefined;
  /** Share of the waits that end at once, from refusal to answer. */
  ending: Share | undefined;
  isEnding = false;
  /** Maximum wait in milliseconds. */
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

  /** Limits without room, with their remaining waits. */
  fullNow(): FullLimit[] {
    const passedMs = performance.now() - this.fullAt;
    return this.full.map((each) =>
      each.waitMs === undefined ? each : { ...each, waitMs: Math.max(1, Math.ceil(each.waitMs - passedMs)) },
    );
  }
}

/** Maximum share by which waits end early. */
const JITTER = 0.05;

/**
 * Maximum wait in milliseconds: `maxQueueMs` shortened by a random share (`random`: 0 to 1), so that calls that arrived
 * together do not end together, but at least the `knownMs` until room.
 */
export function waitBound(maxQueueMs: number, knownMs: number, random: number): number {
  return maxQueueMs - random * Math.max(0, Math.min(maxQueueMs * JITTER, maxQueueMs - knownMs));
}

/** Last known state of limits. `at` is by `performance.now()`. */
interface Known {
  readonly state: LimitState;
  readonly at: number;
}

/** Number of calls and the tokens they take from their account's limits. */
interface Ahead {
  calls: number;
  tokens: number;
}

/** The waiting calls of one key, in order of arrival. */
class KeyLine<Held> {
  readonly waiting: Waiter<Held>[] = [];
  /** Tokens that these calls take from the limits of their key and account. */
  keyTokens = 0;
  accountTokens = 0;
  known: Known | undefined;
  /** The part of this line ahead of calls of other keys; maintained by `AccountLines`. */
  ahead: Ahead = { calls: 0, tokens: 0 };
}
