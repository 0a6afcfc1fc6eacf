import { micro } from '../../domain/credits.ts';
import type { LimitPeriod } from '../../domain/limit-periods.ts';
import { type PeriodStarts, periodStarts } from '../../domain/period.ts';
import type { OwnedLimit, SpendingOwner } from '../../domain/spending-limits.ts';
import { estimateOf, holdText } from '../journal/entry-text.ts';
import { type Admission, type Admitted, LedgerUnavailable, type SpendingState } from '../ledger.ts';
import { limitStatesIn } from '../limits-text.ts';
import { type ConnectionGate, type LiveAccess, orUnavailable } from '../recovery/connection-gate.ts';
import { REBUILDS } from '../recovery/rebuild.ts';
import type { UnansweredAdmissions } from '../recovery/unanswered-admissions.ts';
import type { RedisClock } from '../redis/clock.ts';
import {
  accountRedisKey,
  bucketOf,
  holdsRedisKey,
  keyRedisKey,
  memberRedisKey,
} from '../redis/redis-keys.ts';
import type { ReplicaWait } from '../redis/replica-wait.ts';
import type { HotCommand, ScriptSender } from '../redis/script-sender.ts';

interface AdmissionParts {
  readonly scripts: ScriptSender;
  readonly gate: ConnectionGate;
  readonly live: LiveAccess;
  readonly unanswered: UnansweredAdmissions;
  readonly clock: RedisClock;
  readonly replicas: ReplicaWait;
  readonly waiting: WaitingCalls;
  /** Lifetime of a hold: longer than the longest request. */
  readonly holdTtlMs: number;
}

/** Reply of lua/admit.lua: held, and neither key nor account has call limits. */
const HELD = 1;

/** A reply of lua/admit.lua, or the error. */
interface AdmitReply {
  readonly error: Error | null;
  readonly reply: unknown;
  /** By performance.now(). */
  readonly sentAt: number;
}

/** Replies that the ledger recovers from before it retries. */
type Recoverable = 'MISSING' | 'LATE';

/** An admission refused as late before this many milliseconds was not late: the clocks differ. */
const LATE_MS = 500;
/** Retry budget for admissions refused as late: they take nothing, and the client waits. */
const RETRY_BUDGET_MS = 10_000;

/**
 * Admits calls: checks 11 and 12 of specification section 3, and the hold. An admission whose reply is lost is
 * cancelled. The cancel works whether Redis has executed the admission, executes it in time, or never gets it; if it
 * comes late, Redis refuses it.
 */
export class Admissions {
  readonly #parts: AdmissionParts;

  constructor(parts: AdmissionParts) {
    this.#parts = parts;
  }

  admit(admission: Admission): Promise<Admitted> {
    const { gate, replicas, waiting } = this.#parts;
    const isUsual = gate.isOpen(bucketOf(admission.accountId)) && !replicas.isOn;
    return isUsual ? this.#admitAtOnce(admission) : waiting.during(() => this.#admitInTime(admission));
  }

