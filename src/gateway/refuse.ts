import type { Socket } from 'node:net';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { BookUnavailable } from '../book/book.ts';
import { GatewayError } from '../domain/errors.ts';
import { newRequestId } from '../domain/request-id.ts';
import { LedgerUnavailable } from '../ledger/ledger.ts';

/** Anthropic's names for the types of errors that its clients know (its API reference, "Errors"). */
const ANTHROPIC_TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  504: 'timeout_error',
};

/** How long a client whose request was not HTTP, or too slow, may take to read that, while it may go on sending. */
const LINGER_MS = 1_000;

const UNAVAILABLE = 'The service cannot decide about this call at the moment. Try again shortly.';

/** Any error as the refusal that the client sees; nothing of an unexpected one leaks. */
export function refusalFrom(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  if (error instanceof LedgerUnavailable || error instanceof BookUnavailable) {
    return new GatewayError('service_unavailable', UNAVAILABLE, null, 1, { cause: error });
  }
  const { code, statusCode } = (error ?? {}) as Partial<FastifyError>;
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new GatewayError('body_too_large', 'The body is larger than this gateway accepts.');
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new GatewayError('unsupported_media_type', 'Send the body as Content-Type: application/json.');
    case 'FST_ERR_CTP_EMPTY_JSON_BODY':
    case 'FST_ERR_CTP_INVALID_JSON_BODY':
      return new GatewayError('invalid_json', 'The body is not valid JSON.');
    case 'ECONNRESET':
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new GatewayError('invalid_request', 'The body is not as long as its Content-Length says.');
  }
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return new GatewayError('invalid_request', 'The request could not be understood.');
  }
  return new GatewayError(
    'internal_error',
    'Something went wrong inside the gateway. It has been logged.',
    null,
    undefined,
    {
      cause: error,
    },
  );
}

/** The error handler of the whole app (contract section 3: error shapes, WWW-Authenticate, Retry-After). */
export function refuse(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const refusal = refusalFrom(error);
  if (refusal.code === 'internal_error')
    request.log.error({ reqId: request.id, err: refusal.cause }, 'request failed');
  if (refusal.code === 'service_unavailable')
    request.log.warn({ reqId: request.id, err: refusal.cause }, 'request refused with 503');
  if (refusal.statusCode === 401) reply.header('www-authenticate', 'Bearer');
  if (refusal.retryAfterS !== undefined) reply.header('retry-after', String(refusal.retryAfterS));
  // The unread rest of a body must not be taken for the next request.
  if (!request.raw.complete) reply.header('connection', 'close');
  reply
    .code(refusal.statusCode)
    .type('application/json; charset=utf-8')
    .send(refusalText(refusal, request.url));
}

/** What HTTP parsing itself refuses: no request came of it, so the answer is written to the socket. */
export function refuseConnection(error: Error & { code?: string }, socket: Socket): void {
  // Gone, or already answered.
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const { line, refusal } = PARSE_REFUSALS[error.code ?? ''] ?? NOT_HTTP;
  const body = JSON.stringify(refusal.body());
  socket.end(
    `HTTP/1.1 ${line}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
      `x-request-id: ${newRequestId()}\r\nConnection: close\r\n\r\n${body}`,
  );
  // Half a connection is left: on it a slow upload would go on. One that is cut at once may lose the answer.
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}

interface ParseRefusal {
  readonly line: string;
  readonly refusal: GatewayError;
}

const NOT_HTTP: ParseRefusal = {
  line: '400 Bad Request',
  refusal: new GatewayError('invalid_request', 'The request is not valid HTTP/1.1.'),
};

const PARSE_REFUSALS: Readonly<Record<string, ParseRefusal>> = {
  HPE_HEADER_OVERFLOW: {
    line: '431 Request Header Fields Too Large',
    refusal: new GatewayError('invalid_request', 'The request headers are too large.'),
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    line: '408 Request Timeout',
    refusal: new GatewayError('request_timeout', 'The request did not arrive in time. Send it faster.'),
  },
};

/** The body of a refusal, in the shape of the route that was asked. */
export function refusalText(refusal: GatewayError, url: string): string {
  if (!url.startsWith('/v1/messages')) return JSON.stringify(refusal.body());
  const type = ANTHROPIC_TYPES[refusal.statusCode] ?? 'api_error';
  return JSON.stringify({ type: 'error', error: { type, message: refusal.message } });
}
