import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** Time at which its last byte came, in milliseconds since the epoch. */
  readonly at: number;
}

export interface ReceiverOptions {
  /** Answers a complete request. Default: 200 with an empty body. */
  readonly respond?: (request: IncomingMessage, response: ServerResponse) => void;
  /** Key and certificate (PEM), with which it serves HTTPS. */
  readonly tls?: { readonly key: string; readonly cert: string };
}

export interface Receiver {
  /** `http://127.0.0.1:<port>/hook`, or https. */
  readonly url: string;
  readonly port: number;
  readonly requests: readonly ReceivedRequest[];
  /** Number of connections accepted so far, with or without a request. */
  readonly connections: () => number;
  /** Calls `called` for each connection accepted from now on. */
  onConnection(called: () => void): void;
  /** Waits for the first request that no earlier call has returned. */
  next(): Promise<ReceivedRequest>;
  /** Stops listening and cuts all connections. */
  close(): Promise<void>;
}

/** Starts a webhook receiver on loopback that keeps the requests it gets. */
export async function startReceiver(options: ReceiverOptions = {}): Promise<Receiver> {
  const respond = options.respond ?? ((_request, response) => response.end());
  const requests: ReceivedRequest[] = [];
  const waiting: ((request: ReceivedRequest) => void)[] = [];
  let returned = 0;
  let connections = 0;
  const onRequest = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await text(request).catch(() => undefined);
    // Ignores a request that the sender broke off.
    if (body === undefined) return;
    const { method = '', url: path = '', headers } = request;
    const received = { method, path, headers, body, at: Date.now() };
    requests.push(received);
    const waiter = waiting.shift();
    if (waiter) {
      returned += 1;
      waiter(received);
    }
    respond(request, response);
  };
  const server = options.tls ? createTlsServer(options.tls, onRequest) : createServer(onRequest);
  server.on('connection', () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `${options.tls ? 'https' : 'http'}://127.0.0.1:${port}/hook`,
    port,
    requests,
    connections: () => connections,
    onConnection: (called) => void server.on('connection', called),
    async next() {
      const request = requests[returned];
      if (!request) return await new Promise<ReceivedRequest>((resolve) => waiting.push(resolve));
      returned += 1;
      return request;
    },
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}
