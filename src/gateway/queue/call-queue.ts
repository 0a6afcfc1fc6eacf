import {
  type FullLimit,
  fullLimits,
  hasCallLimits,
  type LimitStates,
  subjectTo,
  tokensTaken,
} from '../../domain/call-limits.ts';
import { GatewayError } from '../../domain/errors.ts';
import type { Pools } from '../../shares/pools.ts';
import type { CallMetrics } from '../observers.ts';
import {
  AccountLines,
  type AttemptResult,
  isQueuedForAccount,
  type Newcomer,
  type QueuedCall,
  Waiter,
  type Waiting,
  waitBound,
} from './account-lines.ts';

/** Poll interval for a slot that another gateway may have freed; longer if an account has very many waiting keys. */
const SLOT_POLL_MS = 100;
/** Maximum poll interval, because another gateway may return tokens or a limit may be raised. */
const ASK_AGAIN_MS = 1_000;
/** Maximum calls of an account that start asking in one step: each takes some 0.1 ms. */
const ATTEMPTS_AT_ONCE = 20;

interface CallQueueOptions {
  /** Maximum wait in milliseconds; 0: calls don't wait. */
  readonly maxQueueMs: number;
  /** Waiting calls, and waits that end at once, shared fairly by accounts. */
  readonly pools: Pick<Pools, 'waiting' | 'ends'>;
  readonly metrics: Pick<CallMetrics, 'queued' | 'dequeued'>;
}

/**
 * Queue of this gateway's calls that wait for room in call limits (specification section 11, `limits.maxQueueMs`). Each
 * limit serves first come, first served, and no key waits for another key's limits. Only the head of a line asks the
 * ledger: when its bucket should have room, when a call of its key or account ends here, and every 100 ms for slots
 * freed at other gateways.
 */
export class CallQueue<Held> {
  readonly #options: CallQueueOptions;
  readonly #accounts = new Map<number, AccountLines<Held>>();
  #turns = 0;
  #isStopped = false;

  constructor(options: CallQueueOptions) {
    this.#options = options;
  }

  /** Number of waiting calls. */
  get length(): number {
    return this.#options.pools.waiting.use.places;
  }

  /** Whether the configuration allows waiting. */
  get isOn(): boolean {
    return this.#options.maxQueueMs > 0;
  }

  /** Whether a new call must queue without asking the ledger, because others wait for the same room. */
  isBehind(call: Newcomer & Pick<QueuedCall<Held>, 'accountId'>): boolean {
    return this.#accounts.size > 0 && this.#accounts.get(call.accountId)?.isBehind(call) === true;
  }

