import type { Redis } from 'ioredis';
import { BookUnavailable } from '../../book/book.ts';
import type { Log } from '../../log/log.ts';
import { LedgerUnavailable } from '../ledger.ts';
import { addressOf, type BucketOwners } from '../redis/bucket-owners.ts';
import { RedisCluster } from '../redis/cluster.ts';
import type { RedisClient } from '../redis/connect.ts';
import { BUCKETS } from '../redis/redis-keys.ts';
import type { LiveStateCheck } from './live-state-check.ts';

/** How long a call waits for Redis to come back before it is refused. Specification section 5: 503, within 1.5 s. */
const PATIENCE_MS = 1_000;
const CHECK_AGAIN_MS = 50;
/** A node that answers, but cannot be compared with the book for another reason than the book, is let through after this. */
const CHECK_WITHIN_MS = 5_000;
/** Buckets that were let through while the book was away are compared once it is back. */
const CHECK_LATER_MS = 2_000;

const ALL = Array.from({ length: BUCKETS }, (_, bucket) => bucket);

interface Bucket {
  open: boolean;
  /** The node that it was compared on. */
  owner: string | undefined;
  /** Changes with each closing; a check that belongs to an earlier one is void. */
  turn: number;
  waiting: Set<() => void>;
}

/**
 * Lets calls through to Redis only while the node that has their account is connected and known to have lost nothing.
 * States of a bucket: closed → (its node answers) checking → open → (connection lost, or another node took over) closed.
 * Old state would admit a deleted key, or give entries places that are taken. A cluster that lacks a node stays open
 * for the accounts of the others.
 */
