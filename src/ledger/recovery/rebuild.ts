import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Book } from '../../book/book.ts';
import type { AccountSnapshot, KeyState } from '../../book/snapshot.ts';
import { type Micro, micro } from '../../domain/credits.ts';
import type { JournalEntry } from '../../domain/ledger-entry.ts';
import { type PeriodStarts, periodStarts } from '../../domain/period.ts';
import type { Log } from '../../log/log.ts';
import { Failures } from '../../log/loop.ts';
import type { JournalDrain } from '../journal/drain.ts';
import { readJournalEntry } from '../journal/entry-text.ts';
import { applyGrant } from '../journal/post-once.ts';
import { BalanceBeyondBound, type Stale } from '../ledger.ts';
import { limitsText } from '../limits-text.ts';
import type { RedisClock } from '../redis/clock.ts';
import type { RedisClient } from '../redis/connect.ts';
import {
  accountRedisKey,
  bucketOf,
  holdsRedisKey,
  journalRedisKey,
  keyRedisKey,
} from '../redis/redis-keys.ts';

/** Rebuilds in a row that one operation waits for; more means that the state is lost as fast as it is restored. */
export const REBUILDS = 3;

/** Most keys that one script call restores: bounds how long Redis is busy with it. */
const KEYS_AT_ONCE = 200;

/** Time after which another gateway may take a rebuild over; longer than a rebuild takes. */
const LEASE_MS = 5_000;
/** Longest wait of a call for another gateway's rebuild: longer than the lease of one that has died. */
const PATIENCE_MS = LEASE_MS + 1_000;
const AGAIN_MS = 20;
/** Attempts in a row that other gateways may take over, each because the book took longer than the lease. */
const ATTEMPTS = 3;

interface RebuilderParts {
  readonly client: RedisClient;
  readonly book: Book;
  readonly log: Log;
  readonly drain: Pick<JournalDrain, 'drain' | 'markDirty'>;
  readonly clock: RedisClock;
}

export class Rebuilder {
  readonly #parts: RebuilderParts;
  readonly #underWay = new Map<number, Promise<void>>();
  /** Accounts whose entries diverged from the book, with the epoch that is over. */
  readonly #diverged = new Map<number, number>();
  readonly #name = randomUUID();
  #attempts = 0;

  constructor(parts: RebuilderParts) {
    this.#parts = parts;
  }

  /** Resolves when the account is live. Rejects with BookUnavailable or the Redis error; then it stays closed. */
  rebuild(accountId: number, stale: Stale = {}): Promise<void> {
    const underWay = this.#underWay.get(accountId);
    if (underWay) return underWay;
    const run = this.#rebuild(accountId, stale).finally(() => this.#underWay.delete(accountId));
    this.#underWay.set(accountId, run);
    return run;
  }

