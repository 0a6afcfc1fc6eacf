import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request with its whole body. */
export interface DemoRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface Listening {
  /** `http://host:port` without a slash at the end. */
  readonly url: string;
  /** Ends every connection and frees the port. Safe to call twice. */
  close(): Promise<void>;
}

export interface ListenOptions {
  /** Address to listen on; default 127.0.0.1. */
  readonly host?: string | undefined;
  /** Port to listen on; default 0, which is any free one. */
  readonly port?: number | undefined;
}

/** Starts an HTTP server that answers with `serve`. If `serve` rejects, the connection is destroyed. */
export async function listen(
  { host = '127.0.0.1', port = 0 }: ListenOptions,
  serve: (message: IncomingMessage, response: ServerResponse) => Promise<void>,
): Promise<Listening> {
  const server = createServer((message, response) => {
    // A client that leaves while its body is read must not end the process.
    serve(message, response).catch(() => response.destroy());
  });
  // Idle connections are closed by the gateway and never by this server: a call that the gateway sends at that instant
  // would fail, because a call is not sent twice.
  server.keepAliveTimeout = 0;
  server.requestTimeout = 0;
  server.listen(port, host);
  await once(server, 'listening');
  const address = server.address() as AddressInfo;
  let closed: Promise<void> | undefined;
  return {
    url: `http://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`,
    close() {
      closed ??= new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
      return closed;
    },
  };
}

/** Reads the body to its end. Rejects if the client leaves before. */
export async function receive(message: IncomingMessage): Promise<DemoRequest> {
  const parts: Buffer[] = [];
  for await (const part of message) parts.push(part);
  return {
    method: message.method ?? '',
    url: message.url ?? '',
    headers: message.headers,
    body: Buffer.concat(parts),
  };
}
