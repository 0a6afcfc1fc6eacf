import 'reflect-metadata';
import { join } from 'node:path';
import type { FastifyBaseLogger } from 'fastify';
import { Registry } from 'prom-client';
import {
  type DependencyContainer,
  type InjectionToken,
  instanceCachingFactory,
  container as root,
} from 'tsyringe';
import { AlertWorker } from '../alerts/alert-worker.ts';
import type { Book } from '../book/book.ts';
import type { Config } from '../config/config.ts';
import { compileRanges } from '../domain/addresses.ts';
import type { Catalog } from '../domain/catalog.ts';
import { CountryLookup } from '../gateway/country.ts';
import { Gatekeeper } from '../gateway/gatekeeper.ts';
import type { PipelineParts } from '../gateway/pipeline.ts';
import { SpoolFolder } from '../gateway/request/spool/spool.ts';
import { ResourceOwnership } from '../gateway/resources/resource-ownership.ts';
import type { Tracing } from '../gateway/tracing.ts';
import { UpstreamTransport } from '../gateway/upstream/transport.ts';
import type { OpenLedger } from '../ledger/open-ledger.ts';
import { TokenCounter } from '../metering/tokens/token-counter.ts';
import { registerGauges } from '../observability/gauges.ts';
import { PrometheusCallMetrics } from '../observability/metrics.ts';
import { readinessOf } from '../observability/readiness.ts';
import { summedMetrics } from '../observability/workers-metrics.ts';
import type { AppParts } from './app.ts';

/**
 * Most alert POSTs under way at once. Each is a connection and some 50 KB, so that all together stay below 32 MB; and so many
 * accounts must have receivers that do not answer, all at once, before one waits for another (alerts/fair-semaphore.ts).
 */
const ALERT_CONCURRENCY = 512;

/** Resources that are opened before anything else, and closed after it. */
export interface Opened {
  readonly config: Config;
  /** The models that can be called now. Read once for each call: a reload replaces the whole catalog. */
  readonly catalog: () => Catalog;
  readonly logger: FastifyBaseLogger;
  readonly book: Book;
  readonly ledger: OpenLedger;
  /** Faults of Redis' persistence, found at the start. */
  readonly redisFaults: readonly string[];
  readonly isDraining: () => boolean;
  readonly tracing: Tracing | undefined;
}

function token<T>(name: string): InjectionToken<T> {
  return Symbol(name);
}

export const ALERT_WORKER = token<AlertWorker>('AlertWorker');
export const COUNTRIES = token<CountryLookup>('CountryLookup');
export const TRANSPORT = token<UpstreamTransport>('UpstreamTransport');
export const TOKEN_COUNTER = token<TokenCounter>('TokenCounter');
const METRICS = token<Registry>('Registry');
export const SPOOLS = token<SpoolFolder>('SpoolFolder');
export const APP_PARTS = token<AppParts>('AppParts');
const CALL_METRICS = token<PrometheusCallMetrics>('PrometheusCallMetrics');
const GATEKEEPER = token<Gatekeeper>('Gatekeeper');
const RESOURCE_OWNERSHIP = token<ResourceOwnership>('ResourceOwnership');
const PIPELINE = token<PipelineParts>('PipelineParts');

type Once = <T>(name: InjectionToken<T>, make: (c: DependencyContainer) => T) => void;

/** Composes every part of the gateway from the opened resources, each once. The only file that imports tsyringe. */
export function compose(opened: Opened): DependencyContainer {
  const container = root.createChildContainer();
  const once: Once = (name, make) => {
    container.register(name, { useFactory: instanceCachingFactory(make) });
  };
  const { config, logger, book } = opened;
  const { ledger } = opened.ledger;

  once(SPOOLS, () => new SpoolFolder(join(config.dataDir, 'uploads')));
  once(METRICS, (c) => {
    const registry = new Registry();
    registerGauges(registry, { ...opened, spools: c.resolve(SPOOLS) });
    return registry;
  });
  once(CALL_METRICS, (c) => new PrometheusCallMetrics(c.resolve(METRICS)));
  once(COUNTRIES, () => new CountryLookup({ log: logger, linkFolder: join(config.dataDir, 'countries') }));
  once(TOKEN_COUNTER, () => new TokenCounter({ log: logger }));
  once(TRANSPORT, () => new UpstreamTransport(config.limits));
  once(
    ALERT_WORKER,
    (c) =>
      new AlertWorker({
        book,
        log: logger,
        concurrency: ALERT_CONCURRENCY,
        ...config.alerts,
        onOutcome: (status) => c.resolve(CALL_METRICS).alertDelivered(status),
      }),
  );
  registerCalls(once, opened);
  once(APP_PARTS, (c) => {
    const gatekeeper = c.resolve(GATEKEEPER);
    return {
      pipeline: c.resolve(PIPELINE),
      logger,
      book,
      ledger,
      gatekeeper,
      config,
      catalog: opened.catalog,
      alerts: c.resolve(ALERT_WORKER),
      countries: c.resolve(COUNTRIES),
      metrics: summedMetrics(c.resolve(METRICS)),
      readiness: () => readinessOf(opened),
    } satisfies AppParts;
  });
  return container;
}

/** The parts on the path of a call. */
function registerCalls(once: Once, opened: Opened): void {
  const { config, logger, book } = opened;
  const { ledger } = opened.ledger;
  once(GATEKEEPER, (c) => {
    const { trustProxy } = config.server;
    return new Gatekeeper({
      ledger,
      countries: c.resolve(COUNTRIES),
      keyPrefix: config.keyPrefix,
      trustProxy: trustProxy.length > 0 ? compileRanges(trustProxy) : undefined,
      allowMissingOrigin: config.origins.allowMissing,
    });
  });
  once(
    RESOURCE_OWNERSHIP,
    () => new ResourceOwnership({ book, log: logger, ledger, contextTokens: config.limits.contextTokens }),
  );
  once(PIPELINE, (c) => ({
    gatekeeper: c.resolve(GATEKEEPER),
    ledger,
    catalog: opened.catalog,
    transport: c.resolve(TRANSPORT),
    ownership: c.resolve(RESOURCE_OWNERSHIP),
    refunds: opened.ledger.refunds,
    response: {
      ledger,
      countTokens: (text: string) => c.resolve(TOKEN_COUNTER).count(text),
      requestTimeoutMs: config.limits.requestTimeoutMs,
      metrics: c.resolve(CALL_METRICS),
      tracing: opened.tracing,
    },
    bounds: config.limits,
    unpriced: config.pricing.unpriced,
    bodyLimitBytes: config.server.bodyLimitBytes,
    spools: c.resolve(SPOOLS),
  }));
}
