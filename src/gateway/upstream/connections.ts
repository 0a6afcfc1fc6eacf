import { buildConnector, Client } from 'undici';
import type { Exchange } from './exchange.ts';

/** Idle connections kept for one upstream; more were open at once, but seldom are again. */
const KEPT_IDLE = 512;
/** Longer than an answer is read on for its usage when its client has left (response-lifecycle.ts). */
const CLOSE_WITHIN_MS = 2_500;

export interface ConnectionOptions {
  readonly headersTimeoutMs: number;
  readonly idleTimeoutMs: number;
}

/** What is dispatched: undici's options, less the origin. */
export type Dispatched = Parameters<Client['dispatch']>[0];

/**
 * The connections to one upstream, a call on each at a time, the one that was used last first. undici's own pool walks
 * through all of its clients, twice a call, to find one that is free. A short call, its answering in the same process
 * included, took 76 µs by the pool and 62 so; beside 1,000 open streams 80 and 50.
 */
export class Connections {
  readonly #origin: string;
  readonly #options: Client.Options;
  readonly #idle: Client[] = [];
  readonly #all = new Set<Client>();

  constructor(origin: string, { headersTimeoutMs, idleTimeoutMs }: ConnectionOptions) {
    this.#origin = origin;
    this.#options = {
      headersTimeout: headersTimeoutMs,
      bodyTimeout: idleTimeoutMs,
      // One for all, as it keeps the TLS sessions. A certificate that cannot be verified is an unreachable upstream.
      connect: buildConnector({ rejectUnauthorized: true, timeout: 10_000, allowH2: false }),
      // A call's connection is its own: cancelling one touches no other.
      allowH2: false,
      pipelining: 1,
      // Less than the 60 s after which common load balancers drop idle connections.
      keepAliveTimeout: 30_000,
    };
  }

  dispatch(options: Dispatched, exchange: Exchange): void {
    const client = this.#idle.pop() ?? this.#open();
    exchange.over = () => this.#release(client);
    client.dispatch(options, exchange);
  }

  /** Calls under way may end, within `CLOSE_WITHIN_MS`; no other may begin. */
  async close(): Promise<void> {
    const clients = [...this.#all];
    const patience = setTimeout(() => {
      for (const client of clients) void client.destroy();
    }, CLOSE_WITHIN_MS);
    await Promise.all(clients.map((client) => client.close().catch(() => {})));
    clearTimeout(patience);
  }

  #open(): Client {
    const client = new Client(this.#origin, this.#options);
    this.#all.add(client);
    return client;
  }

  #release(client: Client): void {
    if (this.#idle.length < KEPT_IDLE) {
      this.#idle.push(client);
      return;
    }
    this.#all.delete(client);
    // Once the call that has just ended lets go of it.
    void client.close();
  }
}
