import type { FastifyRequest } from 'fastify';
import type { WireFormat } from '../domain/catalog.ts';
import { GatewayError } from '../domain/errors.ts';
import { ENDPOINTS } from './endpoints.ts';
import { whatIsNotServed } from './not-served.ts';
import { GUESSED_BYTES, isMisplacedBase } from './refuse.ts';
import { otherSpellings } from './spellings.ts';

/** Paths that clients append to their base URL, longest first, because `/completions` also ends `/chat/completions`. */
const ADDED = [...ENDPOINTS, { path: '/v1/models', format: undefined }]
  .map(({ path, format }) => ({ path, format, added: path.slice('/v1'.length) }))
  .sort((a, b) => b.added.length - a.added.length);

const OPENAI = 'For OpenAI clients, set the base URL to the address of this gateway followed by /v1.';
const ANTHROPIC = 'For Anthropic clients, set the base URL to the address of this gateway, without /v1.';
const BASE_URLS: Readonly<Record<WireFormat, string>> = { openai: OPENAI, anthropic: ANTHROPIC };

/** Refuses a request without a route. Suggests the intended route if it can guess it. */
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
    `There is no ${request.method} ${path.slice(0, 200)} here${whatToDo(request.method, path)}`,
  );
}

/** Codex tries a WebSocket before it falls back to POST; on any answer but 426 it tries seven times. */
function asksForSocket({ method, headers }: FastifyRequest, path: string): boolean {
  return (
    method === 'GET' &&
    /^(?:\/v1){0,2}\/responses\/?$/.test(path) &&
    /^websocket$/i.test(headers.upgrade?.trim() ?? '')
  );
}

/** A key's path, of its account or of the operator. */
const KEY = /^\/api\/(?:admin\/accounts\/\d+\/)?keys\/\d+\/?$/;

/**
 * Ends the sentence: names the right method if only that is wrong, what the gateway lacks, or the right base URL if
 * something else precedes an endpoint's path.
 */
function whatToDo(method: string, path: string): string {
  if (path.length > GUESSED_BYTES) return '.';
  if (method === 'PUT' && KEY.test(path)) return '. Use PATCH, which changes the fields you send.';
  return whatIsNotServed(path) ?? whereBaseEnds(path);
}

function whereBaseEnds(path: string): string {
  const asked = path.replace(/(?<!\/)\/+$/, '');
  const found = ADDED.find(({ added }) => asked.endsWith(added));
  if (!found) return '.';
  const isServed = [found.path, ...otherSpellings(found.path)].includes(asked);
  if (isServed && found.format) return `. Use POST ${asked}.`;
  if (isServed || !isMisplacedBase(asked.slice(0, -found.added.length))) return '.';
  const base = found.format ? BASE_URLS[found.format] : `${OPENAI} ${ANTHROPIC}`;
  return `, but ${found.path}. ${base}`;
}

/** The address without its query, which may contain a key that must not be echoed. */
function pathOf(url: string): string {
  return url.split('?', 1)[0] ?? '';
}
