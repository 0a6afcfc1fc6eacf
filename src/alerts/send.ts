import { randomBytes } from 'node:crypto';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { buildConnector, Client, type Dispatcher } from 'undici';
import type { DeliveryError } from '../book/schema.ts';
import { type AddressMatcher, parseAddress } from '../domain/addresses.ts';
import { ContinueFilter } from '../domain/continue-filter.ts';
import { isPublicAddress, ownAddresses, type Resolve, resolveAddresses } from './addresses.ts';

export interface Post {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Time limit in milliseconds, from name resolution to the headers of the answer. */
  readonly timeoutMs: number;
  /** Allows any address, for development and tests. */
  readonly allowPrivateNetworks: boolean;
  /** Addresses that are allowed although they are not public. */
  readonly allow?: AddressMatcher | undefined;
  readonly signal: AbortSignal;
}

interface PostResult {
  /**
   * `delivered`: a 2xx answer. `failed`: another answer, or an error. `blocked`: the address is not public. `timeout`:
   * neither an answer nor an error in time.
   */
  readonly status: 'delivered' | 'failed' | 'timeout' | 'blocked';
  readonly httpStatus: number | null;
  /** Why it was not delivered; null: it was. */
  readonly error: DeliveryError | null;
  readonly durationMs: number;
}

/** Limits in bytes and milliseconds for reading an answer's body, so that the receiver can finish writing. */
const DRAIN_LIMIT_BYTES = 16 * 1024;
const DRAIN_LIMIT_MS = 1_000;
const READ_BYTES = 16 * 1024;
/** Longest head of an answer: its names and values, which are a quarter of it if each has one character. */
const HEAD_BYTES = 64 * 1024;
/**
 * Time for each address of a name but the last. With Node's 250 ms, one lost packet, which is sent again after 1 s,
 * lost the alert wherever a name also has an address that can't be reached.
 */
const ADDRESS_TIMEOUT_MS = 2_500;

/**
 * Sends one POST, once (specification section 6): no retry, no redirect, on its own connection. Rejects only if
 * `post.signal` aborts; whether the receiver got the POST is then unknown.
 */
export async function send(post: Post, resolve: Resolve = resolveAddresses): Promise<PostResult> {
  const startedAt = performance.now();
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), post.timeoutMs);
  const signal = AbortSignal.any([deadline.signal, post.signal]);
  const result = (
    status: PostResult['status'],
    httpStatus: number | null,
    error: DeliveryError | null,
  ): PostResult => ({ status, httpStatus, error, durationMs: Math.round(performance.now() - startedAt) });
  let client: Client | undefined;
  try {
    const url = new URL(post.url);
    const connect = guardedConnector(resolve, post, signal);
    client = new Client(url.origin, {
      connect,
      headersTimeout: 0,
      bodyTimeout: 0,
      maxHeaderSize: HEAD_BYTES,
    });
    const { statusCode, body } = await client.request({
      method: 'POST',
      path: url.pathname + url.search,
      headers: post.headers,
      body: post.body,
      signal,
      reset: true,
    });
    const isGood = statusCode >= 200 && statusCode < 300;
    const answered = isGood
      ? result('delivered', statusCode, null)
      : result('failed', statusCode, 'http_status');
    await drain(body, signal);
    return answered;
  } catch (error) {
    post.signal.throwIfAborted();
    if (deadline.signal.aborted) return result('timeout', null, 'timeout');
    return result(error instanceof BlockedAddress ? 'blocked' : 'failed', null, reasonOf(error));
  } finally {
    clearTimeout(timer);
    await client?.destroy();
  }
}

/** Reads the body up to the limits. Never rejects, because the headers alone decide the outcome. */
async function drain(body: Dispatcher.ResponseData['body'], signal: AbortSignal): Promise<void> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(DRAIN_LIMIT_MS)]);
  await body.dump({ limit: DRAIN_LIMIT_BYTES, signal: limit }).catch(() => {});
}

/** Thrown if the receiver's host is, or resolves to, a non-public address. Nothing was sent to it. */
class BlockedAddress extends Error {}

/** Thrown if the receiver's host has no address. */
class UnknownHost extends Error {}

