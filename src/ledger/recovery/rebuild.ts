import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Book } from '../../book/book.ts';
import type { JournalEntry } from '../../domain/ledger-entry.ts';
import { periodStarts } from '../../domain/period.ts';
import type { Log } from '../../log/log.ts';
import { applyGrant } from '../grants/apply-grant.ts';
import { readJournalEntry } from '../journal/entry-text.ts';
import type { Stale } from '../ledger.ts';
import { BalanceBeyondBound } from '../ledger.ts';
import type { RedisClient } from '../redis/connect.ts';
import { accountName, bucketOf, holdsName, journalName, keyName } from '../redis/redis-keys.ts';
import { entryAnew } from './repost-args.ts';

/** Rebuilds in a row that one operation waits for; more means that the state is lost as fast as it is restored. */
export const REBUILDS = 3;

/** Keys that one script call restores; bounds how long Redis is busy with it. */
const KEYS_AT_ONCE = 200;

/** Entries that opening an account applies again; more are applied after it (journal-pass.ts). */
const ENTRIES_AT_ONCE = 1_000;

/** Longer than a rebuild takes; after this, another gateway takes the one that died to be dead. */
const LEASE_MS = 5_000;
/** How long a call waits for another gateway's rebuild. Specification section 5: 503 within 1.5 s. */
const PATIENCE_MS = 1_000;
const AGAIN_MS = 20;
/** Attempts that are overtaken in a row, each after a wait on the book for longer than its lease. */
const ATTEMPTS = 3;

/**
 * Rebuilds the live state of one account from the book (specification section 5: Redis lost or emptied). Callers of the same
 * account share one rebuild, and so do gateways: what the first one opened was spent once more after a second one that had
 * read the book before.
 *
 * States: live or lost → closed (lua/begin-rebuild.lua: nothing moves, so the journal can be brought into the book whole) →
 * read from the book → keys restored → live → grants applied that the book had recorded and Redis lost before their
 * entries were in the book: what an operator gave or took counts again at once, where the sweep would wait until no
 * request can be at work on them (13 to 15 s were measured, in which calls were refused with 402).
 *
 * The book gives each rebuild a new epoch. Entries that were journalled before it and that the book has not, because a
 * gateway was overtaken or they do not continue its ledger, are refused there from then on. They are applied again in the
 * step that opens the account, so that no call can spend what they took.
 */
export class Rebuilder {
  readonly #client: RedisClient;
  readonly #book: Book;
  readonly #log: Log;
  readonly #drain: (bucket: number) => Promise<void>;
  readonly #touch: (bucket: number) => void;
  readonly #underWay = new Map<number, Promise<void>>();
  readonly #name = randomUUID();
  #attempts = 0;

  constructor(options: {
    client: RedisClient;
    book: Book;
    log: Log;
    /** Brings the bucket's journal into the book, so that little has to be applied again. */
    drain: (bucket: number) => Promise<void>;
    /** Has the journal looked at again: entries that waited for the rebuild can be applied now. */
    touch: (bucket: number) => void;
  }) {
    this.#client = options.client;
    this.#book = options.book;
    this.#log = options.log;
    this.#drain = options.drain;
    this.#touch = options.touch;
  }

  /** Rejects with BookUnavailable or the Redis error; then nothing is opened for traffic. */
  rebuild(accountId: number, stale: Stale = {}): Promise<void> {
    const underWay = this.#underWay.get(accountId);
    if (underWay) return underWay;
    const run = this.#rebuild(accountId, stale).finally(() => this.#underWay.delete(accountId));
    this.#underWay.set(accountId, run);
    return run;
  }

  async #rebuild(accountId: number, stale: Stale): Promise<void> {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      const name = `${this.#name}:${++this.#attempts}`;
      // Before it is closed too, so that a book that is away closes nothing.
      await this.#drain(bucketOf(accountId));
      if (!(await this.#close(accountId, stale, name))) return;
      await this.#drain(bucketOf(accountId));
      if (await this.#restore(accountId, name)) return;
    }
    throw new Error('rebuilds of other gateways come in between again and again');
  }

  /** False: it is live, as another gateway has rebuilt it. Rejects where that takes too long. */
  async #close(accountId: number, { keyId, epoch }: Stale, name: string): Promise<boolean> {
    const until = performance.now() + PATIENCE_MS;
    const account = accountName(accountId);
    const key = keyId == null ? account : keyName(accountId, keyId);
    for (;;) {
      const reply = await this.#client.beginRebuild(account, key, name, LEASE_MS, epoch ?? '');
      if (reply !== 'BUSY') return reply === 'CLOSED';
      if (performance.now() > until) throw new Error('another gateway is rebuilding the account');
      await sleep(AGAIN_MS);
    }
  }

  /** False: the book took so long that another gateway has begun anew. */
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
        accountName(accountId),
        holdsName(bucket),
        ...chunk.map(({ key }) => keyName(accountId, key.id)),
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
    const anew = superseded.map(({ entry }) => entryAnew(entry));
    const reply = await this.#client.restoreAccount(
      3 + superseded.length,
      accountName(accountId),
      holdsName(bucket),
      journalName(bucket),
      ...anew.map(({ key }) => key),
      name,
      accountId,
      epoch,
      account.version,
      account.isActive ? 1 : 0,
      account.alertThreshold,
      snapshot.balance,
      snapshot.seq,
      ...superseded.flatMap(({ streamId }, index) => [streamId, ...(anew[index]?.values ?? [])]),
    );
    if (reply === 'OLD') return false;
    // One that Redis had applied has its entry in the book, or among those that waited: its mark may be forgotten by now.
    const applied = new Set(waiting.map(({ entry }) => entry.id));
    for (const grant of snapshot.pendingGrants) {
      if (!applied.has(grant.id)) await applyGrant(this.#client, grant).catch(ignoreBeyond);
    }
    this.#touch(bucket);
    this.#log.info({ accountId, epoch, keys: keys.length }, 'live state rebuilt from the book');
    return true;
  }

  /** Entries of epochs before in the account's journal that the book has not, and takes no more: it has begun this one. */
  async #superseded(accountId: number, epoch: number): Promise<{ streamId: string; entry: JournalEntry }[]> {
    const journal = await this.#client.xrange(journalName(bucketOf(accountId)), '-', '+');
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

/** The sweep takes such a grant out of the book (sweep.ts); it must not keep the account closed. */
function ignoreBeyond(error: unknown): void {
  if (!(error instanceof BalanceBeyondBound)) throw error;
}