  /**
   * Queues a call. `limits`: their state when the ledger refused the call; undefined if it was not tried because others
   * are ahead. Refuses at once if the wait is known to be too long or the queue is full.
   */
  join(call: QueuedCall<Held>, limits?: LimitStates): Waiting<Held> {
    const tokens = {
      key: tokensTaken(call.limits.key, call.tokens),
      account: tokensTaken(call.limits.account, call.tokens),
    };
    const lines = this.#accounts.get(call.accountId) ?? new AccountLines<Held>();
    const waiter = new Waiter(call, this.#turns++, tokens);
    const waiting = {
      outcome: waiter.outcome,
      leave: () => this.#leave(lines, waiter),
      answered: () => waiter.ending?.release(),
    };
    if (this.#isStopped) {
      waiter.reject(stopping());
      waiter.isOut = true;
      return waiting;
    }
    const behind = lines.fullFor({ keyId: call.keyId, limits: call.limits, tokens });
    const full = limits ? longer(fullLimits(limits, call.tokens), behind) : behind;
    waiter.full = subjectTo(call.limits, full);
    const known = waiter.full.map(({ waitMs = 0 }) => waitMs);
    waiter.maxMs = waitBound(this.#options.maxQueueMs, Math.max(0, ...known), Math.random());
    if (!this.#isTooLong(waiter)) waiter.room = this.#options.pools.waiting.take(call.accountId);
    if (!waiter.room) {
      waiter.resolve({ end: 'limited', full: waiter.full });
      waiter.isOut = true;
      return waiting;
    }
    this.#accounts.set(call.accountId, lines);
    const isHead = lines.add(waiter);
    this.#options.metrics.queued();
    waiter.deadline = setTimeout(() => this.#giveUp(lines, waiter), waiter.maxMs);
    if (limits) lines.note(call.keyId, limits);
    if (isHead && limits) this.#wait(lines, waiter);
    this.#pump(lines);
    return waiting;
  }

  /** Call it when a call with limits has ended here: the heads that wait for its slot or returned tokens ask now. */
  ended(accountId: number, keyId: number): void {
    const lines = this.#accounts.size > 0 ? this.#accounts.get(accountId) : undefined;
    if (!lines) return;
    const ofKey = lines.lines.get(keyId)?.waiting[0];
    if (ofKey?.blockedBy !== 'account') this.#wake(ofKey);
    this.#wake(lines.heads.find(isQueuedForAccount));
    this.#pump(lines);
  }

  /** Refuses waiting and later calls with 503, because the gateway stops. */
  stop(): void {
    this.#isStopped = true;
    for (const lines of [...this.#accounts.values()]) {
      for (const line of [...lines.lines.values()]) {
        for (const waiter of [...line.waiting]) this.#refuse(lines, waiter, stopping());
      }
    }
  }

  #isTooLong(waiter: Waiter<Held>): boolean {
    const left = this.#options.maxQueueMs - waiter.waitedMs;
    return waiter.full.some(({ waitMs = 0 }) => waitMs > left);
  }

  /** Lets each head whose turn it is ask, unless that is about to happen. */
  #pump(lines: AccountLines<Held>): void {
    if (!lines.isPumped) this.#askNext(lines);
  }

  /** Heads that wait for their key ask, and the first that waits for the account. */
  #askNext(lines: AccountLines<Held>): void {
    let attempts = 0;
    for (const head of lines.heads) {
      if (head.isReady && !head.isAsking && !head.isEnding) {
        if (attempts++ === ATTEMPTS_AT_ONCE) {
          lines.isPumped = true;
          setImmediate(() => {
            lines.isPumped = false;
            this.#askNext(lines);
          });
          return;
        }
        void this.#attempt(lines, head);
      }
      if (isQueuedForAccount(head)) return;
    }
  }

  async #attempt(lines: AccountLines<Held>, head: Waiter<Held>): Promise<void> {
    head.isAsking = true;
    head.isWoken = false;
    let result: AttemptResult<Held>;
    try {
      result = await head.call.attempt();
    } catch (error) {
      head.isAsking = false;
      this.#refuse(lines, head, error);
      return;
    }
    head.isAsking = false;
    if ('held' in result) {
      if (head.isOut) head.call.giveBack(result.held);
      else {
        this.#takeOut(lines, head);
        head.resolve({ end: 'held', held: result.held, waitedMs: head.waitedMs });
      }
    } else if (!head.isOut) this.#limited(lines, head, result);
    this.#pump(lines);
  }

  #limited(
    lines: AccountLines<Held>,
    head: Waiter<Held>,
    { limits, onlyLimits }: Exclude<AttemptResult<Held>, { held: Held }>,
  ): void {
    lines.note(head.call.keyId, limits);
    head.full = subjectTo(head.call.limits, fullLimits(limits, head.call.tokens));
    head.fullAt = performance.now();
    const isOver = head.waitedMs >= head.maxMs;
    if (this.#isStopped) this.#refuse(lines, head, stopping());
    else if (isOver || !onlyLimits || this.#isTooLong(head)) this.#giveUp(lines, head);
    else {
      this.#wait(lines, head);
      // Room may have been freed while the reply was in transit.
      if (head.isWoken) this.#wake(head);
    }
  }

  /** Schedules the next attempt for when there may be room: first in the key's limits, then in the account's. */
  #wait(lines: AccountLines<Held>, head: Waiter<Held>): void {
    const lacksKey = head.full.some(({ owner }) => owner === 'key');
    const awaited = head.full.filter(({ owner }) => owner === (lacksKey ? 'key' : 'account'));
    lines.setBlocked(head, lacksKey || !hasCallLimits(head.call.limits.account) ? 'key' : 'account');
    head.wakesOnEnd = awaited.every(({ name }) => name !== 'rpm_limit');
    // All keys of an account together ask about once per millisecond at most.
    const pollMs = Math.max(SLOT_POLL_MS, lines.heads.length);
    const waits = awaited.map(({ waitMs = pollMs }) => waitMs);
    const ms = Math.min(ASK_AGAIN_MS, Math.max(waits.length === 0 ? pollMs : 1, ...waits));
    head.isReady = false;
    clearTimeout(head.askTimer);
    head.askTimer = setTimeout(() => {
      head.isReady = true;
      this.#pump(lines);
    }, ms);
  }

  #wake(head: Waiter<Held> | undefined): void {
    if (!head) return;
    head.isWoken = true;
    if (!head.wakesOnEnd || head.isReady) return;
    clearTimeout(head.askTimer);
    head.isReady = true;
  }