  /** Admits when only the reply is awaited, with one promise instead of five. */
  #admitAtOnce(admission: Admission): Promise<Admitted> {
    const { waiting, scripts } = this.#parts;
    const sentAt = performance.now();
    return new Promise((resolve, reject) => {
      waiting.enter();
      scripts.send('admit', this.#commandOf(admission), (error, reply) => {
        waiting.leave();
        if (reply === HELD) resolve({ verdict: 'held' });
        else this.#handleNotHeld(admission, { error, reply, sentAt }).then(resolve, reject);
      });
    });
  }

  /** Handles any other reply; retries after a recovery. */
  async #handleNotHeld(admission: Admission, reply: AdmitReply): Promise<Admitted> {
    const read = this.#read(admission, reply);
    if (typeof read === 'object') return read;
    return await this.#parts.waiting.during(async () => {
      await this.#recover(admission, read, reply, reply.sentAt);
      return await this.#admitInTime(admission, reply.sentAt);
    });
  }

  /** `since`: time of the first attempt, by performance.now(). */
  async #admitInTime(admission: Admission, since = performance.now()): Promise<Admitted> {
    const { gate, scripts, replicas } = this.#parts;
    const bucket = bucketOf(admission.accountId);
    for (let rebuilds = 0; rebuilds <= REBUILDS; rebuilds++) {
      const command = this.#commandOf(admission);
      if (!gate.isOpen(bucket)) await gate.opened(bucket);
      const sentAt = performance.now();
      const reply = await new Promise<AdmitReply>((resolve) => {
        scripts.send('admit', command, (error, reply) => resolve({ error, reply, sentAt }));
      });
      const read = this.#read(admission, reply);
      if (typeof read === 'object') {
        if (read.verdict === 'held' && replicas.isOn) await this.#confirm(admission);
        return read;
      }
      await this.#recover(admission, read, reply, since);
    }
    throw new LedgerUnavailable('the live state is lost again and again');
  }

  #commandOf(admission: Admission): HotCommand {
    const { clock, holdTtlMs } = this.#parts;
    const now = clock.now(bucketOf(admission.accountId));
    // By Redis' clock: a gateway with a fast clock would begin the next period early for all gateways.
    return admitCommand(admission, periodStarts(now), now, holdTtlMs);
  }

  /**
   * Rebuilds the live state, or resynchronizes the clock if Redis refused the admission as late. Throws
   * LedgerUnavailable once the retry budget is spent.
   */
  async #recover(
    admission: Admission,
    what: Recoverable,
    { sentAt }: AdmitReply,
    since: number,
  ): Promise<void> {
    const { accountId } = admission;
    if (what === 'MISSING') return await this.#parts.live.rebuild(accountId, admission);
    const adjusted = orUnavailable(() => this.#parts.clock.adjust(bucketOf(accountId)));
    const now = performance.now();
    if (now - sentAt <= LATE_MS) return await adjusted;
    // Redis was slow. The clock may be off too, which would make the next calls late.
    adjusted.catch(() => undefined);
    if (now - since > RETRY_BUDGET_MS) throw new LedgerUnavailable('redis is slow', { reason: 'late' });
  }

  /** Returns the verdict, or what to recover before a retry. Throws LedgerUnavailable. */
  #read(admission: Admission, { error, reply, sentAt }: AdmitReply): Admitted | Recoverable {
    const { unanswered } = this.#parts;
    if (error) {
      unanswered.add(admission, 'not sent', sentAt);
      throw new LedgerUnavailable('no answer to an admission', { cause: error, reason: 'no_answer' });
    }
    if (reply === HELD) return { verdict: 'held' };
    const [verdict, first, ...reserved] = (reply as { toString(): string }[]).map(String);
    switch (verdict) {
      case 'HELD':
        return { verdict: 'held', ...statesOf(first) };
      case 'STALE':
        return { verdict: 'stale' };
      case 'ENDED':
        return { verdict: 'ended' };
      case 'LIMITED':
        return { verdict: 'limited', limits: limitStatesIn(first as string) };
      case 'COUNTED':
        return {
          verdict: 'counted',
          waitMs: Number(first),
          limit: Number(reserved[0]),
          owner: reserved[1] === 'account' ? 'account' : 'key',
        };
      case 'LIMIT': {
        const [balance, ...account] = reserved;
        return {
          verdict: 'over_limit',
          spending: spendingStates(admission, first as string),
          account: { balance: micro(Number(balance)), ...reservedOf(account) },
          ...statesOf(account[3]),
        };
      }
      case 'FUNDS':
        return {
          verdict: 'insufficient',
          balance: micro(Number(first)),
          ...reservedOf(reserved),
          ...statesOf(reserved[3]),
        };
      case 'MISSING':
      case 'LATE':
        return verdict;
      default:
        // VOID: sent twice, and the first copy holds the credits.
        unanswered.add(admission, 'not sent', sentAt);
        throw new LedgerUnavailable('the admission was repeated');
    }
  }

  async #confirm(admission: Admission): Promise<void> {
    const { replicas, unanswered } = this.#parts;
    try {
      await replicas.confirm(bucketOf(admission.accountId), admission.requestId);
    } catch (error) {
      unanswered.add(admission);
      throw new LedgerUnavailable('the hold has not reached the replicas', { cause: error });
    }
  }
}

