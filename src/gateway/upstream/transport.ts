import type { Dispatcher } from 'undici';
import { type ConnectionOptions, Connections, type Dispatched } from './connections.ts';
import type { Exchange, UpstreamAnswer } from './exchange.ts';

/** Key under which the request headers carry their exchange through the proxy plugin; never sent. */
export const EXCHANGE: unique symbol = Symbol('exchange');

interface TransportRequest extends Omit<Dispatcher.DispatchOptions, 'headers'> {
  headers: Record<string | symbol, unknown>;
}

/**
 * The transport that @fastify/http-proxy sends by: its `undici` option takes any object with a `request()`. undici's
 * own `request` wraps each answer in a stream; dispatching with a handler costs about half the CPU per call (126
 * instead of 270–420 µs, measured on Node 24) and lets a call be cancelled at any stage.
 */
export class UpstreamTransport {
  readonly #options: ConnectionOptions;
  /** Connections by origin. */
  readonly #upstreams = new Map<string, Connections>();

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  request(options: TransportRequest, callback: (error: Error | null, answer?: UpstreamAnswer) => void): void {
    const exchange = options.headers[EXCHANGE] as Exchange;
    exchange.answered = callback;
    const { upload } = exchange;
    if (upload) exchange.headers.push('content-length', String(upload.size));
    const { path, method, body } = options;
    const dispatched = { path, method, headers: exchange.headers, body: upload ?? body };
    this.#to(String(options.origin)).dispatch(dispatched as Dispatched, exchange);
  }

  #to(origin: string): Connections {
    let connections = this.#upstreams.get(origin);
    if (!connections) {
      connections = new Connections(origin, this.#options);
      this.#upstreams.set(origin, connections);
    }
    return connections;
  }

  /** Closes all connections. Answers that are still read for their usage may end first, within `CLOSE_WITHIN_MS`. */
  async close(): Promise<void> {
    await Promise.all([...this.#upstreams.values()].map((connections) => connections.close()));
  }
}
