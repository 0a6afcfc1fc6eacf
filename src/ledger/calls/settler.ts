import type { EntryDraft } from '../../domain/ledger-entry.ts';
import { type PeriodStarts, periodStarts } from '../../domain/period.ts';
import type { Log } from '../../log/log.ts';
import type { JournalDrain } from '../journal/drain.ts';
import { draftText, parseHold } from '../journal/entry-text.ts';
import { postOnce } from '../journal/post-once.ts';
import type { TokenCorrection } from '../ledger.ts';
import type { Replays } from '../recovery/live-state-check.ts';
import type { Rebuilder } from '../recovery/rebuild.ts';
import type { UnansweredAdmissions } from '../recovery/unanswered-admissions.ts';
import type { RedisClock } from '../redis/clock.ts';
import type { RedisClient } from '../redis/connect.ts';
import { bucketOf, holdsRedisKey, postingRedisKeys } from '../redis/redis-keys.ts';
import type { HotCommand, ScriptSender } from '../redis/script-sender.ts';
import type { TickWriter } from '../redis/tick-writer.ts';
import { ReplayBuffer } from './replay-buffer.ts';

const RETRY_MS = 200;
/** Failed settles per retry; more would flood a Redis that has just come back. */
const RETRY_AT_ONCE = 200;

const SETTLED = 1;

interface Settlement {
  readonly draft: EntryDraft;
  readonly correction: TokenCorrection | undefined;
  /** Periods of the charge, by Redis' clock at the end of the call. */
  readonly starts: PeriodStarts;
  /** The end of the call by Redis' clock, in milliseconds since the epoch. */
  readonly now: number;
  /** By performance.now(); 0: not yet. */
  settledAt: number;
  /** True if Redis has no hold for the call; journal and book then show whether it was charged. */
  lost: boolean;
  /** Resolves once the entry is in the journal or book; created when awaited. */
  journalled?: PromiseWithResolvers<void> | undefined;
}

interface SettlerParts {
  /** Connection for commands that no call awaits. */
  readonly background: RedisClient;
  readonly writer: TickWriter;
  readonly scripts: ScriptSender;
  readonly log: Log;
  readonly drain: JournalDrain;
  readonly rebuilder: Rebuilder;
  readonly unanswered: UnansweredAdmissions;
  readonly clock: RedisClock;
}

export class Settler implements Replays {
  readonly #parts: SettlerParts;
  readonly #replayBuffer = new ReplayBuffer();
  readonly #failed = new Map<string, Settlement>();
  /** Settlements whose entry may be missing from both journal and book. */
  readonly #unwritten = new Set<Settlement>();
  #sent = 0;
  #timer: NodeJS.Timeout | undefined;
  #idle: (() => void)[] = [];
  #stopped = false;

  constructor(parts: SettlerParts) {
    this.#parts = parts;
  }

  /** Settlements that Redis has not answered. */
  get open(): number {
    return this.#sent + this.#failed.size;
  }

  settle(draft: EntryDraft, onWire: () => void, correction?: TokenCorrection): void {
    const now = this.#parts.clock.now(bucketOf(draft.accountId));
    const settlement: Settlement = {
      draft,
      correction,
      starts: periodStarts(now),
      now,
      settledAt: 0,
      lost: false,
    };
    this.#unwritten.add(settlement);
    this.#send(settlement);
    this.#parts.writer.afterWrite(onWire);
  }

  /** Resolves once the journal or book has every settlement so far of the account, or of all. */
  async journalled(accountId: number | 'all'): Promise<void> {
    const open = [...this.#unwritten].filter(
      ({ draft }) => accountId === 'all' || draft.accountId === accountId,
    );
    await Promise.all(
      open.map((settlement) => {
        settlement.journalled ??= Promise.withResolvers();
        return settlement.journalled.promise;
      }),
    );
  }

