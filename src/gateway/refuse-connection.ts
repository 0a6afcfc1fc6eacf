import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { GatewayError } from '../domain/errors.ts';
import { newRequestId } from '../domain/request-id.ts';
import { lingeringEnd } from './close-after-answer.ts';
import { refusalHeaders } from './refuse.ts';

interface ParseRefusal {
  readonly line: string;
  readonly refusal: GatewayError;
}

const NOT_HTTP: ParseRefusal = {
  line: '400 Bad Request',
  refusal: new GatewayError('invalid_request', 'The request is not valid HTTP/1.1.'),
};

const NO_TUNNEL: ParseRefusal = {
  line: '400 Bad Request',
  refusal: new GatewayError(
    'invalid_request',
    'CONNECT is not supported: this gateway is not a forward proxy.',
  ),
};

const PARSE_REFUSALS: Readonly<Record<string, ParseRefusal>> = {
  HPE_HEADER_OVERFLOW: {
    line: '431 Request Header Fields Too Large',
    refusal: new GatewayError('invalid_request', 'The request headers are too large.'),
  },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: {
    line: '413 Payload Too Large',
    refusal: new GatewayError('body_too_large', 'The chunk extensions of the body are too large.'),
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    line: '408 Request Timeout',
    refusal: new GatewayError('request_timeout', 'The request took too long to arrive. Send it again.'),
  },
};

/**
 * Answers what Node's HTTP parser refuses. There is no request then, so the answer is written to the socket. Where the
 * answer to an earlier request is still under way on the connection, the refusal is written after it.
 */
export class ConnectionRefuser {
  readonly #latest = new WeakMap<Socket, ServerResponse>();
  readonly #refused = new WeakSet<Socket>();

  /** Listener of Node's `request`: remembers the latest answer of each connection. */
  readonly note = (request: IncomingMessage, response: ServerResponse): void => {
    this.#latest.set(request.socket, response);
  };

  /** Listener of Node's `clientError`. */
  readonly refuse = (error: Error & { code?: string }, socket: Socket): void => {
    if (this.#refused.has(socket)) return;
    // The client has left, or was answered and told to close.
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    this.#refused.add(socket);
    const answer = PARSE_REFUSALS[error.code ?? ''] ?? NOT_HTTP;
    const open = this.#latest.get(socket);
    if (!open || open.writableFinished || open.destroyed) writeRefusal(socket, answer);
    else if (open.req.complete) open.once('close', () => writeRefusal(socket, answer));
    // The parser failed in the body of a request that was refused early, or that waits behind another answer.
    else if (open.headersSent || open.socket === null) socket.destroy();
    else writeRefusal(socket, answer);
  };

  /**
   * Listener of Node's `timeout`: nothing was read or written for `server.bodyTimeoutMs`, or, between two requests, for
   * as long as an idle connection is kept. Breaks off the answer of a client that takes nothing of it, because it is
   * kept in memory for that client, and closes an idle connection. Waiting for a model goes on; Node answers 408 to
   * slow heads and bodies.
   */
  readonly timeOut = (socket: Socket): void => {
    const latest = this.#latest.get(socket);
    if (!latest) return;
    const isOver = latest.writableFinished || latest.destroyed;
    if (isOver || socket.writableLength > 0) socket.destroy();
  };

  /** Listener of Node's `connect`: the method CONNECT asks for a tunnel to somewhere else. */
  readonly refuseTunnel = (_request: IncomingMessage, socket: Socket): void => {
    socket.on('error', () => {});
    writeRefusal(socket, NO_TUNNEL);
  };
}

/** Answers a connection that has no request, and ends it. */
export function writeRefusal(socket: Socket, { line, refusal }: ParseRefusal): void {
  if (!socket.writable) return;
  const body = JSON.stringify(refusal.body());
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    'x-request-id': newRequestId(),
    ...refusalHeaders(Number.parseInt(line, 10), refusal),
    Connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  lingeringEnd(socket, `HTTP/1.1 ${line}\r\n${lines.join('')}\r\n${body}`);
}
