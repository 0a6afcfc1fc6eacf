import type { FastifyRequest } from 'fastify';
import type { WireFormat } from '../domain/catalog.ts';
import { GatewayError } from '../domain/errors.ts';
import { ENDPOINTS } from './endpoints.ts';
import { isMisplacedBase } from './refuse.ts';

/**
 * What clients add to their base URL, the longest first, because `/completions` is also the end of `/chat/completions`.
 */
const ADDED = [...ENDPOINTS, { path: '/v1/models', format: undefined }]
  .map(({ path, format }) => ({ path, format, added: path.slice('/v1'.length) }))
  .sort((a, b) => b.added.length - a.added.length);

const OPENAI = 'For OpenAI clients, set the base URL to the address of this gateway followed by /v1.';
const ANTHROPIC = 'For Anthropic clients, set the base URL to the address of this gateway, without /v1.';
const BASE_URLS: Readonly<Record<WireFormat, string>> = { openai: OPENAI, anthropic: ANTHROPIC };

/** The refusal of a request for which there is no route. If it can guess the intended route, it names it. */
export function noSuchEndpoint(request: FastifyRequest): GatewayError {
  const path = pathOf(request.url);
  if (asksForSocket(request, path)) {
    return new GatewayError(
      'upgrade_required',
      'WebSocket is not supported. Use POST /v1/responses, with "stream": true for server-sent events.',
    );
  }
  return new GatewayError(
    'unknown_endpoint',
    `There is no ${request.method} ${path.slice(0, 200)} here${whereBaseEnds(path)}`,
  );
}

/** Codex asks for a WebSocket before it falls back to POST; after any other answer than 426 it asks seven times. */
function asksForSocket({ method, headers }: FastifyRequest, path: string): boolean {
  return (
    method === 'GET' &&
    /^\/v1\/responses\/?$/.test(path) &&
    /^websocket$/i.test(headers.upgrade?.trim() ?? '')
  );
}

/**
 * The end of the sentence: the method, if only that is wrong, or if the base URL should end, if the path is an endpoint's with something else before it.
 */
function whereBaseEnds(path: string): string {
  const asked = path.replace(/\/+$/, '');
  const found = ADDED.find(({ added }) => asked.endsWith(added));
  if (found?.format && asked === found.path) return `. Use POST ${found.path}.`;
  if (!found || asked === found.path || !isMisplacedBase(asked.slice(0, -found.added.length))) return '.';
  const base = found.format ? BASE_URLS[found.format] : `${OPENAI} ${ANTHROPIC}`;
  return `, but ${found.path}. ${base}`;
}

/** The address without its query: a key that somebody put there must not come back in an answer. */
function pathOf(url: string): string {
  return url.split('?', 1)[0] ?? '';
}
