import { Client, type Dispatcher } from 'undici';
import { BlockedAddress, guardedConnector } from './guarded-connector.ts';
import { type Resolve, resolveAddresses } from './resolve.ts';

export interface Post {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Longest time in milliseconds from the start of the name's resolution to the headers of the answer. */
  readonly timeoutMs: number;
  /** True where the POST may go to any address, as in development and tests. */
  readonly allowPrivateNetworks: boolean;
  /** Signal by which the POST is given up. */
  readonly signal: AbortSignal;
}

export interface PostResult {
  /**
   * `delivered`: an answer of 2xx came. `failed`: another answer, or an error. `blocked`: the address is not public.
   * `timeout`: neither an answer nor an error came in time.
   */
  readonly status: 'delivered' | 'failed' | 'timeout' | 'blocked';
  readonly httpStatus: number | null;
  readonly durationMs: number;
}

/**
 * Most bytes of an answer's body that are read, and below it for how many milliseconds, so that the receiver can finish
 * writing. Sockets are read in pieces of 64 KiB, so that of an endless body one piece is taken.
 */
const DRAIN_LIMIT_BYTES = 16 * 1024;
const DRAIN_LIMIT_MS = 1_000;

/**
 * Sends one POST, once (specification section 6): no retry, no redirect followed, on a connection of its own that is
 * closed afterwards. Rejects only where `signal` aborts: then nobody knows whether the receiver got it.
 */
export async function send(post: Post, resolve: Resolve = resolveAddresses): Promise<PostResult> {
  const startedAt = performance.now();
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), post.timeoutMs);
  const signal = AbortSignal.any([deadline.signal, post.signal]);
  const result = (status: PostResult['status'], httpStatus: number | null): PostResult => {
    return { status, httpStatus, durationMs: Math.round(performance.now() - startedAt) };
  };
  let client: Client | undefined;
  try {
    const url = new URL(post.url);
    const connect = guardedConnector(resolve, post.allowPrivateNetworks, signal);
    client = new Client(url.origin, { connect, headersTimeout: 0, bodyTimeout: 0 });
    const { statusCode, body } = await client.request({
      method: 'POST',
      path: url.pathname + url.search,
      headers: post.headers,
      body: post.body,
      signal,
      reset: true,
    });
    const answered = result(statusCode >= 200 && statusCode < 300 ? 'delivered' : 'failed', statusCode);
    await drain(body, signal);
    return answered;
  } catch (error) {
    post.signal.throwIfAborted();
    if (deadline.signal.aborted) return result('timeout', null);
    return result(error instanceof BlockedAddress ? 'blocked' : 'failed', null);
  } finally {
    clearTimeout(timer);
    await client?.destroy();
  }
}

/** Reads the body up to the limits. Never rejects: the headers decide the outcome, whatever becomes of the body. */
async function drain(body: Dispatcher.ResponseData['body'], signal: AbortSignal): Promise<void> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(DRAIN_LIMIT_MS)]);
  await body.dump({ limit: DRAIN_LIMIT_BYTES, signal: limit }).catch(() => {});
}
