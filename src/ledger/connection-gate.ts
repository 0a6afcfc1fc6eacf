import { Cluster } from 'ioredis';
import { type Book, BookUnavailable } from '../book/book.ts';
import type { Log } from '../log.ts';
import { nodesOf, type RedisClient } from './connect-redis.ts';
import { LedgerUnavailable } from './ledger.ts';
import { accountName } from './names.ts';

/** How long a call waits for Redis to come back before it is refused. Contract section 5: 503, within 1.5 s. */
const PATIENCE_MS = 1_000;
/** A Redis that comes back may lack its last seconds; accounts quiet for longer than this cannot be concerned. */
const RECENT_MS = 3_600_000;
/** Keys and accounts changed within this are published again: Redis may lack what it had noted as published. */
const CHANGED_MS = 600_000;
const VERIFY_AGAIN_MS = 50;
/** A cluster may lack a node for long: the accounts of the others are let through after this. */
const VERIFY_WITHIN_MS = 5_000;

/**
 * Lets calls through to Redis only while it is connected and known to have lost nothing. States: closed → (connected)
 * checking → open → (connection lost) closed.
 *
 * A Redis that was restarted may have come back without what it had acknowledged last (AOF everysec, a failover).
 * The book tells: an account whose last entry in the book is not in Redis is rebuilt before any call is admitted;
 * otherwise old state would admit a deleted key, or give entries places that are taken.
 */
export class ConnectionGate {
  readonly #client: RedisClient;
  readonly #background: RedisClient;
  readonly #book: Book;
  readonly #log: Log;
  readonly #rebuild: (accountId: number) => Promise<void>;
  readonly #republish: (changedSince: number) => Promise<void>;
  readonly #adjustClock: () => Promise<void>;
  #open = false;
  #generation = 0;
  #giveUpAt = 0;
  #waiting: (() => void)[] = [];

  constructor(options: {
    client: RedisClient;
    /** The connection that rebuilds and drains. */
    background: RedisClient;
    book: Book;
    log: Log;
    rebuild: (accountId: number) => Promise<void>;
    /** Publishes what is unpublished, or was changed since. */
    republish: (changedSince: number) => Promise<void>;
    adjustClock: () => Promise<void>;
  }) {
    this.#client = options.client;
    this.#background = options.background;
    this.#book = options.book;
    this.#log = options.log;
    this.#rebuild = options.rebuild;
    this.#republish = options.republish;
    this.#adjustClock = options.adjustClock;
    this.#client.on('ready', () => {
      this.#giveUpAt = Date.now() + VERIFY_WITHIN_MS;
      void this.#check();
    });
    this.#client.on('close', () => {
      this.#open = false;
      this.#generation++;
    });
    if (this.#client instanceof Cluster) this.#watchNodes(this.#client);
  }

  get isOpen(): boolean {
    return this.#open;
  }

  /** Resolves when open; rejects with LedgerUnavailable after `patienceMs`. */
  opened(patienceMs = PATIENCE_MS): Promise<void> {
    if (this.#open) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting = this.#waiting.filter((waiter) => waiter !== passed);
        reject(new LedgerUnavailable('redis is not connected'));
      }, patienceMs);
      const passed = () => {
        clearTimeout(timer);
        resolve();
      };
      this.#waiting.push(passed);
    });
  }

  #watchNodes(cluster: Cluster): void {
    // Emitted before the first command goes to the node.
    cluster.on('+node', () => this.#nodesChanged());
    let masters = '';
    cluster.on('refresh', () => {
      const before = masters;
      masters = nodesOf(cluster)
        .map(({ options }) => `${options.host}:${options.port}`)
        .sort()
        .join();
      // A replica that was connected before has taken over.
      if (before !== masters) this.#nodesChanged();
    });
  }

  /** Of a cluster: another node answers for some accounts now, or the same one after a restart. */
  #nodesChanged(): void {
    // Not ready as a whole: that it is follows, and is checked.
    if (this.#client.status !== 'ready') return;
    if (this.#open) this.#giveUpAt = Date.now() + VERIFY_WITHIN_MS;
    this.#open = false;
    void this.#check();
  }

  async #check(): Promise<void> {
    const generation = ++this.#generation;
    while (generation === this.#generation) {
      try {
        await this.#verify();
        break;
      } catch (error) {
        // The connections come back one after the other: without the second one nothing can be rebuilt.
        const mayPass = this.#background.status === 'ready' && Date.now() > this.#giveUpAt;
        if (mayPass || error instanceof BookUnavailable) {
          // With the book out of reach calls go on (contract section 5); keys and balances in Redis are all there is.
          this.#log.warn({ err: error }, 'redis could not be compared with the book');
          break;
        }
        await new Promise((resolve) => setTimeout(resolve, VERIFY_AGAIN_MS));
      }
    }
    if (generation !== this.#generation) return;
    this.#open = true;
    for (const passed of this.#waiting.splice(0)) passed();
  }

  async #verify(): Promise<void> {
    await this.#adjustClock();
    const recent = await this.#book.recentAccounts(Date.now() - RECENT_MS);
    const live = await Promise.all(recent.map(({ id }) => this.#client.hmget(accountName(id), 'ep', 'seq')));
    const behind = recent.filter(({ seq, epoch }, index) => {
      const [liveEpoch, liveSeq] = live[index] ?? [];
      // An account that is absent is rebuilt at its next use.
      return liveEpoch && (Number(liveEpoch) !== epoch || Number(liveSeq) < seq);
    });
    if (behind.length > 0) {
      this.#log.warn(
        { accounts: behind.length },
        'redis lost entries that the book has; rebuilding these accounts',
      );
    }
    for (const { id } of behind) await this.#rebuild(id);
    await this.#republish(Date.now() - CHANGED_MS);
  }
}
