import { Worker } from 'node:worker_threads';
import { LRUCache } from 'lru-cache';
import { parseAddress } from '../domain/addresses.ts';
import type { Log } from '../log/log.ts';
import type { CountryAnswer } from './country-worker.ts';

const MAX_CACHED_ADDRESSES = 50_000;
/** So bounded, the cache grows with what is in it; bounded by `max`, it takes 1.4 MB when it is made. */
const CACHE_BOUND = { maxSize: MAX_CACHED_ADDRESSES, sizeCalculation: () => 1 };
/** A thread that died before it answered anything is not replaced sooner: its successor would fare no better. */
const RESTART_PAUSE_MS = 1_000;

interface Pending {
  readonly promise: Promise<string | null>;
  readonly resolve: (country: string | null) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Which country an address belongs to, for `blocked_countries`. The data is loaded in a thread of its own, only once
 * it is asked for, so that most gateways never pay for it and loading holds up nobody's request.
 *
 * The thread: none → loading → answering → none again (crash; the next question starts another) or closed (final).
 * Questions sent while it loads wait in its mailbox. A crash rejects the questions under way: an address is
 * never taken as one without a country because its country could not be found out.
 */
export class CountryLookup {
  readonly #log: Log;
  /** By normalised address; "" is no country. */
  readonly #known = new LRUCache<string, string>(CACHE_BOUND);
  readonly #pending = new Map<string, Pending>();
  #worker: Worker | undefined;
  #hasAnswered = false;
  #startNotBefore = 0;
  #closed = false;

  constructor({ log }: { log: Log }) {
    this.#log = log;
  }

  /** Begins to load now, so that the first request need not wait for it; e.g. once a key that blocks a country is seen. */
  warmUp(): void {
    if (!this.#closed && performance.now() >= this.#startNotBefore) this.#worker ??= this.#startWorker();
  }

  /** ISO 3166-1 alpha-2 code; null: the address has no country, or is none; undefined: not known yet, use `lookup`. */
  cached(address: string): string | null | undefined {
    const normalised = parseAddress(address)?.toString();
    if (normalised === undefined) return null;
    const country = this.#known.get(normalised);
    return country === '' ? null : country;
  }

  /** As `cached`, but finds out. Rejects with Error('country data unavailable') where that cannot be done now. */
  async lookup(address: string): Promise<string | null> {
    const normalised = parseAddress(address)?.toString();
    if (normalised === undefined) return null;
    const country = this.#known.get(normalised);
    if (country !== undefined) return country || null;
    return await (this.#pending.get(normalised)?.promise ?? this.#ask(normalised));
  }

  /** Ends the thread; lookups under way and later ones are rejected. */
  async close(): Promise<void> {
    this.#closed = true;
    const worker = this.#worker;
    this.#abandon();
    await worker?.terminate();
  }

  #ask(address: string): Promise<string | null> {
    this.warmUp();
    if (!this.#worker) return Promise.reject(unavailable());
    const pending = Promise.withResolvers<string | null>();
    this.#pending.set(address, pending);
    // An idle thread keeps no process alive, one with a question does.
    this.#worker.ref();
    this.#worker.postMessage(address);
    return pending.promise;
  }

  #startWorker(): Worker {
    const extension = import.meta.url.endsWith('.ts') ? '.ts' : '.js';
    const worker = new Worker(new URL(`./country-worker${extension}`, import.meta.url), { execArgv: [] });
    this.#hasAnswered = false;
    worker.on('message', (answer: CountryAnswer) => this.#answered(worker, answer));
    worker.on('error', (error) => this.#log.error({ err: error }, 'country data: its thread failed'));
    // 'exit' follows 'error', and comes alone where the thread was ended from outside.
    worker.on('exit', (code) => {
      if (worker !== this.#worker) return;
      this.#log.warn({ code }, 'country data: its thread ended and will be started again when needed');
      if (!this.#hasAnswered) this.#startNotBefore = performance.now() + RESTART_PAUSE_MS;
      this.#abandon();
    });
    worker.unref();
    return worker;
  }

  #answered(worker: Worker, [address, country]: CountryAnswer): void {
    if (worker !== this.#worker) return;
    this.#hasAnswered = true;
    this.#known.set(address, country ?? '');
    this.#pending.get(address)?.resolve(country);
    this.#pending.delete(address);
    if (this.#pending.size === 0) worker.unref();
  }

  #abandon(): void {
    this.#worker = undefined;
    for (const { reject } of this.#pending.values()) reject(unavailable());
    this.#pending.clear();
  }
}

function unavailable(): Error {
  return new Error('country data unavailable');
}
