import { micro } from '../../domain/credits.ts';
import type { SpendingPeriod } from '../../domain/key.ts';
import { type PeriodStarts, periodStart, periodStarts } from '../../domain/period.ts';
import { estimateOf, holdText } from '../journal/entry-text.ts';
import { type Admission, type Admitted, LedgerUnavailable } from '../ledger.ts';
import { limitStatesIn } from '../limits-text.ts';
import { type ConnectionGate, type LiveAccess, orUnavailable } from '../recovery/connection-gate.ts';
import { REBUILDS } from '../recovery/rebuild.ts';
import type { UnansweredAdmissions } from '../recovery/unanswered-admissions.ts';
import type { RedisClock } from '../redis/clock.ts';
import { accountRedisKey, bucketOf, holdsRedisKey, keyRedisKey } from '../redis/redis-keys.ts';
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
  /** How long a hold outlives its admission before the sweep releases it: longer than the longest request. */
  readonly holdTtlMs: number;
}

/** The reply of lua/admit.lua if the credits are held and the key and account have no limits of calls. */
const HELD = 1;

/** A reply of lua/admit.lua, or the error in its stead. */
interface AdmitReply {
  readonly error: Error | null;
  readonly reply: unknown;
  /** By performance.now(). */
  readonly sentAt: number;
}

/** Replies after which the ledger recovers something and the call tries again. */
type Recoverable = 'MISSING' | 'LATE';

/** Milliseconds below which an admission that Redis refuses as late was not late: then the clocks have moved. */
const LATE_MS = 500;
/** Milliseconds for which a call asks again that Redis refuses as late: nothing is taken by that, and its client waits. */
const ASK_AGAIN_WITHIN_MS = 10_000;

/**
 * Admission of calls: checks 11 and 12 of specification section 3, and the hold. An admission whose reply is lost is
 * cancelled, so that nothing of it is left, whether Redis has it, gets it within its time, or never; later, Redis refuses it.
 */
export class Admissions {
  readonly #parts: AdmissionParts;

  constructor(parts: AdmissionParts) {
    this.#parts = parts;
  }

  /** Reserves the hold, or says why it cannot be. Rejects with LedgerUnavailable. */
  admit(admission: Admission): Promise<Admitted> {
    const { gate, replicas, waiting } = this.#parts;
    const isUsual = gate.isOpen(bucketOf(admission.accountId)) && !replicas.isOn;
    return isUsual ? this.#admitAtOnce(admission) : waiting.during(() => this.#admitInTime(admission));
  }

  /** Admits if there is nothing to wait for but the reply, with one promise instead of five. */
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

