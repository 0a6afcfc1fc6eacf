import type { Book, Grant } from '../../book/book.ts';
import type { AccountRecord, KeyRecord } from '../../domain/key.ts';
import { periodStarts } from '../../domain/period.ts';
import type { Log } from '../../log/log.ts';
import { LostAdmissions } from '../calls/unanswered-admissions.ts';
import { Failures } from '../failures.ts';
import { draftText, parseHold, type StoredHold } from '../journal/entry-text.ts';
import type { Stale } from '../ledger.ts';
import { BalanceBeyondBound, type HeldCall } from '../ledger.ts';
import { Loop } from '../loop.ts';
import type { RedisClock } from '../redis/clock.ts';
import type { RedisClient } from '../redis/connect.ts';
import { accountName, BUCKETS, bucketOf, holdsName, journalName, keyName } from '../redis/redis-keys.ts';

/** Holds of lost admissions are released within 10 s (specification section 5). */
const CANCEL_MS = 500;
/** So also when Redis comes back after a long outage. */
const CANCEL_BACKOFF_MS = 2_000;
const EXPIRE_MS = 15_000;
const REPAIR_MS = 5_000;
/** A grant that its own request has surely finished with. */
const GRANT_AGE_MS = 10_000;

/** How many calls hold credits, and how many micro-credits. */
export interface Holds {
  readonly count: number;
  readonly amount: number;
}

