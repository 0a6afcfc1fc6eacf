import type { Book } from '../book/book.ts';
import type { Log } from '../log.ts';
import type { RedisClient } from './connect-redis.ts';
import { LedgerUnavailable } from './ledger.ts';
import { accountName } from './names.ts';

/** How long a call waits for Redis to come back before it is refused. Contract section 5: 503, within 1.5 s. */
const PATIENCE_MS = 1_000;
/** A Redis that comes back may lack its last seconds; accounts quiet for longer than this cannot be concerned. */
const RECENT_MS = 3_600_000;
/** Keys and accounts changed within this are published again: Redis may lack what it had noted as published. */
const CHANGED_MS = 600_000;

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
    this.#client.on('ready', () => void this.#check());
    this.#client.on('close', () => {
      this.#open = false;
      this.#generation++;
    });
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

  async #check(): Promise<void> {
    const generation = ++this.#generation;
    try {
      await this.#verify();
    } catch (error) {
      // Both connections end together and come back one after the other: without the second nothing can be rebuilt.
      if (generation === this.#generation && this.#background.status !== 'ready') {
        this.#background.once('ready', () => generation === this.#generation && void this.#check());
        return;
      }
      // With the book out of reach calls go on (contract section 5); keys and balances in Redis are all there is.
      this.#log.warn({ err: error }, 'redis could not be compared with the book');
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
