import type { IncomingHttpHeaders } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { DiagLogLevel, diag, ROOT_CONTEXT, SpanKind, type Tracer } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
  serviceInstanceIdDetector,
} from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import {
  ATTR_ERROR_TYPE,
  ATTR_HTTP_REQUEST_METHOD,
  ATTR_HTTP_RESPONSE_STATUS_CODE,
  ATTR_HTTP_ROUTE,
  ATTR_SERVICE_NAME,
  ATTR_SERVICE_VERSION,
  ATTR_URL_PATH,
} from '@opentelemetry/semantic-conventions';
import type { Config } from '../config/config.ts';
import { VERSION } from '../config/version.ts';
import type { Tracing } from '../gateway/observers.ts';
import type { Log } from '../log/log.ts';
import { OpenCallTrace } from './call-trace.ts';

/** Longest wait at shutdown for the collector to accept the last spans. */
const FLUSH_WITHIN_MS = 3_000;
/** Shortest time between two log lines about failed exports: without a collector, one fails every few seconds. */
const COMPLAIN_EVERY_MS = 60_000;

interface OpenTracing extends Tracing {
  /** Exports the remaining spans, within 3 s. Never rejects. */
  close(): Promise<void>;
}

/**
 * Opens OpenTelemetry tracing of model calls: a server span for each call, with a client span for the upstream,
 * exported in batches over OTLP/HTTP. Only this file and call-trace.ts import OpenTelemetry, and only a configured
 * endpoint loads them, because the packages take a quarter of a second to load.
 *
 * Spans carry ids, codes and numbers, but no keys, bodies or client addresses.
 */
export function openTracing(settings: NonNullable<Config['tracing']>, log: Log): OpenTracing {
  reportFaults(log);
  const provider = new TracerProvider({
    resource: resource(),
    sampler: samplerOf(settings),
    spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter({ url: settings.url }) })],
  });
  const tracer = provider.getTracer('tollgate', VERSION);
  return {
    refused: (headers, path, refusal, call) => {
      const span = serverSpan(tracer, headers, path, call ? epoch() + call.startedAt : Date.now());
      span.setAttributes({
        [ATTR_HTTP_RESPONSE_STATUS_CODE]: refusal.statusCode,
        [ATTR_ERROR_TYPE]: refusal.code,
        ...(call ? { 'tollgate.request_id': call.requestId } : {}),
      });
      span.end();
    },
    began: (headers, call, sentAt) => {
      const start = epoch();
      const server = serverSpan(tracer, headers, call.endpoint.path, start + call.startedAt);
      return new OpenCallTrace(tracer, server, call, sentAt, start);
    },
    async close() {
      const patience = new AbortController();
      const { signal } = patience;
      await Promise.race([
        provider.shutdown().catch(() => {}),
        sleep(FLUSH_WITHIN_MS, undefined, { signal }).catch(() => {}),
      ]);
      patience.abort();
    },
  };
}

const propagator = new W3CTraceContextPropagator();

/** Starts the span of a client's request; continues the client's trace if `traceparent` names one. */
function serverSpan(tracer: Tracer, headers: IncomingHttpHeaders, path: string, startTime: number) {
  const parent = propagator.extract(ROOT_CONTEXT, headers, {
    get: (carrier: IncomingHttpHeaders, name) => carrier[name],
    keys: Object.keys,
  });
  const attributes = { [ATTR_HTTP_REQUEST_METHOD]: 'POST', [ATTR_HTTP_ROUTE]: path, [ATTR_URL_PATH]: path };
  return tracer.startSpan(`POST ${path}`, { kind: SpanKind.SERVER, startTime, attributes }, parent);
}

/** Time origin of `performance.now()`, in milliseconds since the epoch, by the current clock setting. */
function epoch(): number {
  return Date.now() - performance.now();
}

/** Resource attributes of this process. OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES take precedence. */
function resource() {
  const own = resourceFromAttributes({ [ATTR_SERVICE_NAME]: 'tollgate', [ATTR_SERVICE_VERSION]: VERSION });
  return defaultResource()
    .merge(own)
    .merge(detectResources({ detectors: [serviceInstanceIdDetector, envDetector] }));
}

/** Sampler by OpenTelemetry specification name (OTEL_TRACES_SAMPLER). */
function samplerOf({ sampler, ratio }: NonNullable<Config['tracing']>): Sampler {
  const name = sampler.replace(/^parentbased_/, '');
  const root =
    name === 'always_off'
      ? new AlwaysOffSampler()
      : name === 'traceidratio'
        ? new TraceIdRatioBasedSampler(ratio)
        : new AlwaysOnSampler();
  return sampler.startsWith('parentbased_') ? new ParentBasedSampler({ root }) : root;
}

/** Logs failed exports, which lose only spans. */
function reportFaults(log: Log): void {
  let silentUntil = 0;
  const complain = (reason: string) => {
    if (Date.now() < silentUntil) return;
    silentUntil = Date.now() + COMPLAIN_EVERY_MS;
    log.warn({ reason: reason.slice(0, 300) }, 'failed to export traces; calls go on');
  };
  const ignore = () => {};
  diag.setLogger(
    { error: complain, warn: complain, info: ignore, debug: ignore, verbose: ignore },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
}
