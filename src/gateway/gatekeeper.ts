import type { FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { type AddressMatcher, clientAddress, parseAddress } from '../domain/addresses.ts';
import { GatewayError } from '../domain/errors.ts';
import { hashKey, isWellFormed } from '../domain/key-value.ts';
import { requestOrigin } from '../domain/origins.ts';
import { type Caller, type CompiledKey, compileKey, refusalOf } from '../domain/rules.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { presentedKey, refuseKeyIn } from './bearer.ts';
import type { CountryLookup } from './country.ts';

/**
 * Keys whose compiled records a process keeps: 0.4 KB each, every restriction set, where lists are shared, and 1.5 KB with
 * lists of its own. One that falls out costs its next call two round trips to Redis and 13 to 27 µs of reading and compiling;
 * keys that take turns beyond this number all do.
 */
const CACHED_KEYS = 250_000;
/** So bounded, the cache grows with what is in it; bounded by `max`, it takes 2.8 MB when it is made. */
const CACHE_BOUND = { maxSize: CACHED_KEYS, sizeCalculation: () => 1 };

/** A key as this process knows it. `current`: read from Redis within the request that is being judged. */
export interface Judged {
  readonly compiled: CompiledKey;
  readonly current: boolean;
}

/**
 * Checks 1–8 of specification section 3. Records are cached in the process without a lifetime: admission compares their
 * version, and a refusal or a route without admission asks Redis for the current one before it is answered.
 */
export class Gatekeeper {
  readonly #ledger: Ledger;
  readonly #countries: CountryLookup;
  readonly #keyPrefix: string;
  readonly #trusted: AddressMatcher | undefined;
  readonly #allowMissingOrigin: boolean;
  readonly #cache = new LRUCache<string, CompiledKey>(CACHE_BOUND);

  constructor(options: {
    ledger: Ledger;
    countries: CountryLookup;
    keyPrefix: string;
    trustProxy: AddressMatcher | undefined;
    allowMissingOrigin: boolean;
  }) {
    this.#ledger = options.ledger;
    this.#countries = options.countries;
    this.#keyPrefix = options.keyPrefix;
    this.#trusted = options.trustProxy;
    this.#allowMissingOrigin = options.allowMissingOrigin;
  }

  /**
   * Judges by the cached record where there is one, at once unless something must be looked up; admission must follow.
   * Throws, or rejects with, the first check that fails.
   */
  judge(request: FastifyRequest): Judged | Promise<Judged> {
    const { hash, cached } = this.#known(request);
    if (!cached) return this.#judgeAnew(request, hash, undefined);
    const refusal = this.#refusal(request, cached);
    if (refusal instanceof Promise) return this.#judgeLater(request, hash, cached, refusal);
    return refusal ? this.#judgeAnew(request, hash, cached) : { compiled: cached, current: false };
  }

  async #judgeLater(
    request: FastifyRequest,
    hash: string,
    cached: CompiledKey,
    looked: Promise<GatewayError | undefined>,
  ): Promise<Judged> {
    return (await looked)
      ? await this.#judgeAnew(request, hash, cached)
      : { compiled: cached, current: false };
  }

  async #judgeAnew(request: FastifyRequest, hash: string, cached: CompiledKey | undefined): Promise<Judged> {
    return { compiled: await this.#judgeCurrent(request, hash, cached), current: true };
  }

  /** Judges by the record as it is now: one Redis round trip. Throws the GatewayError of the first check that fails. */
  async authorise(request: FastifyRequest): Promise<CompiledKey> {
    const { hash, cached } = this.#known(request);
    return await this.#judgeCurrent(request, hash, cached);
  }

  /** The address that a request comes from: specification section 1, TRUST_PROXY. */
  addressOf(request: FastifyRequest): string {
    const forwarded = this.#trusted ? request.headers['x-forwarded-for'] : undefined;
    return clientAddress(
      request.socket.remoteAddress ?? '',
      Array.isArray(forwarded) ? forwarded.join(',') : forwarded,
      this.#trusted,
    );
  }

  /** What this process knows of the key that a request presents. Throws 401 for what can be none. */
  #known(request: FastifyRequest): { hash: string; cached: CompiledKey | undefined } {
    const value = presentedKey(request.headers);
    refuseKeyIn(request.url, this.#keyPrefix);
    const hash = hashKey(value);
    const cached = this.#cache.get(hash);
    // One that has been let in before is well-formed; looking again would cost as much as the hash.
    if (!cached && !isWellFormed(value, this.#keyPrefix)) throw unknownKey();
    return { hash, cached };
  }

  async #judgeCurrent(
    request: FastifyRequest,
    hash: string,
    cached: CompiledKey | undefined,
  ): Promise<CompiledKey> {
    const subject = cached
      ? await this.#ledger.current(cached.key.accountId, cached.key.id)
      : await this.#ledger.find(hash);
    if (!subject) {
      this.#cache.delete(hash);
      throw unknownKey();
    }
    const unchanged =
      cached?.key.version === subject.key.version && cached.accountVersion === subject.accountVersion;
    const compiled = unchanged ? cached : compileKey(subject);
    if (!unchanged) this.#cache.set(hash, compiled);
    if (compiled.needsCountry) this.#countries.warmUp();
    const refusal = await this.#refusal(request, compiled);
    if (refusal) throw refusal;
    return compiled;
  }

  #refusal(
    request: FastifyRequest,
    compiled: CompiledKey,
  ): GatewayError | undefined | Promise<GatewayError | undefined> {
    const { headers } = request;
    // Reading an address costs more than most checks: only for keys that ask where a call comes from.
    const address = compiled.addresses || compiled.needsCountry ? this.addressOf(request) : '';
    const caller: Caller = {
      nowMs: Date.now(),
      address: compiled.addresses ? parseAddress(address) : undefined,
      country: undefined,
      origin: requestOrigin(headers.origin, headers.referer),
      allowMissingOrigin: this.#allowMissingOrigin,
    };
    if (!compiled.needsCountry) return refusalOf(compiled, caller);
    const country = this.#countries.cached(address);
    if (country !== undefined) return refusalOf(compiled, { ...caller, country: country ?? undefined });
    // Checks 3 to 6 come before the country's: what they refuse needs no lookup, nor its failing.
    const earlier = refusalOf(compiled, caller);
    if (earlier && earlier.code !== 'origin_not_allowed') return earlier;
    return this.#lookUp(address).then((found) =>
      refusalOf(compiled, { ...caller, country: found ?? undefined }),
    );
  }

  /** Throws 503: an address whose country cannot be told is not let past a key that blocks some. */
  async #lookUp(address: string): Promise<string | null> {
    try {
      return await this.#countries.lookup(address);
    } catch (cause) {
      throw new GatewayError(
        'service_unavailable',
        'The country of your address could not be looked up. Try again shortly.',
        null,
        1,
        { cause },
      );
    }
  }
}

function unknownKey(): GatewayError {
  return new GatewayError(
    'invalid_api_key',
    'The API key is not known here. Check that it was copied whole.',
  );
}
