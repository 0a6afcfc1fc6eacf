import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { BookUnavailable } from '../book/store.ts';
import type { WireFormat } from '../domain/catalog.ts';
import { GatewayError } from '../domain/errors.ts';
import { newRequestId } from '../domain/request-id.ts';
import { LedgerUnavailable } from '../ledger/ledger.ts';
import { FewLines } from '../log/few-lines.ts';
import { answeredRefusal } from './codex.ts';
import { closeAfterAnswer, lingeringEnd } from './lingering-end.ts';
import { routeOf } from './spellings.ts';

/** Error types of Anthropic's API (reference, "Errors"). */
const ANTHROPIC_TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
};

/** Prefixes of an endpoint's path when a base URL ends in the wrong place: `/v1/v1`, `/api/v1`, `/v1/`, or none. */
const MISPLACED_BASE = /^(?:\/(?:api|openai|anthropic|v\d[a-z\d]*)?)*$/;
const ANTHROPIC_PATHS = /\/messages(?:\/.*)?$/;
/** Longest path from which the intended endpoint is guessed. */
export const GUESSED_BYTES = 512;

const UNAVAILABLE = "The gateway can't process this call right now. Try again shortly.";

/** Maps any error to the refusal that the client sees; unexpected errors leak nothing. */
export function refusalFrom(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  if (error instanceof LedgerUnavailable || error instanceof BookUnavailable) {
    return new GatewayError('service_unavailable', UNAVAILABLE, null, undefined, { cause: error });
  }
  const { code, statusCode } = (error ?? {}) as Partial<FastifyError>;
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new GatewayError('body_too_large', 'The request body is larger than this gateway accepts.');
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new GatewayError(
        'unsupported_media_type',
        'Send the request body with Content-Type: application/json.',
      );
    case 'FST_ERR_CTP_EMPTY_JSON_BODY':
    case 'FST_ERR_CTP_INVALID_JSON_BODY':
      return new GatewayError('invalid_json', 'The request body is not valid JSON.');
    case 'ECONNRESET':
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new GatewayError(
        'invalid_request',
        'The length of the request body differs from its Content-Length.',
      );
  }
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return new GatewayError('invalid_request', 'The request is malformed.');
  }
  return new GatewayError(
    'internal_error',
    'The gateway had an internal error, which was logged. Give its operator the x-request-id.',
    null,
    undefined,
    {
      cause: error,
    },
  );
}

/** Lines about requests that the gateway could not serve, however many come. */
const unserved = new FewLines<{ readonly refusal: GatewayError; readonly request: FastifyRequest }>(
  ({ refusal, request }, repeated) => {
    const about = { err: refusal.cause, repeated };
    if (refusal.code === 'internal_error') request.log.error(about, 'request failed');
    else request.log.warn(about, 'request refused with 503');
  },
);

/** Error handler of the app (specification section 3: error shapes, WWW-Authenticate, Retry-After). */
export function refuse(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const refusal = refusalFrom(error);
  const { code } = refusal;
  if (code === 'internal_error' || code === 'service_unavailable') {
    unserved.add(code, () => ({ refusal, request }));
  }
  // If the path can't be parsed, the hook that sets this header has not run.
  reply.header('x-request-id', request.id);
  // The unread rest of a body must not be read as the next request.
  if (!request.raw.complete) {
    reply.header('connection', 'close');
    // The client was sending a body worth reading until now; others get a second.
    const isUpload = refusal.code === 'body_too_large';
    closeAfterAnswer(request.raw.socket, isUpload ? request.call?.compiled.key.accountId : undefined);
  }
  // The route, not the address, decides the format: `/v1/%6dessages` leads to messages too.
  const url = routeOf(request);
  const format = formatFor(request, url);
  if (format === 'anthropic') reply.header('request-id', request.id);
  const answered = answeredRefusal(refusal, request);
  reply
    .headers(refusalHeaders(answered.statusCode, answered))
    .code(answered.statusCode)
    .type('application/json; charset=utf-8')
    .send(refusalText(answered, url, format));
}

