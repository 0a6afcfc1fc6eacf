import type { FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { type AddressMatcher, clientAddress, type ParsedAddress, parseAddress } from '../domain/addresses.ts';
import { type Caller, headerFacts } from '../domain/caller.ts';
import { GatewayError } from '../domain/errors.ts';
import { hashKey, isWellFormed } from '../domain/key-value.ts';
import { hasKey } from '../domain/mask-keys.ts';
import { endOfValue } from '../domain/rotation.ts';
import { type CheckedKey, type CompiledKey, compileKey, refusalOf } from '../domain/rules.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { CountryLookup } from './country.ts';
import { presentedKey } from './presented-key.ts';
import type { UnnamedProxy } from './unnamed-proxy.ts';

interface GatekeeperParts {
  readonly ledger: Ledger;
  readonly countries: CountryLookup;
  readonly keyPrefix: string;
  readonly trustProxy: AddressMatcher | undefined;
  readonly unnamedProxy: Pick<UnnamedProxy, 'note'>;
  readonly allowMissingOrigin: boolean;
  /**
   * Memory for compiled keys. 64 MiB hold 130,000 keys without lists, or 400 with the maximum number of entries. An
   * evicted key costs its next call two round trips to Redis and 13 to 27 µs of reading and compiling.
   */
  readonly cachedBytes: number;
}

export class Gatekeeper {
  readonly #parts: GatekeeperParts;
  readonly #cache: LRUCache<string, CompiledKey>;

  constructor(options: GatekeeperParts) {
    this.#parts = options;
    // Bounded by size, the cache grows with its entries; bounded by `max`, it takes 2.8 MB up front.
    this.#cache = new LRUCache({ maxSize: options.cachedBytes, sizeCalculation: ({ bytes }) => bytes });
  }

  /**
   * Authorizes by the cached record, within the tick. Admission must follow, which verifies that the record is current.
   * Undefined if only the current record can decide: none is cached, or the cached one refuses. Throws 401 for values
   * that can't be a key, and 503 if the country of the address can't be looked up.
   */
  authorizeCached(request: FastifyRequest): CompiledKey | undefined {
    const { cached } = this.#known(request);
    if (!cached || this.#refusal(request, cached)) return undefined;
    const { key, valueEndsAt } = cached;
    return valueEndsAt !== undefined && this.#parts.ledger.now(key.accountId) >= valueEndsAt
      ? undefined
      : cached;
  }

  /**
   * Authorizes by the current record: the key of the request, or with `given` (SHA-256, hex, of a value) that of its
   * session or of a sign-in. Takes one Redis round trip, two for an uncached key, and up to three more for a
   * previous value. Throws the GatewayError of the first check that fails.
   */
  async authorize(request: FastifyRequest, given?: string): Promise<CompiledKey> {
    const { hash, cached } = this.#known(request, given);
    const current = cached && (await this.#parts.ledger.current(cached.key.accountId, cached.key.id));
    // Look up values that the current record does not know: the record may be older than the value.
    const isKnown = current && endOfValue(current.key, hash) > 0;
    const subject = isKnown ? current : await this.#parts.ledger.find(hash);
    const endsAt = subject ? endOfValue(subject.key, hash) : 0;
    if (!subject || (await this.#hasPassed(endsAt, subject.key.accountId))) {
      this.#cache.delete(hash);
      throw subject ? new ReplacedValue(subject.key) : noSuchKey();
    }
    const unchanged =
      cached?.key.version === subject.key.version && cached.accountVersion === subject.accountVersion;
    const compiled = unchanged ? cached : compileKey(subject, endsAt);
    if (!unchanged) this.#cache.set(hash, compiled);
    const refusal = this.#refusal(request, compiled);
    if (refusal) throw refusal;
    return compiled;
  }

  /**
   * True if a time has come by the clock of Redis. Redis itself is asked only if this process' copy of the clock,
   * which may be late, says that the time has not come: a value must end at every gateway at once.
   */
  async #hasPassed(endsAt: number, accountId: number): Promise<boolean> {
    if (endsAt === Infinity) return false;
    return (
      this.#parts.ledger.now(accountId) >= endsAt || (await this.#parts.ledger.time(accountId)) >= endsAt
    );
  }

  /** Returns the cached record of the presented key, if any. */
  cached(request: FastifyRequest): CompiledKey | undefined {
    const hash = this.#presentedHash(request);
    return hash === undefined ? undefined : this.#cache.get(hash);
  }

  /**
   * Finds the key of a refused request, for its record, even if it is inactive, expired, or its value was replaced.
   * Undefined if the value belongs to no key. Never rejects.
   */
  async ownerOf(
    request: FastifyRequest,
    refusal: GatewayError,
  ): Promise<Pick<CheckedKey, 'id' | 'accountId'> | undefined> {
    if (refusal instanceof ReplacedValue) return refusal.key;
    if (refusal.code === 'missing_api_key' || refusal.code === 'invalid_api_key') return undefined;
    const hash = this.#presentedHash(request);
    return hash === undefined
      ? undefined
      : (this.#cache.get(hash)?.key ?? (await this.#parts.ledger.find(hash).catch(() => undefined))?.key);
  }

  /** Hash of the presented value; undefined for values that can't be a key, which are looked up nowhere. */
  #presentedHash(request: FastifyRequest): string | undefined {
    try {
      const value = presentedKey(request);
      return isWellFormed(value, this.#parts.keyPrefix) ? hashKey(value) : undefined;
    } catch {
      return undefined;
    }
  }

  /** Client address as text: specification section 1, TRUST_PROXY. */
  addressOf(request: FastifyRequest): string {
    const forwarded = this.#parts.trustProxy ? request.headers['x-forwarded-for'] : undefined;
    return clientAddress(
      request.socket.remoteAddress ?? '',
      Array.isArray(forwarded) ? forwarded.join(',') : forwarded,
      this.#parts.trustProxy,
    );
  }

  /** Beginning of every key. */
  get keyPrefix(): string {
    return this.#parts.keyPrefix;
  }

  /** Hash and cached record of the presented key. Throws 401 for values that can't be a key. */
  #known(request: FastifyRequest, given?: string): { hash: string; cached: CompiledKey | undefined } {
    if (given !== undefined) return { hash: given, cached: this.#cache.get(given) };
    const value = presentedKey(request);
    refuseKeyIn(request.url, this.#parts.keyPrefix);
    const hash = hashKey(value);
    const cached = this.#cache.get(hash);
    // A cached key is well-formed; checking again would cost as much as the hash.
    if (!cached && !isWellFormed(value, this.#parts.keyPrefix)) throw noKey(value, this.#parts.keyPrefix);
    return { hash, cached };
  }

  /**
   * Returns the refusal of the first of checks 3 to 8 that fails. Throws 503 if a needed country can't be looked up.
   */
  #refusal(request: FastifyRequest, compiled: CompiledKey): GatewayError | undefined {
    const { headers } = request;
    let address: ParsedAddress | undefined;
    const addressOf = () => {
      address ??= parseAddress(this.addressOf(request));
      if (address) this.#parts.unnamedProxy.note(address, headers);
      return address;
    };
    const countryOf = (at: ParsedAddress | undefined) => at && this.#countryOf(at);
    const { ledger } = this.#parts;
    const caller: Caller = {
      // By Redis' clock, so that a key expires at every gateway at once.
      get nowMs() {
        return ledger.now(compiled.key.accountId);
      },
      // Found by the check that reads them: they cost more than all checks together, and a country that can't be looked
      // up must not hide what an earlier check refuses.
      get ip() {
        return addressOf();
      },
      get country() {
        return countryOf(addressOf());
      },
      ...headerFacts(headers),
      allowMissingOrigin: this.#parts.allowMissingOrigin,
    };
    return refusalOf(compiled, caller);
  }

  /** Throws 503: an address of unknown country can't pass a key that blocks countries. */
  #countryOf(address: ParsedAddress): string | undefined {
    try {
      return this.#parts.countries.countryOf(address);
    } catch (cause) {
      throw new GatewayError(
        'service_unavailable',
        'The country of your IP address could not be looked up. Try again shortly.',
        null,
        undefined,
        { cause },
      );
    }
  }
}

/** The 401 for a value that a rotation ended. Only a holder of the value can get it: Redis still knows its hash. */
export class ReplacedValue extends GatewayError {
  /** The key that had the value. */
  readonly key: Pick<CheckedKey, 'id' | 'accountId'>;

  constructor({ id, accountId }: Pick<CheckedKey, 'id' | 'accountId'>) {
    super(
      'invalid_api_key',
      "This value of the API key was rotated and is no longer valid. Use the key's new value.",
    );
    this.key = { id, accountId };
  }
}

/** The 401 for a value that can't be a key, such as one of another service, which an environment variable may hold. */
function noKey(value: string, prefix: string): GatewayError {
  if (value.startsWith(prefix)) return noSuchKey();
  return new GatewayError(
    'invalid_api_key',
    `This is not a key of this gateway: its keys begin with "${prefix}". Check which key your client sends, also by an ` +
      'environment variable such as OPENAI_API_KEY.',
  );
}

function noSuchKey(): GatewayError {
  return new GatewayError('invalid_api_key', 'This API key does not exist. Check that you copied all of it.');
}

/**
 * Throws 400 `invalid_request` if the query contains a key, even if the headers have one too: the query of a model call
 * goes upstream, and proxies log addresses (specification section 3, check 1).
 */
function refuseKeyIn(url: string, keyPrefix: string): void {
  const query = url.indexOf('?');
  if (query < 0) return;
  const text = url.slice(query);
  if (!hasKey(text, keyPrefix) && !(text.includes('%') && hasKey(decoded(text), keyPrefix))) return;
  throw new GatewayError(
    'invalid_request',
    'The address has an API key in it, where proxies log it. Send keys in the Authorization header only, and replace ' +
      'this one.',
  );
}

/** Decodes percent escapes of ASCII, even beside broken ones. */
function decoded(text: string): string {
  return text.replace(/%([0-7][0-9a-f])/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}
