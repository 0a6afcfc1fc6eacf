import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Book } from '../../book/book.ts';
import type { JournalEntry } from '../../domain/ledger-entry.ts';
import { periodStarts } from '../../domain/period.ts';
import type { Log } from '../../log/log.ts';
import { applyGrant } from '../grants/apply-grant.ts';
import type { JournalDrain } from '../journal/drain.ts';
import { readJournalEntry } from '../journal/entry-text.ts';
import type { Stale } from '../ledger.ts';
import { BalanceBeyondBound } from '../ledger.ts';
import type { RedisClient } from '../redis/connect.ts';
import {
  accountRedisKey,
  bucketOf,
  holdsRedisKey,
  journalRedisKey,
  keyRedisKey,
} from '../redis/redis-keys.ts';
import { repostArgs } from './repost-args.ts';

/** Rebuilds in a row that one operation waits for; more means that the state is lost as fast as it is restored. */
export const REBUILDS = 3;

/** Most keys that one script call restores: bounds how long Redis is busy with it. */
const KEYS_AT_ONCE = 200;

/** Most entries that are applied again in the step that opens an account; JournalPass applies any more after it. */
const ENTRIES_AT_ONCE = 1_000;

/** Time after which another gateway may take a rebuild over; longer than a rebuild takes. */
const LEASE_MS = 5_000;
/** Longest wait of a call for another gateway's rebuild (specification section 5: 503 within 1.5 s). */
const PATIENCE_MS = 1_000;
const AGAIN_MS = 20;
/** Attempts in a row that other gateways may take over, each because the book took longer than the lease. */
const ATTEMPTS = 3;

/**
 * Rebuilds the live state of one account from the book (specification section 5: Redis lost or emptied). Callers of one
 * account share one rebuild, and so do gateways: a second rebuild that had read the book before the first one ended would
 * let the credits be spent again that were spent after the first.
 *
 * States: live or lost → closed (lua/begin-rebuild.lua: nothing moves, so the whole journal can be drained into the book) →
 * read from the book → keys restored → live → pending grants applied. Those are grants that the book recorded and that
 * Redis lost before their entries were in the book. Applied here, they count again at once; the sweep would wait until no
 * request can be at work on them (13 to 15 s were measured, in which calls were refused with 402).
 *
 * The book gives each rebuild a new epoch. From then on it refuses entries that were journalled before and that it lacks
 * (their gateway was overtaken, or they do not continue the account's ledger). They are applied again in the step that
 * opens the account, so that no call can spend their credits.
 */
export class Rebuilder {
  readonly #client: RedisClient;
  readonly #book: Book;
  readonly #log: Log;
  readonly #drain: Pick<JournalDrain, 'drain' | 'touch'>;
  readonly #underWay = new Map<number, Promise<void>>();
  readonly #name = randomUUID();
  #attempts = 0;

