import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { normalizeRange } from '../../domain/addresses.ts';
import { GatewayError } from '../../domain/errors.ts';
import { isWellFormed } from '../../domain/key-value.ts';
import type { Log } from '../../log/log.ts';

/** Wrong tokens of one address within `PER_MS`; it is then refused until they have passed, whatever it sends. */
const MOST_WRONG = 10;
const PER_MS = 60_000;
/** Addresses remembered; one that is forgotten may guess ten more. */
const MOST_ADDRESSES = 10_000;

interface TokenParts {
  readonly adminToken: string | undefined;
  readonly metricsToken: string | undefined;
  /** Keys are no guesses, not even mistyped ones: owners send them by mistake. */
  readonly keyPrefix: string;
  readonly addressOf: (request: FastifyRequest) => string;
  readonly log: Log;
  /** Milliseconds of a monotonic clock; default: performance.now(). */
  readonly now?: () => number;
}

/** Checks the operator's tokens, and bounds the guesses of an address. */
export class OperatorTokens {
  readonly #parts: TokenParts;
  readonly #admin: Buffer | undefined;
  readonly #metrics: readonly Buffer[];
  readonly #wrong = new LRUCache<string, { count: number; readonly sinceMs: number }>({
    max: MOST_ADDRESSES,
  });
  readonly #nowMs: () => number;
  #refused = 0;
  #loggedAtMs = Number.NEGATIVE_INFINITY;
  #logged = 0;

  constructor(parts: TokenParts) {
    this.#parts = parts;
    this.#nowMs = parts.now ?? (() => performance.now());
    this.#admin = parts.adminToken === undefined ? undefined : sha256(parts.adminToken);
    this.#metrics = [parts.adminToken, parts.metricsToken].filter((token) => token !== undefined).map(sha256);
  }

  /** Requests refused for a wrong token. */
  get refused(): number {
    return this.#refused;
  }

  /** Requires `Authorization: Bearer <ADMIN_TOKEN>`. Throws 401, also if it is not set, and 429 after too many wrong ones. */
  requireOperator(request: FastifyRequest): void {
    this.#require(request, this.#admin ? [this.#admin] : [], 'ADMIN_TOKEN');
  }

  /** Whether a value is ADMIN_TOKEN; another one counts as a guess. Throws 429 after too many. */
  isOperator(request: FastifyRequest, value: string): boolean {
    return this.#isOneOf(request, value, this.#admin ? [this.#admin] : []);
  }

  /** Requires ADMIN_TOKEN or METRICS_TOKEN in the same way; 404 if neither is set. */
  requireScraper(request: FastifyRequest): void {
    if (this.#metrics.length === 0)
      throw new GatewayError('unknown_endpoint', 'This endpoint does not exist.');
    this.#require(request, this.#metrics, 'ADMIN_TOKEN or METRICS_TOKEN');
  }

  #require(request: FastifyRequest, expected: readonly Buffer[], names: string): void {
    const [, sent] = /^bearer +(\S+) *$/i.exec(request.headers.authorization ?? '') ?? [];
    if (sent === undefined || !this.#isOneOf(request, sent, expected)) throw wrongToken(names);
  }

  /** Compares digests of equal length, so that its timing doesn't reveal how much of a guess is right. */
  #isOneOf(request: FastifyRequest, sent: string, expected: readonly Buffer[]): boolean {
    const from = networkOf(this.#parts.addressOf(request));
    const known = this.#wrong.get(from);
    const wrong = known && this.#nowMs() - known.sinceMs < PER_MS ? known : undefined;
    if (wrong && wrong.count >= MOST_WRONG) {
      this.#refused++;
      throw tooManyWrong(PER_MS - (this.#nowMs() - wrong.sinceMs));
    }
    const digest = sha256(sent);
    if (expected.some((one) => timingSafeEqual(one, digest))) return true;
    if (!this.#isKey(sent)) {
      if (wrong) wrong.count++;
      else this.#wrong.set(from, { count: 1, sinceMs: this.#nowMs() });
      this.#refused++;
      this.#report(from);
    }
    return false;
  }

  /** Unless the tokens begin like keys, what begins like a key can't be a guess. */
  #isKey(sent: string): boolean {
    const { keyPrefix, adminToken, metricsToken } = this.#parts;
    const isLikeToken = [adminToken, metricsToken].some((token) => token?.startsWith(keyPrefix));
    return isLikeToken ? isWellFormed(sent, keyPrefix) : sent.startsWith(keyPrefix);
  }

  /** Logs at most one line a minute, with the number of wrong tokens since the one before. */
  #report(address: string): void {
    if (this.#nowMs() - this.#loggedAtMs < PER_MS) return;
    const line = { address, wrong: this.#refused - this.#logged };
    this.#parts.log.warn(line, 'wrong operator token');
    this.#logged = this.#refused;
    this.#loggedAtMs = this.#nowMs();
  }
}

/** IPv6 counts by /64, because its hosts choose their addresses. */
function networkOf(address: string): string {
  return (address.includes(':') && normalizeRange(`${address}/64`)) || address;
}

function wrongToken(names: string): GatewayError {
  return new GatewayError(
    'invalid_admin_token',
    `This route requires the operator token. Send it as "Authorization: Bearer <${names}>".`,
  );
}

function tooManyWrong(waitMs: number): GatewayError {
  const waitS = Math.ceil(waitMs / 1_000);
  return new GatewayError(
    'rate_limit_exceeded',
    `Too many wrong operator tokens came from your address. Try again in ${waitS} s.`,
    null,
    waitS,
  );
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