  /**
   * Has an account rebuilt whose `epoch` is over, without anybody to wait for it. Drains find such accounts and must not wait: a
   * rebuild drains first, and would wait for that very drain. What fails is tried again by `rebuildDiverged`.
   */
  rebuildLater(accountId: number, epoch: number): void {
    const isKnown = this.#diverged.has(accountId);
    this.#diverged.set(accountId, Math.max(epoch, this.#diverged.get(accountId) ?? epoch));
    if (isKnown) return;
    this.#rebuildDiverged(accountId).catch((error: unknown) =>
      this.#parts.log.error({ err: error, accountId }, 'rebuild failed; it is tried again'),
    );
  }

  /** Tries again what `rebuildLater` could not do. Rejects if it fails once more. */
  async rebuildDiverged(): Promise<void> {
    const failures = new Failures();
    for (const accountId of [...this.#diverged.keys()])
      await failures.collect(this.#rebuildDiverged(accountId));
    failures.throwAny();
  }

  async #rebuildDiverged(accountId: number): Promise<void> {
    // A rebuild that is under way may have read the book before the account was found diverged.
    for (let before = this.#underWay.get(accountId); before; before = this.#underWay.get(accountId)) {
      await before.catch(() => {});
    }
    const epoch = this.#diverged.get(accountId);
    if (epoch === undefined) return;
    await this.rebuild(accountId, { epoch });
    if (this.#diverged.get(accountId) === epoch) this.#diverged.delete(accountId);
    else await this.#rebuildDiverged(accountId);
  }

  async #rebuild(accountId: number, stale: Stale): Promise<void> {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      const name = `${this.#name}:${++this.#attempts}`;
      // Drained before the account is closed too, so that a book that is away closes nothing.
      await this.#parts.drain.drain(bucketOf(accountId));
      if (!(await this.#close(accountId, stale, name))) return;
      try {
        // Drained once more, so that as few entries as possible are left beside the book.
        await this.#parts.drain.drain(bucketOf(accountId));
        if (await this.#restore(accountId, name)) return;
      } catch (error) {
        await this.#giveUp(accountId, name);
        throw error;
      }
    }
    throw new Error('rebuilds of other gateways come in between again and again');
  }

  /** Closes the account. False: another gateway has rebuilt it, and it is live. Rejects if that takes too long. */
  async #close(accountId: number, { keyId, epoch }: Stale, name: string): Promise<boolean> {
    const until = performance.now() + PATIENCE_MS;
    const account = accountRedisKey(accountId);
    const key = keyId == null ? account : keyRedisKey(accountId, keyId);
    for (;;) {
      const reply = await this.#parts.client.beginRebuild(account, key, name, LEASE_MS, epoch ?? '');
      if (reply !== 'BUSY') return reply === 'CLOSED';
      if (performance.now() > until) throw new Error('another gateway is rebuilding the account');
      await sleep(AGAIN_MS);
    }
  }

  /** Ends the lease of a rebuild that failed: others may try at once. If Redis does not answer, they wait for its end. */
  async #giveUp(accountId: number, name: string): Promise<void> {
    const account = accountRedisKey(accountId);
    await this.#parts.client.beginRebuild(account, account, name, 0, '').catch(() => {});
  }

  /** Restores the account from the book. False: the book took so long that another gateway has begun a rebuild. */
  async #restore(accountId: number, name: string): Promise<boolean> {
    const bucket = bucketOf(accountId);
    const starts = periodStarts(this.#parts.clock.now(bucket));
    // Read first: nothing is added to it while the account is closed, and the snapshot shows which of it the book has.
    const journal = await this.#journalOf(accountId);
    const ids = journal.map(({ id }) => id);
    const snapshot = await this.#parts.book.snapshot(accountId, starts, ids);
    if (!snapshot) throw new Error(`account ${accountId} is not in the book`);
    const { account, epoch } = snapshot;
    const { balance, seq, keys } = withUndrained(snapshot, journal, starts);
    for (let at = 0; at < keys.length; at += KEYS_AT_ONCE) {
      const chunk = keys.slice(at, at + KEYS_AT_ONCE);
      const reply = await this.#parts.client.restoreKeys(
        2 + chunk.length,
        accountRedisKey(accountId),
        holdsRedisKey(bucket),
        ...chunk.map(({ key }) => keyRedisKey(accountId, key.id)),
        name,
        epoch,
        starts.day,
        starts.week,
        starts.month,
        ...chunk.flatMap(({ key, daySpent, weekSpent, monthSpent }) => [
          key.id,
          key.version,
          JSON.stringify(key),
          daySpent,
          weekSpent,
          monthSpent,
          limitsText(key),
        ]),
      );
      if (reply === 'OLD') return false;
    }
    const reply = await this.#parts.client.restoreAccount(
      accountRedisKey(accountId),
      holdsRedisKey(bucket),
      name,
      accountId,
      epoch,
      account.version,
      account.isActive ? 1 : 0,
      account.alertThreshold,
      account.overdraft,
      balance,
      seq,
      limitsText(account),
    );
    if (reply === 'OLD') return false;
    // A grant that Redis had applied has its entry in the book or in the journal; its idempotency marker may be forgotten
    // by now.
    const applied = new Set(ids);
    for (const grant of snapshot.pendingGrants) {
      if (!applied.has(grant.id))
        await applyGrant(this.#parts.client, grant, `${epoch}`, starts).catch(ignoreBeyond);
    }
    this.#parts.drain.markDirty(bucket);
    this.#parts.log.info({ accountId, epoch, keys: keys.length }, 'live state rebuilt from the book');
    return true;
  }

  /** Entries of the account that are in the journal, oldest first. */
  async #journalOf(accountId: number): Promise<JournalEntry[]> {
    const journal = await this.#parts.client.xrange(journalRedisKey(bucketOf(accountId)), '-', '+');
    return journal
      .flatMap(([, fields]) => readJournalEntry(fields[1]) ?? [])
      .filter((entry) => entry.accountId === accountId);
  }
}

/** Ignores that a grant was refused: PendingGrants takes it out of the book, and it must not fail the rebuild. */
function ignoreBeyond(error: unknown): void {
  if (!(error instanceof BalanceBeyondBound)) throw error;
}

/** State that an account is restored to. */
interface RestoredState {
  readonly balance: Micro;
  readonly seq: number;
  readonly keys: readonly KeyState[];
}

/**
 * The state of an account in the book, with the entries of its journal added that the book did not have when that state
 * was read: their credits must not be spent a second time. `starts`: the periods that the snapshot was asked for. An
 * entry that the balance has no room for is left out, as the book leaves it out.
 */
export function withUndrained(
  { balance, seq, keys, known }: AccountSnapshot,
  journal: readonly JournalEntry[],
  starts: PeriodStarts,
): RestoredState {
  const waiting = new Map(journal.filter(({ id }) => !known.has(id)).map((entry) => [entry.id, entry]));
  const restored = { balance: balance as number, seq, keys: [...keys] };
  for (const entry of waiting.values()) {
    const after = restored.balance + entry.credits;
    if (!Number.isSafeInteger(after)) continue;
    restored.balance = after;
    restored.seq++;
    const place = restored.keys.findIndex(({ key }) => key.id === entry.keyId);
    const state = restored.keys[place];
    if (state) restored.keys[place] = withSpend(state, entry, starts);
  }
  return { ...restored, balance: micro(restored.balance) };
}

function withSpend(state: KeyState, { day, credits }: JournalEntry, starts: PeriodStarts): KeyState {
  // No spending limit is so high that sums beyond it need be exact (lua/post.inc.lua).
  const add = (spent: Micro, start: number) =>
    day >= start ? micro(Math.min(spent - credits, Number.MAX_SAFE_INTEGER)) : spent;
  return {
    key: state.key,
    daySpent: add(state.daySpent, starts.day),
    weekSpent: add(state.weekSpent, starts.week),
    monthSpent: add(state.monthSpent, starts.month),
  };
}
