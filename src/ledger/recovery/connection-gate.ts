import type { Redis } from 'ioredis';
import { BookUnavailable } from '../../book/store.ts';
import type { Log } from '../../log/log.ts';
import type { JournalDrain } from '../journal/drain.ts';
import { BalanceBeyondBound, LedgerUnavailable, type Stale } from '../ledger.ts';
import { addressOf, type BucketOwners } from '../redis/bucket-owners.ts';
import { type RedisClient, RedisCluster } from '../redis/connect.ts';
import { ALL_BUCKETS, bucketOf } from '../redis/redis-keys.ts';
import { type LiveStateCheck, type Replays, recordCheckpoint } from './live-state-check.ts';
import type { Rebuilder } from './rebuild.ts';

/** Maximum wait of a call for Redis to reconnect. */
const OPEN_TIMEOUT_MS = 1_000;
/** Maximum wait while the node answers and is being compared with the book; longer than CHECK_WITHIN_MS. */
const COMPARING_TIMEOUT_MS = 6_000;
const POLL_MS = 50;
/** Time after which a node that answers opens without a comparison, even if the book answers too. */
const CHECK_WITHIN_MS = 5_000;
/** Retry interval for buckets that opened without a comparison. */
const RECHECK_MS = 2_000;

interface Bucket {
  open: boolean;
  /** Its node answers and is being compared with the book. */
  answers: boolean;
  /** Whether it was compared with the book before it opened. */
  isCompared: boolean;
  /** The node on which the bucket was opened. */
  owner: string | undefined;
  /** Changes with each close, which voids checks of earlier generations. */
  generation: number;
  waiting: Set<() => void>;
}

interface ConnectionGateParts {
  readonly client: RedisClient;
  readonly owners: BucketOwners;
  readonly check: LiveStateCheck;
  readonly log: Log;
  readonly drain: JournalDrain;
  readonly replays: Replays;
}