  /** Reads a reply that did not hold the credits; if something must be recovered first, asks again. */
  async #handleNotHeld(admission: Admission, reply: AdmitReply): Promise<Admitted> {
    const read = this.#read(admission, reply);
    if (typeof read === 'object') return read;
    return await this.#parts.waiting.during(async () => {
      await this.#recover(admission, read, reply, reply.sentAt);
      return await this.#admitInTime(admission, reply.sentAt);
    });
  }

  /** `since`: when the call asked first, by performance.now(). */
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
    // By the clock of Redis: a gateway whose own clock is ahead would begin the next period early, for all gateways.
    return admitCommand(admission, periodStarts(now), now, holdTtlMs);
  }

  /**
   * Rebuilds the live state, or reads the clock of Redis again if an admission was refused as late. Throws
   * LedgerUnavailable if the call has asked for long enough.
   */
  async #recover(
    admission: Admission,
    what: Recoverable,
    { sentAt }: AdmitReply,
    since: number,
  ): Promise<void> {
    const { accountId, keyId } = admission;
    if (what === 'MISSING') return await this.#parts.live.rebuild(accountId, keyId);
    const adjusted = orUnavailable(() => this.#parts.clock.adjust(bucketOf(accountId)));
    const now = performance.now();
    if (now - sentAt <= LATE_MS) return await adjusted;
    // Redis was slow. The clock may be wrong all the same, and the next calls would be late as well.
    adjusted.catch(() => undefined);
    if (now - since > ASK_AGAIN_WITHIN_MS) throw new LedgerUnavailable('redis is slow', { reason: 'late' });
  }

  /** The verdict in a reply, or what must be recovered before the call asks again. Throws LedgerUnavailable. */
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
        return {
          verdict: 'limited',
          limits: limitStatesIn(reserved[0] as string),
          onlyLimits: first === '1',
        };
      case 'LIMIT':
        return {
          verdict: 'over_limit',
          spent: micro(Number(first)),
          ...limitOf(reserved),
          ...statesOf(reserved[6]),
        };
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
        // VOID: sent twice, and the first one holds the credits.
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

/** States of limits of calls, of a call that is subject to any. */
function statesOf(text: string | undefined) {
  return text === undefined ? undefined : { limits: limitStatesIn(text) };
}

/** The last numbers of a refusal by lua/admit.lua. */
function reservedOf([held, estimated, overdraft]: readonly string[]) {
  return {
    held: micro(Number(held)),
    estimated: micro(Number(estimated)),
    overdraft: micro(Number(overdraft)),
  };
}

/** Reserved sums of a key and of its account: the last numbers of a refusal by the key's limit. */
function limitOf([
  held = '',
  estimated = '',
  overdraft = '',
  balance,
  ofAccount = '',
  likely = '',
]: readonly string[]) {
  return {
    ...reservedOf([held, estimated, overdraft]),
    account: { balance: micro(Number(balance)), ...reservedOf([ofAccount, likely, overdraft]) },
  };
}

/** Names of the periods in the hash of a key (lua/post.inc.lua). */
export const PERIOD_FIELDS = { daily: 'd', weekly: 'w', monthly: 'm' } as const satisfies Record<
  SpendingPeriod,
  string
>;

/** The command that runs lua/admit.lua. `now`: milliseconds since the epoch by the clock of Redis. */
function admitCommand(
  admission: Admission,
  starts: PeriodStarts,
  now: number,
  holdTtlMs: number,
): HotCommand {
  const { accountId, keyId, keyVersion, accountVersion, hold, spendingLimit, spendingPeriod, isRead } =
    admission;
  const estimate = estimateOf(admission);
  const start = periodStart(starts, spendingPeriod);
  const bucket = bucketOf(accountId);
  return {
    bucket,
    keys: [accountRedisKey(accountId), keyRedisKey(accountId, keyId), holdsRedisKey(bucket)],
    id: admission.requestId,
    numbers: `${keyVersion} ${accountVersion} ${hold} ${estimate} ${isRead ? '*' : (spendingLimit ?? '-')} ${PERIOD_FIELDS[spendingPeriod]} ${start}${limitWords(admission)}`,
    record: holdText(admission, now, now + holdTtlMs),
  };
}

/** The words about limits of calls and about the end of a key value; nothing for most calls. */
function limitWords({ limits, valueEndsAt }: Admission): string {
  if (limits === undefined && valueEndsAt === undefined) return '';
  return ` ${valueEndsAt ?? '-'} ${limits ? (limits.tokens ?? '*') : '-'}`;
}

/**
 * Bounds how many calls wait for Redis at once. A Redis that has become slow, or is away, would otherwise gather every
 * call of a second with its body in memory; calls beyond the bound are refused at once (specification section 5: 503).
 *
 * Calls that gave up waiting count until Redis has answered their command. Without that, a Redis that takes fewer calls
 * than come gathered them without end: 13 MB of heap a second were measured at 5,000 calls a second.
 */
export class WaitingCalls {
  readonly #max: number;
  readonly #scripts: Pick<ScriptSender, 'late'>;
  #count = 0;

  constructor(max: number, scripts: Pick<ScriptSender, 'late'>) {
    this.#max = max;
    this.#scripts = scripts;
  }

  /** Runs the work as a waiting call. Throws LedgerUnavailable, and does not begin, at the bound. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.enter();
    try {
      return await work();
    } finally {
      this.leave();
    }
  }

  /** Counts one more waiting call, until `leave` is called once. Throws LedgerUnavailable at the bound. */
  enter(): void {
    if (this.#count + this.#scripts.late >= this.#max)
      throw new LedgerUnavailable('too many calls wait for redis', { reason: 'too_many' });
    this.#count++;
  }

  leave(): void {
    this.#count--;
  }
}
