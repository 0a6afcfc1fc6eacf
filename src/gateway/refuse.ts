import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { BookUnavailable } from '../book/book.ts';
import type { WireFormat } from '../domain/catalog.ts';
import { GatewayError } from '../domain/errors.ts';
import { LedgerUnavailable } from '../ledger/ledger.ts';
import { closeAfterAnswer } from './close-after-answer.ts';

/** Anthropic's names for the types of errors that its clients know (its API reference, "Errors"). */
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

/**
 * What precedes the path of an endpoint when a base URL ends in the wrong place: `/v1/v1`, `/api/v1`, `/v1/`, or
 * nothing.
 */
const MISPLACED_BASE = /^(?:\/(?:api|openai|anthropic|v\d+[a-z\d]*)?)*$/;
const ANTHROPIC_PATHS = /\/messages(?:\/.*)?$/;

const UNAVAILABLE = "The gateway can't process this call right now. Try again shortly.";

/** The refusal that the client sees for any error; nothing of an unexpected error leaks. */
export function refusalFrom(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  if (error instanceof LedgerUnavailable || error instanceof BookUnavailable) {
    return new GatewayError('service_unavailable', UNAVAILABLE, null, 1, { cause: error });
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

/** The error handler of the whole app (specification section 3: error shapes, WWW-Authenticate, Retry-After). */
export function refuse(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const refusal = refusalFrom(error);
  if (refusal.code === 'internal_error') request.log.error({ err: refusal.cause }, 'request failed');
  if (refusal.code === 'service_unavailable')
    request.log.warn({ err: refusal.cause }, 'request refused with 503');
  // Where the path cannot be read, the hook that sets this header has not run.
  reply.header('x-request-id', request.id);
  // The unread rest of a body must not be taken for the next request.
  if (!request.raw.complete) {
    reply.header('connection', 'close');
    closeAfterAnswer(request.raw.socket);
  }
  // The route, not the address, tells the format: `/v1/%6dessages` leads to that of messages too.
  const url = request.routeOptions?.url ?? request.url;
  if (errorFormat(url) === 'anthropic') reply.header('request-id', request.id);
  reply
    .headers(refusalHeaders(refusal.statusCode, refusal))
    .code(refusal.statusCode)
    .type('application/json; charset=utf-8')
    .send(refusalText(refusal, url));
}

/** The headers of a refusal (specification section 3), by the status that it is answered with. */
export function refusalHeaders(status: number, refusal: GatewayError): Record<string, string> {
  const { retryAfterS, retryAfterMs } = refusal;
  return {
    'x-content-type-options': 'nosniff',
    ...(refusal.isFinal || isFinal(status) ? { 'x-should-retry': 'false' } : {}),
    ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
    // RFC 9110 §15.5.22: the protocol that is to be spoken instead.
    ...(status === 426 ? { upgrade: 'HTTP/1.1', connection: 'upgrade, close' } : {}),
    ...(retryAfterS === undefined ? {} : { 'retry-after': String(retryAfterS) }),
    // OpenAI's and Anthropic's SDKs wait by this one where it is there.
    ...(retryAfterMs === undefined ? {} : { 'retry-after-ms': String(retryAfterMs) }),
  };
}

/** Whether the request would be refused again if it were repeated. 408 and 429 depend on the moment. */
export function isFinal(status: number): boolean {
  return status >= 400 && status < 500 && status !== 408 && status !== 429;
}

/** The body of a refusal, in the shape of the route that was asked. */
export function refusalText(refusal: GatewayError, url: string): string {
  const body = refusal.body();
  if (errorFormat(url) === 'openai') return JSON.stringify(body);
  const type = ANTHROPIC_TYPES[refusal.statusCode] ?? 'api_error';
  return JSON.stringify({ type: 'error', error: { ...body.error, type } });
}

/** Whether an endpoint's path after this prefix looks like the mistake of a base URL that ends in the wrong place. */
export function isMisplacedBase(prefix: string): boolean {
  return MISPLACED_BASE.test(prefix);
}

/** The wire format of errors at a path or route, with or without a query: that of the clients who ask there. */
export function errorFormat(url: string): WireFormat {
  if (url.startsWith('/v1/messages')) return 'anthropic';
  const [path = ''] = url.split('?', 1);
  const end = path.search(ANTHROPIC_PATHS);
  return end >= 0 && isMisplacedBase(path.slice(0, end)) ? 'anthropic' : 'openai';
}