export class ConnectionGate {
  readonly #parts: ConnectionGateParts;
  readonly #buckets: readonly Bucket[] = ALL_BUCKETS.map(() => ({
    open: false,
    answers: false,
    isCompared: false,
    owner: undefined,
    generation: 0,
    waiting: new Set(),
  }));
  #generation = 0;

  constructor(parts: ConnectionGateParts) {
    this.#parts = parts;
    this.#parts.client.on('ready', () => this.#suspect(ALL_BUCKETS));
    this.#parts.client.on('close', () => this.#close(ALL_BUCKETS));
    if (this.#parts.client instanceof RedisCluster) this.#watch(this.#parts.client);
  }

  isOpen(bucket: number): boolean {
    return this.#at(bucket).open;
  }

  /** Whether the bucket is known to agree with the book; false while it is open without a comparison. */
  isCompared(bucket: number): boolean {
    return this.#at(bucket).isCompared;
  }

  get isAnyOpen(): boolean {
    return this.#buckets.some(({ open }) => open);
  }

  /**
   * Resolves when the bucket is open. Rejects with LedgerUnavailable after `timeoutMs`, or later if its node answers
   * by then.
   */
  opened(bucket: number, timeoutMs = OPEN_TIMEOUT_MS): Promise<void> {
    const state = this.#at(bucket);
    const { open, waiting } = state;
    if (open) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const expire = () => {
        waiting.delete(passed);
        reject(new LedgerUnavailable('redis is not connected', { reason: 'not_connected' }));
      };
      let timer = setTimeout(() => {
        const moreMs = state.answers ? COMPARING_TIMEOUT_MS - timeoutMs : 0;
        if (moreMs > 0) timer = setTimeout(expire, moreMs);
        else expire();
      }, timeoutMs);
      const passed = () => {
        clearTimeout(timer);
        resolve();
      };
      waiting.add(passed);
    });
  }

  /** Resolves when every bucket is open; rejects with LedgerUnavailable after `timeoutMs`. */
  async allOpened(timeoutMs: number): Promise<void> {
    await Promise.all(ALL_BUCKETS.map((bucket) => this.opened(bucket, timeoutMs)));
  }

  #at(bucket: number): Bucket {
    return this.#buckets[bucket] as Bucket;
  }

  /** Watches a cluster for buckets that moved to another node or a new connection. */
  #watch(cluster: RedisCluster): void {
    cluster.on('-node', (node: Redis) => {
      const owner = addressOf(node);
      this.#suspect(
        ALL_BUCKETS.filter((bucket) => this.#at(bucket).open && this.#at(bucket).owner === owner),
      );
    });
    cluster.on('refresh', () => this.#suspect(ALL_BUCKETS.filter((bucket) => this.#hasMoved(bucket))));
    cluster.beforeMove = (slot) => {
      const [bucket] = this.#parts.owners.bucketsIn(slot);
      if (bucket === undefined) return undefined;
      // Its commands may follow once the bucket has been compared on its new node.
      if (this.#at(bucket).open) this.#suspect([bucket]);
      return this.opened(bucket);
    };
  }

  #hasMoved(bucket: number): boolean {
    const { open, owner } = this.#at(bucket);
    return open && owner !== this.#parts.owners.ownerOf(bucket);
  }

  #close(buckets: readonly number[]): number {
    const generation = ++this.#generation;
    for (const bucket of buckets) {
      Object.assign(this.#at(bucket), { open: false, answers: false, isCompared: false, generation });
      // Its node may have lost its last seconds of writes.
      this.#parts.replays.pin(bucket);
    }
    return generation;
  }

  #suspect(buckets: readonly number[]): void {
    // If the client is not ready, its `ready` event follows and suspects every bucket.
    if (buckets.length === 0 || this.#parts.client.status !== 'ready') return;
    void this.#reopen(buckets, this.#close(buckets));
  }

  async #reopen(buckets: readonly number[], generation: number): Promise<void> {
    const answeringSince = new Map<string, number>();
    for (;;) {
      const closed = buckets.filter(
        (bucket) => !this.#at(bucket).open && this.#at(bucket).generation === generation,
      );
      if (closed.length === 0) return;
      const groups = Map.groupBy(closed, (bucket) => this.#parts.owners.ownerOf(bucket));
      await Promise.all(
        [...groups].map(
          ([owner, group]) => owner && this.#tryGroup(owner, group, generation, answeringSince),
        ),
      );
      if (closed.every((bucket) => this.#at(bucket).open)) return;
      this.#parts.owners.refresh();
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }

  async #tryGroup(
    owner: string,
    group: number[],
    generation: number,
    since: Map<string, number>,
  ): Promise<void> {
    const reader = this.#parts.owners.commandsOn(owner);
    if (!reader) return;
    try {
      await Promise.all(group.map((bucket) => reader.claims(bucket)));
    } catch {
      since.delete(owner);
      for (const bucket of group) this.#at(bucket).answers = false;
      return;
    }
    if (!since.has(owner)) since.set(owner, Date.now());
    for (const bucket of group) this.#at(bucket).answers = true;
    let isChecked = true;
    try {
      await this.#parts.check.verify(new Set(group), reader);
    } catch (error) {
      const isOverdue = Date.now() - (since.get(owner) ?? 0) > CHECK_WITHIN_MS;
      if (!(error instanceof BookUnavailable) && !isOverdue) return;
      // Without the book, calls go on (specification section 5) with the keys and balances in Redis.
      this.#parts.log.warn({ err: error, redis: owner }, 'failed to compare redis with the book');
      isChecked = false;
    }
    const opened = group.filter((bucket) => this.#open(bucket, owner, generation));
    if (isChecked) this.#compared(opened);
    else this.#recheckLater(opened, owner, generation);
  }

  #open(bucket: number, owner: string, generation: number): boolean {
    const state = this.#at(bucket);
    if (state.generation !== generation || this.#parts.owners.ownerOf(bucket) !== owner) return false;
    Object.assign(state, { open: true, owner });
    for (const passed of state.waiting) passed();
    state.waiting.clear();
    // Another gateway may have left entries in its journal.
    this.#parts.drain.markDirty(bucket);
    return true;
  }

  #compared(buckets: readonly number[]): void {
    for (const bucket of buckets) this.#at(bucket).isCompared = true;
    // Don't wait for the loop: the last checkpoint may be missing or old.
    this.recordCheckpoint(buckets).catch(() => undefined);
  }

  /**
   * Records in Redis that it had every write until now (live-state-check.ts), for open buckets that were compared, on
   * the connections that compared them. Rejects with the Redis error.
   */
  async recordCheckpoint(buckets: readonly number[] = ALL_BUCKETS): Promise<void> {
    const known = buckets.filter((bucket) => this.#at(bucket).open && this.#at(bucket).isCompared);
    const groups = Map.groupBy(known, (bucket) => this.#at(bucket).owner as string);
    await Promise.all(
      [...groups].map(async ([owner, group]) => {
        const writer = this.#parts.owners.commandsOn(owner);
        if (writer) await recordCheckpoint(group, writer);
      }),
    );
  }

  #recheckLater(buckets: readonly number[], owner: string, generation: number): void {
    const isStillIn = (bucket: number) => this.#at(bucket).generation === generation;
    const timer = setTimeout(async () => {
      const mine = buckets.filter(isStillIn);
      if (mine.length === 0) return;
      const reader = this.#parts.owners.commandsOn(owner);
      try {
        if (!reader) throw new LedgerUnavailable('redis is not connected');
        await this.#parts.check.verify(new Set(mine), reader);
        this.#compared(mine.filter(isStillIn));
      } catch {
        this.#recheckLater(mine, owner, generation);
      }
    }, RECHECK_MS);
    timer.unref();
  }

  /**
   * Resolves once this gateway's recent settles are certain: their buckets were compared with the book and lost settles
   * replayed. Rejects with LedgerUnavailable after `withinMs`.
   */
  async awaitReconciled(withinMs: number): Promise<void> {
    const until = Date.now() + withinMs;
    // A replica may have taken over since the last look.
    await this.#parts.owners.refreshed();
    const isInDoubt = (bucket: number) =>
      !this.isCompared(bucket) && this.#parts.replays.hasReplayable(bucket);
    while (ALL_BUCKETS.some(isInDoubt)) {
      if (Date.now() >= until) throw new LedgerUnavailable('failed to compare redis with the book');
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }
}

/** Access to the live state of accounts. Every error becomes LedgerUnavailable, which callers answer with 503. */
export class LiveAccess {
  readonly #gate: ConnectionGate;
  readonly #rebuilder: Rebuilder;

  constructor(gate: ConnectionGate, rebuilder: Rebuilder) {
    this.#gate = gate;
    this.#rebuilder = rebuilder;
  }

  /** Runs an account's commands once the gate is open. Rethrows BalanceBeyondBound. */
  async run<T>(accountId: number, commands: () => Promise<T>): Promise<T> {
    const bucket = bucketOf(accountId);
    if (!this.#gate.isOpen(bucket)) await this.#gate.opened(bucket);
    return await orUnavailable(commands);
  }

  /** Rebuilds the account's live state if it is stale. */
  async rebuild(accountId: number, stale: Stale): Promise<void> {
    try {
      await this.#rebuilder.rebuild(accountId, stale);
    } catch (error) {
      throw new LedgerUnavailable('the live state could not be rebuilt', { cause: error });
    }
  }
}

/** Runs commands without waiting at the gate; turns errors into LedgerUnavailable, except BalanceBeyondBound. */
export async function orUnavailable<T>(commands: () => Promise<T>): Promise<T> {
  try {
    return await commands();
  } catch (error) {
    if (error instanceof BalanceBeyondBound) throw error;
    throw new LedgerUnavailable('redis did not answer', { cause: error, reason: 'no_answer' });
  }
}