/** Headers of a refusal with this status (specification section 3). */
export function refusalHeaders(status: number, refusal: GatewayError): Record<string, string> {
  const { retryAfterS, retryAfterMs } = refusal;
  return {
    ...refusal.headers,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-tollgate-source': 'gateway',
    ...(refusal.isFinal ? { 'x-should-retry': 'false' } : {}),
    ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
    // RFC 9110 §15.5.22: names the required protocol.
    ...(status === 426 ? { upgrade: 'HTTP/1.1', connection: 'upgrade, close' } : {}),
    ...(retryAfterS === undefined ? {} : { 'retry-after': String(retryAfterS) }),
    // OpenAI's and Anthropic's SDKs prefer this one.
    ...(retryAfterMs === undefined ? {} : { 'retry-after-ms': String(retryAfterMs) }),
  };
}

/** Body of a refusal, in the format of the requested route. */
export function refusalText(refusal: GatewayError, url: string, format = errorFormat(url)): string {
  const body = refusal.body();
  if (format === 'openai') return JSON.stringify(body);
  const type = ANTHROPIC_TYPES[refusal.statusCode] ?? 'api_error';
  return JSON.stringify({ type: 'error', error: { ...body.error, type } });
}

/** Last event of a stream that fails. */
export function failureEvent(refusal: GatewayError, url: string): string {
  const data = refusalText(refusal, url);
  if (errorFormat(url) === 'anthropic') return `event: error\ndata: ${data}\n\n`;
  if (!url.startsWith('/v1/responses')) return `data: ${data}\n\n`;
  const { code, message, param } = refusal;
  return `event: error\ndata: ${JSON.stringify({ type: 'error', code, message, param })}\n\n`;
}

/** Whether the text before an endpoint's path looks like a base URL that ends in the wrong place. */
export function isMisplacedBase(prefix: string): boolean {
  return MISPLACED_BASE.test(prefix);
}

/** The client's wire format. Both formats read models at the same routes. */
function formatFor({ headers }: FastifyRequest, url: string): WireFormat {
  return url.startsWith('/v1/models') && headers['anthropic-version'] !== undefined
    ? 'anthropic'
    : errorFormat(url);
}

/** Error format of a path or route, with or without a query. */
function errorFormat(url: string): WireFormat {
  if (url.startsWith('/v1/messages')) return 'anthropic';
  const [path = ''] = url.split('?', 1);
  if (path.length > GUESSED_BYTES) return 'openai';
  const end = path.search(ANTHROPIC_PATHS);
  return end >= 0 && isMisplacedBase(path.slice(0, end)) ? 'anthropic' : 'openai';
}

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
 * Answers requests that Node's HTTP parser refuses. There is no request object, so the answer is written to the socket,
 * after any earlier answer in progress on the connection.
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
    // The client has left, or was answered and asked to close.
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    this.#refused.add(socket);
    const answer = PARSE_REFUSALS[error.code ?? ''] ?? NOT_HTTP;
    const open = this.#latest.get(socket);
    if (!open || open.writableFinished || open.destroyed) writeRefusal(socket, answer);
    else if (open.req.complete) open.once('close', () => writeRefusal(socket, answer));
    // The parser failed in the body of a request that was refused early or waits behind another answer.
    else if (open.headersSent || open.socket === null) socket.destroy();
    else writeRefusal(socket, answer);
  };

  /**
   * Listener of Node's `timeout`: nothing was read or written for `server.bodyTimeoutMs`, or for the keep-alive time
   * between requests. Closes idle connections and cuts off a client that reads nothing of its answer, which would stay
   * in memory. Calls waiting for a model continue; Node answers slow heads and bodies with 408.
   */
  readonly timeOut = (socket: Socket): void => {
    const latest = this.#latest.get(socket);
    if (!latest) return;
    const isOver = latest.writableFinished || latest.destroyed;
    if (isOver || socket.writableLength > 0) socket.destroy();
  };

  /** Listener of Node's `connect`: CONNECT asks for a tunnel elsewhere. */
  readonly refuseTunnel = (_request: IncomingMessage, socket: Socket): void => {
    socket.on('error', () => {});
    writeRefusal(socket, NO_TUNNEL);
  };
}

/** Answers and ends a connection that has no request. */
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