/** What sets right what a death or a lost reply left behind; every step may run on several gateways at once. */
export class Sweep {
  readonly #client: RedisClient;
  readonly #lost: LostAdmissions;
  readonly #book: Book;
  readonly #log: Log;
  readonly #clock: RedisClock;
  readonly #hooks: {
    rebuild: (accountId: number, stale?: Stale) => Promise<void>;
    drain: (bucket: number) => Promise<void>;
    touch: (bucket: number) => void;
    /** Those of the ids that are in the bucket's journal or in the book. */
    entriesAmong: (bucket: number, ids: readonly string[]) => Promise<ReadonlySet<string>>;
    /** Ids of the entries that the bucket's journal still has after it was drained. */
    undrained: (bucket: number) => Promise<ReadonlySet<string>>;
    grant: (grant: Grant) => Promise<unknown>;
    publishKey: (key: KeyRecord) => Promise<void>;
    publishAccount: (account: AccountRecord) => Promise<void>;
  };
  readonly #loops: readonly Loop[];
  #holds: Holds = { count: 0, amount: 0 };

  constructor(options: {
    client: RedisClient;
    book: Book;
    log: Log;
    clock: RedisClock;
    rebuild: (accountId: number, stale?: Stale) => Promise<void>;
    drain: (bucket: number) => Promise<void>;
    touch: (bucket: number) => void;
    entriesAmong: (bucket: number, ids: readonly string[]) => Promise<ReadonlySet<string>>;
    undrained: (bucket: number) => Promise<ReadonlySet<string>>;
    grant: (grant: Grant) => Promise<unknown>;
    publishKey: (key: KeyRecord) => Promise<void>;
    publishAccount: (account: AccountRecord) => Promise<void>;
  }) {
    this.#client = options.client;
    this.#lost = new LostAdmissions(options.client, options.clock, options.rebuild);
    this.#book = options.book;
    this.#log = options.log;
    this.#clock = options.clock;
    this.#hooks = options;
    this.#loops = [
      new Loop(
        'cancelling lost admissions',
        CANCEL_MS,
        () => this.cancelLost(),
        options.log,
        CANCEL_BACKOFF_MS,
      ),
      new Loop('releasing expired holds', EXPIRE_MS, () => this.#expireDue(), options.log),
      new Loop('repairing publications and grants', REPAIR_MS, () => this.repair(), options.log),
    ];
  }

  start(): void {
    for (const loop of this.#loops) loop.start();
  }

  async stop(): Promise<void> {
    await Promise.all(this.#loops.map((loop) => loop.stop()));
    await this.cancelLost().catch(() => {});
  }

  /** Nothing will settle it any more. Whether it holds anything may be unknown: its hold is released soon, and barred. */
  cancel(call: HeldCall): void {
    this.#lost.add(call);
  }

  /** Cancels what `cancel` remembered: see LostAdmissions. */
  async cancelLost(now = Date.now()): Promise<void> {
    await this.#lost.cancel(now);
  }

  async #expireDue(): Promise<void> {
    await this.#clock.adjust();
    await this.expireHolds(this.#clock.now());
  }

  /** The holds that the last pass found, of all gateways: at most EXPIRE_MS old. */
  get holds(): Holds {
    return this.#holds;
  }

  /**
   * Releases holds whose deadline is before `now`, each with a ledger entry of charge 0, and forgets old marks. What
   * fails keeps back nothing else; rejects at the end.
   */
  async expireHolds(now: number): Promise<void> {
    const failures = new Failures();
    const found = { count: 0, amount: 0 };
    for (let bucket = 0; bucket < BUCKETS; bucket++) {
      await failures.note(this.#expireIn(bucket, now, failures, found));
    }
    // Of all accounts together, which may be more than a number holds exactly.
    this.#holds = found;
    failures.throwFirst();
  }

  async #expireIn(
    bucket: number,
    now: number,
    failures: Failures,
    found: { count: number; amount: number },
  ): Promise<void> {
    let cursor = '0';
    do {
      const [next, fields] = await this.#client.hscan(holdsName(bucket), cursor, 'COUNT', 500);
      cursor = next;
      const due = new Map<string, StoredHold>();
      for (let at = 0; at < fields.length; at += 2) {
        const hold = parseHold(fields[at + 1] as string);
        if (hold.deadline <= now) due.set(fields[at] as string, hold);
        else if (hold.amount !== undefined) {
          found.count++;
          found.amount += hold.amount;
        }
      }
      if (due.size > 0) await failures.note(this.#expireAll(bucket, due, now, failures));
    } while (cursor !== '0');
  }

  /**
   * A Redis that lost its last second may have a hold again whose charge is in the book. That one is released without an
   * entry: the book would refuse it as a repeat, and the place that it took in Redis would be missing there.
   *
   * A mark is kept as long as its entry is not in the book, for nothing else tells that it was applied.
   */
  async #expireAll(
    bucket: number,
    due: ReadonlyMap<string, StoredHold>,
    now: number,
    failures: Failures,
  ): Promise<void> {
    const calls = [...due].filter(([, { amount }]) => amount !== undefined).map(([id]) => id);
    const charged = calls.length > 0 ? await this.#hooks.entriesAmong(bucket, calls) : new Set<string>();
    const waiting = calls.length < due.size ? await this.#hooks.undrained(bucket) : new Set<string>();
    for (const [id, hold] of due) {
      if (hold.amount === undefined && waiting.has(id)) continue;
      const { accountId = bucket, keyId = 0 } = hold;
      await failures.note(
        charged.has(id)
          ? this.#lost.cancelOne({ requestId: id, accountId, keyId })
          : this.#expire(bucket, id, hold, now),
      );
    }
  }

  async #expire(bucket: number, requestId: string, hold: StoredHold, now: number): Promise<void> {
    const accountId = hold.accountId ?? bucket;
    const starts = periodStarts(now);
    const reply = await this.#client.expire(
      accountName(accountId),
      keyName(accountId, hold.keyId ?? 0),
      holdsName(bucket),
      journalName(bucket),
      requestId,
      now,
      starts.day,
      starts.week,
      starts.month,
      hold.draft ? draftText(hold.draft(now, requestId)) : '',
    );
    if (reply === 'EXPIRED') {
      this.#log.warn(
        { reqId: requestId, accountId },
        'released the hold of a call whose gateway ended before it did',
      );
      this.#hooks.touch(bucket);
    } else if (reply === 'MISSING') {
      await this.#hooks.rebuild(accountId, { keyId: hold.keyId });
    }
  }

  /** Publishes committed records that Redis may not have, and applies grants that were recorded but not posted. */
  async repair(): Promise<void> {
    const failures = new Failures();
    await failures.note(this.republish(() => true));
    await failures.note(this.#applyGrants(failures));
    failures.throwFirst();
  }

  async #applyGrants(failures: Failures): Promise<void> {
    const pending = await this.#book.pendingGrants(Date.now() - GRANT_AGE_MS, 100);
    if (pending.length === 0) return;
    // A grant may be applied and only not drained yet: what is still pending after a drain is not applied, or is marked.
    const undrained = new Set<number>();
    const buckets = new Set(pending.map(({ accountId }) => bucketOf(accountId)));
    await Promise.all(
      [...buckets].map((bucket) =>
        failures.note(this.#hooks.drain(bucket), () => {
          undrained.add(bucket);
        }),
      ),
    );
    for (const grant of await this.#book.pendingGrants(Date.now() - GRANT_AGE_MS, 100)) {
      if (!undrained.has(bucketOf(grant.accountId))) await failures.note(this.#grant(grant));
    }
  }

  async #grant(grant: Grant): Promise<void> {
    try {
      await this.#hooks.grant(grant);
    } catch (error) {
      if (!(error instanceof BalanceBeyondBound)) throw error;
      const { id, accountId, amount, type } = grant;
      await this.#book.withdrawGrant(id);
      this.#log.error(
        { accountId, grantId: id, amount, type },
        'a change of balance was refused: the balance has no room for it',
      );
    }
  }

  /** Publishes what was never confirmed as published, of the accounts that `concerns` accepts. */
  async republish(concerns: (accountId: number) => boolean): Promise<void> {
    const failures = new Failures();
    const { keys, accounts } = await this.#book.unpublished(500);
    await this.#publish(keys, accounts, concerns, failures);
    failures.throwFirst();
  }

  /** Publishes again what was changed since, for a Redis that may have lost it. One that it has is left alone. */
  async republishSince(changedSince: number, concerns: (accountId: number) => boolean): Promise<void> {
    const failures = new Failures();
    const { keys, accounts } = await this.#book.changedSince(changedSince);
    await this.#publish(keys, accounts, concerns, failures);
    failures.throwFirst();
  }

  async #publish(
    keys: readonly KeyRecord[],
    accounts: readonly AccountRecord[],
    concerns: (accountId: number) => boolean,
    failures: Failures,
  ): Promise<void> {
    const { publishAccount, publishKey } = this.#hooks;
    await Promise.all([
      ...accounts.filter(({ id }) => concerns(id)).map((account) => failures.note(publishAccount(account))),
      ...keys.filter(({ accountId }) => concerns(accountId)).map((key) => failures.note(publishKey(key))),
    ]);
  }
}