export class ConnectionGate {
  readonly #client: RedisClient;
  readonly #owners: BucketOwners;
  readonly #check: LiveStateCheck;
  readonly #log: Log;
  readonly #opened: (bucket: number) => void;
  readonly #closed: (bucket: number) => void;
  readonly #buckets: readonly Bucket[] = ALL.map(() => ({
    open: false,
    owner: undefined,
    turn: 0,
    waiting: new Set(),
  }));
  #turns = 0;

  constructor(options: {
    client: RedisClient;
    owners: BucketOwners;
    check: LiveStateCheck;
    log: Log;
    /** A bucket was opened: its journal may hold what another gateway left. */
    opened: (bucket: number) => void;
    /** A bucket was closed: its node may have lost its last seconds. */
    closed: (bucket: number) => void;
  }) {
    this.#client = options.client;
    this.#owners = options.owners;
    this.#check = options.check;
    this.#log = options.log;
    this.#opened = options.opened;
    this.#closed = options.closed;
    this.#client.on('ready', () => this.#suspect(ALL));
    this.#client.on('close', () => this.#close(ALL));
    if (this.#client instanceof RedisCluster) this.#watch(this.#client);
  }

  isOpen(bucket: number): boolean {
    return this.#at(bucket).open;
  }

  get isAnyOpen(): boolean {
    return this.#buckets.some(({ open }) => open);
  }

  /** Resolves when the bucket is open; rejects with LedgerUnavailable after `patienceMs`. */
  opened(bucket: number, patienceMs = PATIENCE_MS): Promise<void> {
    const { open, waiting } = this.#at(bucket);
    if (open) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        waiting.delete(passed);
        reject(new LedgerUnavailable('redis is not connected'));
      }, patienceMs);
      const passed = () => {
        clearTimeout(timer);
        resolve();
      };
      waiting.add(passed);
    });
  }

  async allOpened(patienceMs: number): Promise<void> {
    await Promise.all(ALL.map((bucket) => this.opened(bucket, patienceMs)));
  }

  #at(bucket: number): Bucket {
    return this.#buckets[bucket] as Bucket;
  }

  /** Of a cluster: another node answers for some buckets now, or the same one on a new connection. */
  #watch(cluster: RedisCluster): void {
    cluster.on('-node', (node: Redis) => {
      const owner = addressOf(node);
      this.#suspect(ALL.filter((bucket) => this.#at(bucket).open && this.#at(bucket).owner === owner));
    });
    cluster.on('refresh', () => this.#suspect(ALL.filter((bucket) => this.#hasMoved(bucket))));
    cluster.beforeMove = (slot) => {
      const [bucket] = this.#owners.bucketsIn(slot);
      if (bucket === undefined) return undefined;
      // Once the bucket has been compared where it is now, its commands may follow it there.
      if (this.#at(bucket).open) this.#suspect([bucket]);
      return this.opened(bucket);
    };
  }

  #hasMoved(bucket: number): boolean {
    const { open, owner } = this.#at(bucket);
    return open && owner !== this.#owners.ownerOf(bucket);
  }

  #close(buckets: readonly number[]): number {
    const turn = ++this.#turns;
    for (const bucket of buckets) {
      Object.assign(this.#at(bucket), { open: false, turn });
      this.#closed(bucket);
    }
    return turn;
  }

  #suspect(buckets: readonly number[]): void {
    // Not ready as a whole: that it is follows, and is checked.
    if (buckets.length === 0 || this.#client.status !== 'ready') return;
    void this.#reopen(buckets, this.#close(buckets));
  }

  async #reopen(buckets: readonly number[], turn: number): Promise<void> {
    const answeringSince = new Map<string, number>();
    for (;;) {
      const closed = buckets.filter((bucket) => !this.#at(bucket).open && this.#at(bucket).turn === turn);
      if (closed.length === 0) return;
      const groups = Map.groupBy(closed, (bucket) => this.#owners.ownerOf(bucket));
      await Promise.all(
        [...groups].map(([owner, group]) => owner && this.#tryGroup(owner, group, turn, answeringSince)),
      );
      if (closed.every((bucket) => this.#at(bucket).open)) return;
      this.#owners.refresh();
      await new Promise((resolve) => setTimeout(resolve, CHECK_AGAIN_MS));
    }
  }

  async #tryGroup(owner: string, group: number[], turn: number, since: Map<string, number>): Promise<void> {
    const reader = this.#owners.reader(owner);
    if (!reader) return;
    try {
      await Promise.all(group.map((bucket) => reader.claims(bucket)));
    } catch {
      since.delete(owner);
      return;
    }
    if (!since.has(owner)) since.set(owner, Date.now());
    let isChecked = true;
    try {
      await this.#check.verify(new Set(group), reader);
    } catch (error) {
      const isOverdue = Date.now() - (since.get(owner) ?? 0) > CHECK_WITHIN_MS;
      if (!(error instanceof BookUnavailable) && !isOverdue) return;
      // With the book out of reach calls go on (specification section 5); keys and balances in Redis are all there is.
      this.#log.warn({ err: error, redis: owner }, 'redis could not be compared with the book');
      isChecked = false;
    }
    const opened = group.filter((bucket) => this.#letThrough(bucket, owner, turn));
    if (!isChecked) this.#checkLater(opened, owner, turn);
  }

  #letThrough(bucket: number, owner: string, turn: number): boolean {
    const state = this.#at(bucket);
    if (state.turn !== turn || this.#owners.ownerOf(bucket) !== owner) return false;
    Object.assign(state, { open: true, owner });
    for (const passed of state.waiting) passed();
    state.waiting.clear();
    this.#opened(bucket);
    return true;
  }

  #checkLater(buckets: readonly number[], owner: string, turn: number): void {
    const timer = setTimeout(async () => {
      const mine = buckets.filter((bucket) => this.#at(bucket).turn === turn);
      const reader = this.#owners.reader(owner);
      if (mine.length === 0 || !reader) return;
      try {
        await this.#check.verify(new Set(mine), reader);
      } catch {
        this.#checkLater(mine, owner, turn);
      }
    }, CHECK_LATER_MS);
    timer.unref();
  }
}
