import { ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import {
  ATTR_ERROR_TYPE,
  ATTR_HTTP_REQUEST_METHOD,
  ATTR_HTTP_RESPONSE_STATUS_CODE,
  ATTR_SERVER_ADDRESS,
  ATTR_SERVER_PORT,
} from '@opentelemetry/semantic-conventions';
import { creditsString, type Micro } from '../domain/credits.ts';
import { cachedTokens, cacheWriteTokens, inputTokens, outputTokens, type Usage } from '../domain/units.ts';
import type { PlannedCall } from '../gateway/call.ts';
import type { CallTrace, EndCode } from '../gateway/observers.ts';
import type { Ending } from '../gateway/settle.ts';

const MS_PER_S = 1_000;
const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'https:': 443, 'http:': 80 };

/**
 * Values of `gen_ai.operation.name` by path, if the semantic conventions define one; otherwise the path's last part.
 */
const OPERATIONS: Readonly<Record<string, string>> = {
  '/v1/chat/completions': 'chat',
  '/v1/responses': 'chat',
  '/v1/responses/compact': 'chat',
  '/v1/messages': 'chat',
  '/v1/completions': 'text_completion',
};

const propagator = new W3CTraceContextPropagator();

/** Spans of an admitted call: a server span for the client's request, with a client span for the upstream. */
export class OpenCallTrace implements CallTrace {
  readonly #server: Span;
  readonly #client: Span;
  readonly #call: PlannedCall;
  readonly #epoch: number;
  readonly #sentAt: number;

  /**
   * `sentAt` is by `performance.now()`; `epoch` is its time origin, in milliseconds since the epoch. All four span
   * times derive from it, so one span lies within the other.
   */
  constructor(tracer: Tracer, server: Span, call: PlannedCall, sentAt: number, epoch: number) {
    const { model, isStream } = call.facts;
    const { path } = call.endpoint;
    const { hostname, port, protocol } = new URL(model.upstream.url);
    const operation = OPERATIONS[path] ?? path.slice(path.lastIndexOf('/') + 1);
    this.#call = call;
    this.#server = server;
    this.#epoch = epoch;
    this.#sentAt = sentAt;
    this.#client = tracer.startSpan(
      `${operation} ${model.slug}`,
      {
        kind: SpanKind.CLIENT,
        startTime: epoch + sentAt,
        attributes: {
          [ATTR_HTTP_REQUEST_METHOD]: 'POST',
          [ATTR_SERVER_ADDRESS]: hostname,
          [ATTR_SERVER_PORT]: Number(port) || DEFAULT_PORTS[protocol],
          'gen_ai.operation.name': operation,
          'gen_ai.provider.name': model.upstream.format,
          'gen_ai.request.model': model.upstreamModel,
          'gen_ai.request.stream': isStream,
        },
      },
      trace.setSpan(ROOT_CONTEXT, server),
    );
  }

  passOn(headers: string[]): void {
    for (let at = headers.length - 2; at >= 0; at -= 2) {
      const name = headers[at];
      if (name === 'traceparent' || name === 'tracestate') headers.splice(at, 2);
    }
    propagator.inject(trace.setSpan(ROOT_CONTEXT, this.#client), headers, {
      set: (carrier, name, value) => carrier.push(name, value),
    });
  }

  head(statusCode: number): void {
    this.#client.setAttribute(ATTR_HTTP_RESPONSE_STATUS_CODE, statusCode);
  }

  firstToken(): void {
    this.#client.setAttribute(
      'gen_ai.response.time_to_first_chunk',
      (performance.now() - this.#sentAt) / MS_PER_S,
    );
  }

  /** Adds an event for each failed try before the last one, at the time it failed. */
  #handOvers({ attempts }: PlannedCall): void {
    let at = this.#epoch + this.#sentAt;
    for (const { target, status, ms } of attempts.slice(0, -1)) {
      at += ms;
      this.#client.addEvent(
        'tollgate.hand_over',
        {
          'tollgate.target': target,
          ...(status === null ? {} : { [ATTR_HTTP_RESPONSE_STATUS_CODE]: status }),
        },
        at,
      );
    }
  }

  ended(ending: Ending, code: EndCode, charge: Micro, upstreamMs: number): void {
    const { compiled, requestId, facts } = this.#call;
    const failure = code === 'ok' ? {} : { [ATTR_ERROR_TYPE]: code };
    this.#client.setAttributes({ ...usageAttributes(ending.usage), ...failure });
    this.#handOvers(this.#call);
    this.#server.setAttributes({
      [ATTR_HTTP_RESPONSE_STATUS_CODE]: ending.status,
      'gen_ai.request.model': facts.model.slug,
      'tollgate.request_id': requestId,
      'tollgate.account_id': compiled.key.accountId,
      'tollgate.key_id': compiled.key.id,
      'tollgate.outcome': ending.outcome,
      'tollgate.charge': creditsString(charge),
      'tollgate.estimated': ending.estimated,
      ...failure,
    });
    // A client disconnect is not an error of the call.
    if (code !== 'ok' && code !== 'client_left') {
      this.#client.setStatus({ code: SpanStatusCode.ERROR });
      if (ending.status >= 500 || ending.status < 400) this.#server.setStatus({ code: SpanStatusCode.ERROR });
    }
    this.#client.end(this.#epoch + this.#sentAt + upstreamMs);
    this.#server.end(this.#epoch + performance.now());
  }
}

/**
 * Token usage attributes. Input includes tokens read from and written to a cache, as the semantic conventions require.
 */
function usageAttributes(usage: Usage | undefined): Record<string, number> {
  if (usage?.input === undefined && usage?.output === undefined) return {};
  const cached = cachedTokens(usage);
  const written = cacheWriteTokens(usage);
  return {
    'gen_ai.usage.input_tokens': inputTokens(usage),
    'gen_ai.usage.output_tokens': outputTokens(usage),
    ...(cached > 0 ? { 'gen_ai.usage.cache_read.input_tokens': cached } : {}),
    ...(written > 0 ? { 'gen_ai.usage.cache_creation.input_tokens': written } : {}),
  };
}
