import type { Redis } from 'ioredis';
import { BookUnavailable } from '../../book/store.ts';
import type { Log } from '../../log/log.ts';
import type { JournalDrain } from '../journal/drain.ts';
import { BalanceBeyondBound, LedgerUnavailable } from '../ledger.ts';
import { addressOf, type BucketOwners } from '../redis/bucket-owners.ts';
import { type RedisClient, RedisCluster } from '../redis/connect.ts';
import { ALL_BUCKETS, bucketOf } from '../redis/redis-keys.ts';
import { type LiveStateCheck, type Replays, recordCheckpoint } from './live-state-check.ts';
import type { Rebuilder } from './rebuild.ts';

/** Longest wait of a call for Redis to come back, before it is refused. */
const PATIENCE_MS = 1_000;
/** Longest wait of a call if the node answers, and is being compared with the book: longer than that may take. */
const ANSWERING_PATIENCE_MS = 6_000;
const CHECK_AGAIN_MS = 50;
/** Time after which a node is let through that answers, but cannot be compared with the book, though the book answers too. */
const CHECK_WITHIN_MS = 5_000;
/** Pause between tries to compare buckets that were let through without a comparison. */
const CHECK_LATER_MS = 2_000;

interface Bucket {
  open: boolean;
  /** The node that has it answers, and is being compared with the book. */
  answers: boolean;
  /** It was let through after a comparison with the book; false: without one. */
  isCompared: boolean;
  /** The node on which the bucket was let through. */
  owner: string | undefined;
  /** Changes with each closing: a check of an earlier generation is void. */
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

  /** Whether the bucket is known to agree with the book; false while calls go on without a book to compare it with. */
  isCompared(bucket: number): boolean {
    return this.#at(bucket).isCompared;
  }

  get isAnyOpen(): boolean {
    return this.#buckets.some(({ open }) => open);
  }

  /**
   * Resolves when the bucket is open; rejects with LedgerUnavailable after `patienceMs`, or later if its node answers by
   * then.
   */
  opened(bucket: number, patienceMs = PATIENCE_MS): Promise<void> {
    const state = this.#at(bucket);
    const { open, waiting } = state;
    if (open) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        waiting.delete(passed);
        reject(new LedgerUnavailable('redis is not connected', { reason: 'not_connected' }));
      };
      let timer = setTimeout(() => {
        const moreMs = state.answers ? ANSWERING_PATIENCE_MS - patienceMs : 0;
        if (moreMs > 0) timer = setTimeout(giveUp, moreMs);
        else giveUp();
      }, patienceMs);
      const passed = () => {
        clearTimeout(timer);
        resolve();
      };
      waiting.add(passed);
    });
  }

  /** Resolves when every bucket is open; rejects with LedgerUnavailable after `patienceMs`. */
  async allOpened(patienceMs: number): Promise<void> {
    await Promise.all(ALL_BUCKETS.map((bucket) => this.opened(bucket, patienceMs)));
  }

  #at(bucket: number): Bucket {
    return this.#buckets[bucket] as Bucket;
  }

  /** Watches a cluster for buckets that another node answers for now, or the same node on a new connection. */
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
      // Once the bucket has been compared where it is now, its commands may follow it there.
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
      // Its node may have lost its last seconds.
      this.#parts.replays.pin(bucket);
    }
    return generation;
  }

  #suspect(buckets: readonly number[]): void {
    // Not ready as a whole: the event that it is follows, and suspects every bucket.
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
      await new Promise((resolve) => setTimeout(resolve, CHECK_AGAIN_MS));
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
      // With the book out of reach calls go on (specification section 5), on the keys and balances that Redis has.
      this.#parts.log.warn({ err: error, redis: owner }, 'redis could not be compared with the book');
      isChecked = false;
    }
    const opened = group.filter((bucket) => this.#open(bucket, owner, generation));
    if (isChecked) this.#compared(opened);
    else this.#checkLater(opened, owner, generation);
  }

  #open(bucket: number, owner: string, generation: number): boolean {
    const state = this.#at(bucket);
    if (state.generation !== generation || this.#parts.owners.ownerOf(bucket) !== owner) return false;
    Object.assign(state, { open: true, owner });
    for (const passed of state.waiting) passed();
    state.waiting.clear();
    // Its journal may hold what another gateway left.
    this.#parts.drain.markDirty(bucket);
    return true;
  }

  #compared(buckets: readonly number[]): void {
    for (const bucket of buckets) this.#at(bucket).isCompared = true;
    // At once as well: nothing may be noted yet, or the time of long ago.
    this.recordCheckpoint(buckets).catch(() => undefined);
  }

  /**
   * Notes in Redis until when it had every write (live-state-check.ts), for the buckets that are open and were compared: of others
   * it is not known. Goes over the very connections on which they were. Rejects with the Redis error.
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

  #checkLater(buckets: readonly number[], owner: string, generation: number): void {
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
        this.#checkLater(mine, owner, generation);
      }
    }, CHECK_LATER_MS);
    timer.unref();
  }

  /**
   * Resolves once none of the latest settles of this gateway is in doubt: its bucket has been compared with the book, and what
   * Redis had lost of it is made again. Rejects with LedgerUnavailable if that is not so within `withinMs`.
   */
  async awaitReconciled(withinMs: number): Promise<void> {
    const until = Date.now() + withinMs;
    const isInDoubt = (bucket: number) =>
      !this.isCompared(bucket) && this.#parts.replays.hasReplayable(bucket);
    while (ALL_BUCKETS.some(isInDoubt)) {
      if (Date.now() >= until) throw new LedgerUnavailable('redis could not be compared with the book');
      await new Promise((resolve) => setTimeout(resolve, CHECK_AGAIN_MS));
    }
  }
}

/** Access to the live state of accounts. Whatever goes wrong becomes LedgerUnavailable: the caller answers 503. */
export class LiveAccess {
  readonly #gate: ConnectionGate;
  readonly #rebuilder: Rebuilder;

  constructor(gate: ConnectionGate, rebuilder: Rebuilder) {
    this.#gate = gate;
    this.#rebuilder = rebuilder;
  }

  /** Runs commands about an account once the gate lets them through. Passes BalanceBeyondBound on. */
  async run<T>(accountId: number, commands: () => Promise<T>): Promise<T> {
    const bucket = bucketOf(accountId);
    if (!this.#gate.isOpen(bucket)) await this.#gate.opened(bucket);
    return await orUnavailable(commands);
  }

  /** Rebuilds the account's live state, if `keyId` or the account was found not to be live. */
  async rebuild(accountId: number, keyId?: number | null): Promise<void> {
    try {
      await this.#rebuilder.rebuild(accountId, { keyId });
    } catch (error) {
      throw new LedgerUnavailable('the live state could not be rebuilt', { cause: error });
    }
  }
}

/** Runs commands without waiting at the gate; their failure becomes LedgerUnavailable. Passes BalanceBeyondBound on. */
export async function orUnavailable<T>(commands: () => Promise<T>): Promise<T> {
  try {
    return await commands();
  } catch (error) {
    if (error instanceof BalanceBeyondBound) throw error;
    throw new LedgerUnavailable('redis did not answer', { cause: error, reason: 'no_answer' });
  }
}