  constructor(parts: {
    client: RedisClient;
    book: Book;
    log: Log;
    drain: Pick<JournalDrain, 'drain' | 'touch'>;
  }) {
    this.#client = parts.client;
    this.#book = parts.book;
    this.#log = parts.log;
    this.#drain = parts.drain;
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
   * Rebuilds an account whose `epoch` is over, without anybody to wait for it. Drains find such accounts and must not wait: a
   * rebuild drains first, and would wait for that very drain. A failure is logged.
   */
  rebuildLater(accountId: number, epoch: number): void {
    this.rebuild(accountId, { epoch }).catch((error: unknown) =>
      this.#log.error({ err: error, accountId }, 'rebuild failed'),
    );
  }

  async #rebuild(accountId: number, stale: Stale): Promise<void> {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      const name = `${this.#name}:${++this.#attempts}`;
      // Drained before the account is closed too, so that a book that is away closes nothing.
      await this.#drain.drain(bucketOf(accountId));
      if (!(await this.#close(accountId, stale, name))) return;
      // Drained once more, so that few entries have to be applied again.
      await this.#drain.drain(bucketOf(accountId));
      if (await this.#restore(accountId, name)) return;
    }
    throw new Error('rebuilds of other gateways come in between again and again');
  }

  /** Closes the account. False: another gateway has rebuilt it, and it is live. Rejects where that takes too long. */
  async #close(accountId: number, { keyId, epoch }: Stale, name: string): Promise<boolean> {
    const until = performance.now() + PATIENCE_MS;
    const account = accountRedisKey(accountId);
    const key = keyId == null ? account : keyRedisKey(accountId, keyId);
    for (;;) {
      const reply = await this.#client.beginRebuild(account, key, name, LEASE_MS, epoch ?? '');
      if (reply !== 'BUSY') return reply === 'CLOSED';
      if (performance.now() > until) throw new Error('another gateway is rebuilding the account');
      await sleep(AGAIN_MS);
    }
  }

  /** Restores the account from the book. False: the book took so long that another gateway has begun a rebuild. */
  async #restore(accountId: number, name: string): Promise<boolean> {
    const bucket = bucketOf(accountId);
    const starts = periodStarts(Date.now());
    const snapshot = await this.#book.snapshot(accountId, starts);
    if (!snapshot) throw new Error(`account ${accountId} is not in the book`);
    const { account, epoch, keys } = snapshot;
    for (let at = 0; at < keys.length; at += KEYS_AT_ONCE) {
      const chunk = keys.slice(at, at + KEYS_AT_ONCE);
      const reply = await this.#client.restoreKeys(
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
        ]),
      );
      if (reply === 'OLD') return false;
    }
    const waiting = await this.#superseded(accountId, epoch);
    const superseded = waiting.slice(0, ENTRIES_AT_ONCE);
    const anew = superseded.map(({ entry }) => repostArgs(entry));
    const reply = await this.#client.restoreAccount(
      3 + superseded.length,
      accountRedisKey(accountId),
      holdsRedisKey(bucket),
      journalRedisKey(bucket),
      ...anew.map(({ key }) => key),
      name,
      accountId,
      epoch,
      account.version,
      account.isActive ? 1 : 0,
      account.alertThreshold,
      account.overdraft,
      snapshot.balance,
      snapshot.seq,
      ...superseded.flatMap(({ streamId }, index) => [streamId, ...(anew[index]?.values ?? [])]),
    );
    if (reply === 'OLD') return false;
    // A grant that Redis had applied has its entry in the book or among those that waited; its idempotency marker may be
    // forgotten by now.
    const applied = new Set(waiting.map(({ entry }) => entry.id));
    for (const grant of snapshot.pendingGrants) {
      if (!applied.has(grant.id)) await applyGrant(this.#client, grant).catch(ignoreBeyond);
    }
    // Entries that waited for the rebuild can be applied now.
    this.#drain.touch(bucket);
    this.#log.info({ accountId, epoch, keys: keys.length }, 'live state rebuilt from the book');
    return true;
  }

  /** Journal entries of the account from earlier epochs that the book lacks, and refuses since it began this epoch. */
  async #superseded(accountId: number, epoch: number): Promise<{ streamId: string; entry: JournalEntry }[]> {
    const journal = await this.#client.xrange(journalRedisKey(bucketOf(accountId)), '-', '+');
    const before = journal
      .flatMap(([streamId, fields]) => {
        const entry = readJournalEntry(fields[1]);
        return entry ? [{ streamId, entry }] : [];
      })
      .filter(({ entry }) => entry.accountId === accountId && entry.epoch < epoch);
    if (before.length === 0) return before;
    const written = await this.#book.entriesAmong(before.map(({ entry }) => entry.id));
    return before.filter(({ entry }) => !written.has(entry.id));
  }
}

/** Ignores that a grant was refused: PendingGrants takes it out of the book, and it must not fail the rebuild. */
function ignoreBeyond(error: unknown): void {
  if (!(error instanceof BalanceBeyondBound)) throw error;
}
