import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Book } from '../../book/book.ts';
import type { AccountSnapshot, KeyState, MemberState } from '../../book/snapshot.ts';
import { type Micro, micro } from '../../domain/credits.ts';
import type { JournalEntry } from '../../domain/ledger-entry.ts';
import { type PeriodStarts, periodStarts, periodsOfDay } from '../../domain/period.ts';
import { type Windows, withHours } from '../../domain/spending-limits.ts';
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
  memberRedisKey,
  memberRedisKeys,
} from '../redis/redis-keys.ts';

/** Maximum rebuilds per operation; after that, the state is lost as fast as it is restored. */
export const REBUILDS = 3;

/** Keys and members per script call, which bounds how long it blocks Redis. */
const KEYS_AT_ONCE = 200;

/** Lease of a rebuild; longer than a rebuild takes. */
const LEASE_MS = 5_000;
/** Maximum wait for another gateway's rebuild: longer than the lease of a dead one. */
const CLOSE_TIMEOUT_MS = LEASE_MS + 1_000;
const POLL_MS = 20;
/** Attempts, each of which another gateway may take over because the book took longer than the lease. */
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
  readonly #running = new Map<number, Promise<void>>();
  /** Accounts that diverged from the book, with the outdated epoch. */
  readonly #diverged = new Map<number, number>();
  readonly #name = randomUUID();
  #attempts = 0;

  constructor(parts: RebuilderParts) {
    this.#parts = parts;
  }

  /**
   * Resolves when the account is live. Rejects with BookUnavailable or the Redis error; the account then stays closed.
   */
  rebuild(accountId: number, stale: Stale = {}): Promise<void> {
    const running = this.#running.get(accountId);
    if (running) return running;
    const run = this.#rebuild(accountId, stale).finally(() => this.#running.delete(accountId));
    this.#running.set(accountId, run);
    return run;
  }

  /**
   * Rebuilds an account of an outdated `epoch` in the background. Drains find such accounts and must not wait: a
   * rebuild drains first, and would wait for that very drain. `rebuildDiverged` retries failures.
   */
  rebuildLater(accountId: number, epoch: number): void {
    const isKnown = this.#diverged.has(accountId);
    this.#diverged.set(accountId, Math.max(epoch, this.#diverged.get(accountId) ?? epoch));
    if (isKnown) return;
    this.#rebuildDiverged(accountId).catch((error: unknown) =>
      this.#parts.log.error({ err: error, accountId }, 'rebuild failed; retrying'),
    );
  }

  /** Retries what failed in `rebuildLater`. Rejects if it fails again. */
  async rebuildDiverged(): Promise<void> {
    const failures = new Failures();
    for (const accountId of [...this.#diverged.keys()])
      await failures.collect(this.#rebuildDiverged(accountId));
    failures.throwAny();
  }

  async #rebuildDiverged(accountId: number): Promise<void> {
    // A rebuild in progress may have read the book before the account was found diverged.
    for (let before = this.#running.get(accountId); before; before = this.#running.get(accountId)) {
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
      // Drain before closing, so that an unavailable book closes nothing.
      await this.#parts.drain.drain(bucketOf(accountId));
      if (!(await this.#close(accountId, stale, name))) return;
      try {
        // Drain again, to leave as few journal entries as possible.
        await this.#parts.drain.drain(bucketOf(accountId));
        if (await this.#restore(accountId, name)) return;
      } catch (error) {
        await this.#giveUp(accountId, name);
        throw error;
      }
    }
    throw new Error('rebuilds of other gateways come in between again and again');
  }

  /** Closes the account. False: another gateway has rebuilt it. Rejects if that takes too long. */
  async #close(accountId: number, { keyId, personId, epoch }: Stale, name: string): Promise<boolean> {
    const until = performance.now() + CLOSE_TIMEOUT_MS;
    const needed = [
      accountRedisKey(accountId),
      ...(keyId == null ? [] : [keyRedisKey(accountId, keyId)]),
      ...memberRedisKeys(accountId, personId),
    ];
    for (;;) {
      const reply = await this.#parts.client.beginRebuild(
        needed.length,
        ...needed,
        name,
        LEASE_MS,
        epoch ?? '',
      );
      if (reply !== 'BUSY') return reply === 'CLOSED';
      if (performance.now() > until) throw new Error('another gateway is rebuilding the account');
      await sleep(POLL_MS);
    }
  }

  /**
   * Ends the lease of a failed rebuild, so that others may try at once. If Redis does not answer, the lease expires.
   */
  async #giveUp(accountId: number, name: string): Promise<void> {
    await this.#parts.client.beginRebuild(1, accountRedisKey(accountId), name, 0, '').catch(() => {});
  }

  /** Restores the account from the book. False: the book was slow and another gateway has begun a rebuild. */
  async #restore(accountId: number, name: string): Promise<boolean> {
    const bucket = bucketOf(accountId);
    // Read first: the journal does not grow while the account is closed, and the snapshot reports which entries the
    // book has.
    const journal = await this.#journalOf(accountId);
    const starts = lastStarts(periodStarts(this.#parts.clock.now(bucket)), journal);
    const ids = journal.map(({ id }) => id);
    const snapshot = await this.#parts.book.snapshot(accountId, starts, ids);
    if (!snapshot) throw new Error(`account ${accountId} is not in the book`);
    const { account, epoch } = snapshot;
    const { balance, seq, keys, members, windows } = withUndrained(snapshot, journal);
    const owners = [...keys, ...members];
    for (let at = 0; at < owners.length; at += KEYS_AT_ONCE) {
      const chunk = owners.slice(at, at + KEYS_AT_ONCE).map((owner) => restored(accountId, owner));
      const reply = await this.#parts.client.restoreKeys(
        2 + chunk.length,
        accountRedisKey(accountId),
        holdsRedisKey(bucket),
        ...chunk.map(([name]) => name),
        name,
        epoch,
        ...chunk.flatMap(([, ...state]) => state),
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
      windowsText(windows),
      windows.hours,
      JSON.stringify(account.spendingLimits),
    );
    if (reply === 'OLD') return false;
    // The entry of an applied grant is in the book or journal; its idempotency marker may be gone.
    const applied = new Set(ids);
    for (const grant of snapshot.pendingGrants) {
      if (!applied.has(grant.id))
        await applyGrant(this.#parts.client, grant, `${epoch}`, starts).catch(ignoreBeyond);
    }
    this.#parts.drain.markDirty(bucket);
    this.#parts.log.info({ accountId, epoch, keys: keys.length }, 'live state rebuilt from the book');
    return true;
  }

  /** Journal entries of the account, oldest first. */
  async #journalOf(accountId: number): Promise<JournalEntry[]> {
    const journal = await this.#parts.client.xrange(journalRedisKey(bucketOf(accountId)), '-', '+');
    return journal
      .flatMap(([, fields]) => readJournalEntry(fields[1]) ?? [])
      .filter((entry) => entry.accountId === accountId);
  }
}

/** Ignores a refused grant: PendingGrants withdraws it, and it must not fail the rebuild. */
function ignoreBeyond(error: unknown): void {
  if (!(error instanceof BalanceBeyondBound)) throw error;
}

/** The periods now, or those of a call in the journal that was booked to a later day (book/snapshot.ts). */
function lastStarts(now: PeriodStarts, journal: readonly JournalEntry[]): PeriodStarts {
  const day = journal.reduce(
    (last, entry) => (entry.keyId === null ? last : Math.max(last, entry.day)),
    now.day,
  );
  return day === now.day ? now : periodsOfDay(day);
}

interface RestoredState {
  readonly balance: Micro;
  readonly seq: number;
  /** The account's. */
  readonly windows: Windows;
  readonly keys: readonly KeyState[];
  readonly members: readonly MemberState[];
}

/** The Redis key of a key or member, and its state for lua/restore-keys.lua. */
function restored(accountId: number, owner: KeyState | MemberState): [string, ...(string | number)[]] {
  const windows = windowsText(owner.windows);
  if ('personId' in owner) {
    const { personId } = owner;
    return [memberRedisKey(accountId, personId), `${accountId}/${personId}`, '', '', windows, ''];
  }
  const { key } = owner;
  const name = keyRedisKey(accountId, key.id);
  return [name, key.id, key.version, JSON.stringify(key), windows, limitsText(key)];
}

/**
 * The book's state of an account plus journal entries that the book did not have, whose credits must not be spent
 * twice. Like the book, skips entries that the balance has no room for.
 */
export function withUndrained(
  { balance, seq, windows, keys, members, known }: AccountSnapshot,
  journal: readonly JournalEntry[],
): RestoredState {
  const waiting = new Map(journal.filter(({ id }) => !known.has(id)).map((entry) => [entry.id, entry]));
  const restored = { balance: balance as number, seq, windows, keys: [...keys], members: [...members] };
  for (const entry of waiting.values()) {
    const after = restored.balance + entry.credits;
    if (!Number.isSafeInteger(after)) continue;
    restored.balance = after;
    restored.seq++;
    if (entry.keyId === null) continue;
    restored.windows = withSpend(restored.windows, entry, entry.hours?.account);
    const owner = keys.find(({ key }) => key.id === entry.keyId)?.key;
    spend(restored.keys, ({ key }) => key === owner, entry, entry.hours?.key);
    spend(restored.members, ({ personId }) => personId === owner?.personId, entry, entry.hours?.member);
  }
  return { ...restored, balance: micro(restored.balance) };
}

/** Adds a call or a refund to the windows of the owner that `is` finds, if any. */
function spend<Owner extends { readonly windows: Windows }>(
  owners: Owner[],
  is: (owner: Owner) => boolean,
  entry: JournalEntry,
  hours: number | undefined,
): void {
  const place = owners.findIndex(is);
  const owner = owners[place];
  if (owner) owners[place] = { ...owner, windows: withSpend(owner.windows, entry, hours) };
}

/** Windows after a call or a refund. `hours`: start of the five hours in which it counted. */
function withSpend(windows: Windows, { day, credits }: JournalEntry, hours: number | undefined): Windows {
  // Spending limits are lower, so larger sums need not be exact (lua/windows.inc.lua).
  const add = (spent: Micro) => micro(Math.min(spent - credits, Number.MAX_SAFE_INTEGER));
  const since = (spent: Micro, start: number) => (day >= start ? add(spent) : spent);
  return {
    ...windows,
    ...(hours !== undefined && withHours(windows, hours, -credits)),
    daySpent: since(windows.daySpent, windows.day),
    weekSpent: since(windows.weekSpent, windows.week),
    monthSpent: since(windows.monthSpent, windows.month),
    totalSpent: add(windows.totalSpent),
  };
}

/** Encodes windows for a rebuild (lua/windows.inc.lua). */
function windowsText(windows: Windows): string {
  const { day, daySpent, week, weekSpent, month, monthSpent, hours, hoursSpent, totalSpent } = windows;
  return `${day} ${daySpent} ${week} ${weekSpent} ${month} ${monthSpent} ${hours} ${hoursSpent} ${totalSpent}`;
}