function statesOf(text: string | undefined) {
  return text === undefined ? undefined : { limits: limitStatesIn(text) };
}

function reservedOf([held, estimated, overdraft]: readonly string[]) {
  return {
    held: micro(Number(held)),
    estimated: micro(Number(estimated)),
    overdraft: micro(Number(overdraft)),
  };
}

/**
 * States of the admission's limits from a refusal: '<spent> <start of the five hours> <held> <sum of estimates>' of each,
 * comma-separated.
 */
function spendingStates({ spendingLimits }: Admission, text: string): SpendingState[] {
  const states = text.split(',');
  return spendingLimits.map((limit, index) => {
    const numbers = (states[index] as string).split(' ').map(Number);
    const [spent, hours, held, estimated] = numbers as [number, number, number, number];
    return { ...limit, spent: micro(spent), hours, held: micro(held), estimated: micro(estimated) };
  });
}

/** Letters of owners and windows in lua/admit.lua. */
const OWNERS = { key: 'k', member: 'm', account: 'a' } as const satisfies Record<SpendingOwner, string>;
const WINDOWS = {
  '5h': 'h',
  daily: 'd',
  weekly: 'w',
  monthly: 'm',
  total: 't',
} as const satisfies Record<LimitPeriod, string>;

function spendingText(limits: readonly OwnedLimit[], { day, week, month }: PeriodStarts): string {
  if (limits.length === 0) return '-';
  const starts = { '5h': 0, daily: day, weekly: week, monthly: month, total: 0 };
  return limits
    .map(({ of, period, credits }) => `${OWNERS[of]}${WINDOWS[period]}${starts[period]}=${credits}`)
    .join(',');
}

/** `now`: milliseconds since the epoch by Redis' clock. */
function admitCommand(
  admission: Admission,
  starts: PeriodStarts,
  now: number,
  holdTtlMs: number,
): HotCommand {
  const { accountId, keyId, personId, keyVersion, accountVersion, hold, spendingLimits } = admission;
  const estimate = estimateOf(admission);
  const bucket = bucketOf(accountId);
  const keys = [accountRedisKey(accountId), keyRedisKey(accountId, keyId), holdsRedisKey(bucket)];
  return {
    bucket,
    keys: personId === null ? keys : [...keys, memberRedisKey(accountId, personId)],
    id: admission.requestId,
    numbers: `${personId === null ? '' : 'm'}${keyVersion} ${accountVersion} ${hold} ${estimate} ${spendingText(spendingLimits, starts)}${limitWords(admission)}`,
    record: holdText(admission, now, now + holdTtlMs),
  };
}

/** Optional arguments: end of the key value and tokens for call limits. Most calls have none. */
function limitWords({ limits, valueEndsAt }: Admission): string {
  if (limits === undefined && valueEndsAt === undefined) return '';
  return ` ${valueEndsAt ?? '-'} ${limits ? (limits.tokens ?? '*') : '-'}`;
}

/**
 * Bounds the calls that wait for Redis. A slow or unreachable Redis would otherwise pile up every call of a second with
 * its body in memory; calls beyond the bound get 503 (specification section 5).
 *
 * Calls that timed out count until Redis has answered their command. Without that, an overloaded Redis piled up calls
 * without limit: 13 MB of heap a second at 5,000 calls a second.
 */
export class WaitingCalls {
  readonly #max: number;
  readonly #scripts: Pick<ScriptSender, 'late'>;
  #count = 0;

  constructor(max: number, scripts: Pick<ScriptSender, 'late'>) {
    this.#max = max;
    this.#scripts = scripts;
  }

  /** Runs the work as a waiting call. Throws LedgerUnavailable at the bound, before it starts. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.enter();
    try {
      return await work();
    } finally {
      this.leave();
    }
  }

  /** Counts a waiting call until `leave`. Throws LedgerUnavailable at the bound. */
  enter(): void {
    if (this.#count + this.#scripts.late >= this.#max)
      throw new LedgerUnavailable('too many calls wait for redis', { reason: 'too_many' });
    this.#count++;
  }

  leave(): void {
    this.#count--;
  }
}