  /** Waits up to `deadlineMs` until every settlement is answered. False: some are not; their holds will expire. */
  async idle(deadlineMs: number): Promise<boolean> {
    if (this.open === 0) return true;
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(false), deadlineMs);
    });
    const idle = new Promise<boolean>((resolve) => this.#idle.push(() => resolve(true)));
    const result = await Promise.race([idle, timeout]);
    clearTimeout(timer);
    return result;
  }

  /**
   * Replays recent settles of these buckets that are neither in Redis nor in the book, such as after a failover to a
   * lagging replica. If the book has the charge but an older Redis has the hold again, the hold is released. Rejects if
   * either fails.
   */
  async replay(buckets: ReadonlySet<number>): Promise<void> {
    for (const bucket of buckets) {
      const generation = this.#replayBuffer.generation(bucket);
      const recent = this.#replayBuffer.entries(bucket);
      if (recent.length === 0) continue;
      const ids = recent.map(({ draft }) => draft.id);
      const known = await this.#parts.drain.entriesAmong(bucket, ids);
      const missing = recent.filter(({ draft }) => !known.has(draft.id));
      if (missing.length > 0)
        this.#parts.log.warn({ bucket, settles: missing.length }, 'redis lost settles; repeating them');
      for (const { draft, correction, starts, now } of missing) {
        await this.#settleAgain({ draft, correction, starts, now, settledAt: 0, lost: false });
      }
      await this.#releaseRevived(
        bucket,
        recent.filter(({ draft }) => known.has(draft.id)).map(({ draft }) => draft),
      );
      this.#replayBuffer.unpin(bucket, generation);
    }
  }

  pin(bucket: number): void {
    this.#replayBuffer.pin(bucket);
  }

  hasReplayable(bucket: number): boolean {
    return this.#replayBuffer.entries(bucket).length > 0;
  }

  async #releaseRevived(bucket: number, charged: readonly EntryDraft[]): Promise<void> {
    if (charged.length === 0) return;
    const holds = await this.#parts.background.hmget(holdsRedisKey(bucket), ...charged.map(({ id }) => id));
    for (const [index, { id, accountId, keyId, personId = null }] of charged.entries()) {
      const hold = holds[index];
      const isBack = hold != null && parseHold(hold).amount !== undefined;
      if (isBack && keyId !== null)
        this.#parts.unanswered.add({ requestId: id, accountId, keyId, personId }, 'charged');
    }
  }

  /** Stops retrying. Unsettled holds are released when they expire. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  #send(settlement: Settlement): void {
    this.#sent++;
    if (settlement.lost) this.#follow(settlement, this.#applyLost(settlement));
    else this.#settle(settlement);
  }

  #settle(settlement: Settlement): void {
    this.#parts.scripts.send('settle', commandOf(settlement), (error, reply) => {
      if (error) this.#follow(settlement, Promise.reject(error));
      else if (reply === SETTLED) {
        this.#settled(settlement);
        this.#answered();
      } else this.#follow(settlement, this.#handleNotHeld(settlement, String(reply)));
    });
  }

  /** Handles a settle without a hold or without live state. */
  async #handleNotHeld(settlement: Settlement, reply: string): Promise<void> {
    if (reply === 'MISSING') {
      await this.#rebuild(settlement);
      this.#send(settlement);
      return;
    }
    settlement.lost = true;
    await this.#applyLost(settlement);
  }

  /** Settles over the background connection; resolves when the call is charged. */
  async #settleAgain(settlement: Settlement): Promise<void> {
    const { keys, id, numbers, record } = commandOf(settlement);
    const [reply] = await this.#parts.background.settle(keys.length, ...keys, id, numbers, record);
    if (Array.isArray(reply)) throw new Error(reply[1]);
    if (reply === SETTLED) this.#settled(settlement);
    else if (reply === 'MISSING') {
      await this.#rebuild(settlement);
      await this.#settleAgain(settlement);
    } else await this.#applyLost(settlement);
  }

  #follow(settlement: Settlement, attempt: Promise<void>): void {
    void attempt
      .catch((error: unknown) => {
        if (this.#failed.size === 0)
          this.#parts.log.warn(
            { reqId: settlement.draft.id, err: error },
            'redis did not confirm a settle; retrying',
          );
        this.#failed.set(settlement.draft.id, settlement);
      })
      .then(() => this.#answered());
  }

  #answered(): void {
    this.#sent--;
    if (this.#failed.size > 0) this.#arm();
    else if (this.#sent === 0 && this.#idle.length > 0) for (const resolve of this.#idle.splice(0)) resolve();
  }

  async #applyLost(settlement: Settlement): Promise<void> {
    const { draft, starts, now } = settlement;
    const { accountId } = draft;
    const bucket = bucketOf(accountId);
    if ((await this.#parts.drain.entriesAmong(bucket, [draft.id])).has(draft.id)) {
      this.#settled(settlement);
      return;
    }
    const { reply } = await postOnce(this.#parts.background, draft, { starts, now });
    if (reply === 'BEYOND') throw new Error('the balance has no room for the charge');
    if (reply === 'HELD') {
      settlement.lost = false;
      throw new Error('an older redis has the hold again; it is settled with the next attempt');
    }
    if (reply === 'MISSING') {
      await this.#rebuild(settlement);
      throw new Error('the account was rebuilt; the charge is applied with the next attempt');
    }
    this.#settled(settlement);
  }

  #rebuild({ draft: { accountId, keyId, personId } }: Settlement): Promise<void> {
    return this.#parts.rebuilder.rebuild(accountId, { keyId, personId });
  }

  /** The entry is in the journal or book. Buffered in either case: Redis may lose it, or get its hold back. */
  #settled(settlement: Settlement): void {
    const bucket = bucketOf(settlement.draft.accountId);
    settlement.settledAt = performance.now();
    this.#replayBuffer.add(bucket, settlement);
    this.#parts.drain.markDirty(bucket);
    this.#unwritten.delete(settlement);
    settlement.journalled?.resolve();
  }

  #arm(): void {
    if (this.#timer || this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      let count = 0;
      for (const [id, settlement] of this.#failed) {
        if (count++ === RETRY_AT_ONCE) break;
        this.#failed.delete(id);
        this.#send(settlement);
      }
      if (this.#failed.size > 0) this.#arm();
    }, RETRY_MS);
  }
}

function commandOf({ draft, correction, starts: { day, week, month }, now }: Settlement): HotCommand {
  const { id, accountId, keyId, personId, credits } = draft;
  const bucket = bucketOf(accountId);
  return {
    bucket,
    keys: postingRedisKeys(accountId, keyId, personId),
    id,
    numbers: `${personId === undefined ? '' : 'm'}${credits} ${day} ${week} ${month} ${now}${correction ? ` ${correction.key} ${correction.account}` : ''}`,
    record: draftText(draft),
  };
}