  #giveUp(lines: AccountLines<Held>, waiter: Waiter<Held>): void {
    void this.#end(lines, waiter, () => waiter.resolve({ end: 'limited', full: waiter.fullNow() }));
  }

  #refuse(lines: AccountLines<Held>, waiter: Waiter<Held>, error: unknown): void {
    void this.#end(lines, waiter, () => waiter.reject(error));
  }

  /**
   * Ends a wait with a refusal once few enough others are being refused: each asks Redis once more, and a mass of them
   * would block the event loop. Does nothing while the call is asking; the ledger then decides.
   */
  async #end(lines: AccountLines<Held>, waiter: Waiter<Held>, settle: () => void): Promise<void> {
    if (waiter.isOut || waiter.isEnding || waiter.isAsking) return;
    waiter.isEnding = true;
    const share = await this.#options.pools.ends.acquire(waiter.call.accountId);
    if (waiter.isOut) {
      share.release();
      return;
    }
    waiter.ending = share;
    this.#takeOut(lines, waiter);
    settle();
    if (!this.#isStopped) this.#pump(lines);
  }

  #leave(lines: AccountLines<Held>, waiter: Waiter<Held>): void {
    if (waiter.isOut) return;
    this.#takeOut(lines, waiter);
    waiter.resolve({ end: 'left' });
    this.#pump(lines);
  }

  #takeOut(lines: AccountLines<Held>, waiter: Waiter<Held>): void {
    const { accountId } = waiter.call;
    waiter.isOut = true;
    clearTimeout(waiter.askTimer);
    clearTimeout(waiter.deadline);
    lines.remove(waiter);
    if (lines.heads.length === 0) this.#accounts.delete(accountId);
    waiter.room?.release();
    this.#options.metrics.dequeued(waiter.waitedMs);
  }
}

/** Merges both lists; for a limit in both, keeps the longer wait. */
function longer(full: readonly FullLimit[], behind: readonly FullLimit[]): FullLimit[] {
  const isSame = (one: FullLimit, other: FullLimit) => one.owner === other.owner && one.name === other.name;
  const longest = full.map((each) => {
    const other = behind.find((candidate) => isSame(each, candidate));
    return other && (other.waitMs ?? 0) > (each.waitMs ?? 0) ? other : each;
  });
  return [...longest, ...behind.filter((each) => !longest.some((other) => isSame(each, other)))];
}

function stopping(): GatewayError {
  return new GatewayError(
    'service_unavailable',
    'This gateway is shutting down. Try again to reach another one.',
  );
}