const CERTIFICATE = /CERT|^UNABLE_TO_|^HOSTNAME_MISMATCH$/;
const REASONS: Readonly<Record<string, DeliveryError>> = {
  ECONNREFUSED: 'refused',
  EHOSTUNREACH: 'refused',
  ENETUNREACH: 'refused',
  EADDRNOTAVAIL: 'refused',
  ECONNRESET: 'reset',
  EPIPE: 'reset',
  UND_ERR_SOCKET: 'reset',
  ETIMEDOUT: 'timeout',
  EPROTO: 'tls',
};

/** Reason for a POST without an answer. It names no address, because owners see it. */
function reasonOf(error: unknown): DeliveryError {
  if (error instanceof BlockedAddress) return 'blocked';
  if (error instanceof UnknownHost) return 'dns';
  // If all addresses of a name failed, the code is that of the first.
  const { code = '' } = error as NodeJS.ErrnoException;
  if (CERTIFICATE.test(code)) return 'certificate';
  if (code.startsWith('ERR_SSL_') || code.startsWith('ERR_TLS_')) return 'tls';
  return REASONS[code] ?? 'protocol';
}

/**
 * Connector that reaches public addresses only (specification section 6, SSRF). It resolves a name once and connects
 * only to the checked addresses, so DNS rebinding (a different answer between check and connect) gains nothing. One
 * non-public address, or one of this machine, is enough to refuse a name, unless `allow` has it. TLS certificates are
 * verified whatever the environment says; HTTP/1.1 only. `signal` ends the attempt at any stage.
 */
function guardedConnector(
  resolve: Resolve,
  { allowPrivateNetworks, allow }: Pick<Post, 'allowPrivateNetworks' | 'allow'>,
  signal: AbortSignal,
): buildConnector.connector {
  const own = ownAddresses();
  const isAllowed = (address: string) => {
    const parsed = allow && parseAddress(address);
    return isPublicAddress(address, own) || (parsed !== undefined && allow?.has(parsed) === true);
  };
  const refused = (addresses: string[]) => !allowPrivateNetworks && !addresses.every(isAllowed);
  const lookup: LookupFunction = (hostname, options, callback) => {
    resolve(hostname, signal).then(
      (found) => {
        const [first] = found;
        if (!first) callback(new UnknownHost(), []);
        else if (refused(found.map(({ address }) => address))) callback(new BlockedAddress(), []);
        else if (options.all) callback(null, found);
        else callback(null, first.address, first.family);
      },
      (cause: Error) => callback(new UnknownHost(undefined, { cause }), []),
    );
  };
  const connect = buildConnector({
    lookup,
    signal,
    rejectUnauthorized: true,
    allowH2: false,
    timeout: 0,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ADDRESS_TIMEOUT_MS,
    ...filteredReads(),
  });
  return (options, callback) => {
    // A literal address skips the lookup. The URL parser has already turned 127.1, 0x7f000001 and similar into 127.0.0.1.
    const literal = options.hostname.replace(/^\[|\]$/g, '');
    if (isIP(literal) !== 0 && refused([literal])) callback(new BlockedAddress(), null);
    else connect(options, callback);
  };
}

/** Socket options that skip each `100 Continue`. */
function filteredReads() {
  const buffer = Buffer.allocUnsafe(READ_BYTES);
  // The connection carries this one POST.
  const filter = new ContinueFilter();
  filter.begin();
  return {
    highWaterMark: READ_BYTES,
    onread: {
      buffer,
      callback(this: Socket, bytes: number): boolean {
        const piece = Buffer.from(buffer.subarray(0, bytes));
        filter.edit(piece);
        return this.push(piece);
      },
    },
  };
}

/** Returns a new signing secret: `whsec_` and 32 random bytes in base64 (Standard Webhooks requires 24 to 64). */
export function newWebhookSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

/**
 * Returns the headers `webhook-id`, `webhook-timestamp` and `webhook-signature` of Standard Webhooks. `id` identifies
 * the delivery, however often it is signed. `at` is in milliseconds since the epoch. Throws if `secret` is not base64.
 */
export function signatureHeaders(
  secret: string,
  id: string,
  at: number,
  body: string,
): Record<string, string> {
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at / 1000)),
    'webhook-signature': new Webhook(secret).sign(id, new Date(at), body),
  };
}
