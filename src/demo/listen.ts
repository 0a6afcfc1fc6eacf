import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request whose body was read to its end. */
export interface DemoRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface Listening {
  /** `http://host:port`, without a slash at its end. */
  readonly url: string;
  /** Ends every connection and frees the port. Safe to call twice. */
  close(): Promise<void>;
}

export interface ListenOptions {
  /** Default 127.0.0.1. */
  readonly host?: string | undefined;
  /** Default 0: any free one. */
  readonly port?: number | undefined;
}

/** An HTTP server whose every request is answered by `serve`; where that rejects, the connection is destroyed. */
export async function listen(
  { host = '127.0.0.1', port = 0 }: ListenOptions,
  serve: (message: IncomingMessage, response: ServerResponse) => Promise<void>,
): Promise<Listening> {
  const server = createServer((message, response) => {
    // A client that leaves while its body is read must not end the process.
    serve(message, response).catch(() => response.destroy());
  });
  // An idle connection is closed by the gateway, never from here: one closed in the instant in which a call is sent on
  // it would cost that call, because a call is not sent twice.
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

/** Reads the body to its end. Rejects where the client leaves before. */
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
