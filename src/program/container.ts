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
import { RefusedChanges } from '../api/audit/refused-changes.ts';
import { withFairTurns } from '../api/http/json-routes.ts';
import { OperatorTokens } from '../api/http/operator-token.ts';
import type { Book } from '../book/book.ts';
import type { Config } from '../config/config.ts';
import { type AddressMatcher, compileRanges } from '../domain/addresses.ts';
import type { Catalog } from '../domain/catalog.ts';
import { CountryLookup } from '../gateway/country.ts';
import { Gatekeeper } from '../gateway/gatekeeper.ts';
import type { Tracing } from '../gateway/observers.ts';
import type { PipelineParts } from '../gateway/pipeline.ts';
import { CallLog } from '../gateway/record/call-log.ts';
import { CallRecorder } from '../gateway/record/call-recorder.ts';
import { RefusalWriter } from '../gateway/record/refusal-writer.ts';
import { SpoolFolder } from '../gateway/request/spool/spool.ts';
import { ResourceOwnership } from '../gateway/resources/resource-ownership.ts';
import { CacheShares } from '../gateway/response/cache-shares.ts';
import { OpenCalls } from '../gateway/response/open-calls.ts';
import { DEFAULT_ATTEMPTS } from '../gateway/response/response-context.ts';
import { LastTargets } from '../gateway/targets/order.ts';
import { TargetHealth } from '../gateway/targets/target-health.ts';
import { UnnamedProxy } from '../gateway/unnamed-proxy.ts';
import { StreamUsage } from '../gateway/upstream/stream-usage.ts';
import { UpstreamTransport } from '../gateway/upstream/transport.ts';
import type { OpenLedger } from '../ledger/open-ledger.ts';
import { gatewayFacts } from '../observability/gateway-facts.ts';
import {
  registerGauges,
  registerPools,
  registerRefusals,
  registerTargets,
  registerTokens,
} from '../observability/gauges.ts';
import { PrometheusCallMetrics, summedMetrics } from '../observability/metrics.ts';
import { readinessOf } from '../observability/readiness.ts';
import { Mailer } from '../people/mail.ts';
import { Oidc } from '../people/oidc.ts';
import { Passwords } from '../people/passwords.ts';
import { Sessions } from '../people/sessions.ts';
import { SignIn } from '../people/sign-in.ts';
import { type MemoryBudget, makePools, memoryBudget, type Pools } from '../shares/pools.ts';
import type { AppParts } from './app.ts';

/** Resources opened before all other parts, and closed after them. */
export interface Opened {
  readonly config: Config;
  /**
   * Currently callable models. Each call reads this once and keeps the result, because a reload replaces the catalog.
   */
  readonly catalog: () => Catalog;
  readonly logger: FastifyBaseLogger;
  readonly book: Book;
  readonly ledger: OpenLedger;
  /** Problems with Redis' persistence found at startup, one sentence each; empty if Redis is durable. */
  readonly redisFaults: readonly string[];
  readonly isDraining: () => boolean;
  readonly tracing: Tracing | undefined;
  /** The code with which the first operator is made; undefined: none. */
  readonly setupCode: string | undefined;
}

function token<T>(name: string): InjectionToken<T> {
  return Symbol(name);
}

/** Root object that `serve` checks, starts and closes. Contains every other part. */
export interface Gateway {
  readonly app: AppParts;
  readonly alerts: AlertWorker;
  readonly countries: CountryLookup;
  readonly spools: SpoolFolder;
  readonly transport: UpstreamTransport;
  readonly openCalls: OpenCalls;
  readonly refusals: RefusalWriter;
}

const GATEWAY = token<Gateway>('Gateway');
const APP_PARTS = token<AppParts>('AppParts');
const ALERT_WORKER = token<AlertWorker>('AlertWorker');
const COUNTRIES = token<CountryLookup>('CountryLookup');
const TRANSPORT = token<UpstreamTransport>('UpstreamTransport');
const METRICS = token<Registry>('Registry');
const SPOOLS = token<SpoolFolder>('SpoolFolder');
const MEMORY = token<MemoryBudget>('MemoryBudget');
const POOLS = token<Pools>('Pools');
const CALL_METRICS = token<PrometheusCallMetrics>('PrometheusCallMetrics');
const GATEKEEPER = token<Gatekeeper>('Gatekeeper');
const RESOURCE_OWNERSHIP = token<ResourceOwnership>('ResourceOwnership');
const OPEN_CALLS = token<OpenCalls>('OpenCalls');
const TARGET_HEALTH = token<TargetHealth>('TargetHealth');
const REFUSALS = token<RefusalWriter>('RefusalWriter');
const UNNAMED_PROXY = token<UnnamedProxy>('UnnamedProxy');
const OPERATOR_TOKENS = token<OperatorTokens>('OperatorTokens');
const REFUSED_CHANGES = token<RefusedChanges>('RefusedChanges');
const PIPELINE = token<PipelineParts>('PipelineParts');

type Once = <T>(name: InjectionToken<T>, make: (c: DependencyContainer) => T) => void;

/**
 * Composes the gateway from the opened resources: each part once, none started. The only file that imports tsyringe.
 */
export function compose(opened: Opened): Gateway {
  const container = root.createChildContainer();
  const once: Once = (name, make) => {
    container.register(name, { useFactory: instanceCachingFactory(make) });
  };
  registerParts(once, opened);
  registerCalls(once, opened);
  once(GATEWAY, (c) => ({
    app: c.resolve(APP_PARTS),
    alerts: c.resolve(ALERT_WORKER),
    countries: c.resolve(COUNTRIES),
    spools: c.resolve(SPOOLS),
    transport: c.resolve(TRANSPORT),
    openCalls: c.resolve(OPEN_CALLS),
    refusals: c.resolve(REFUSALS),
  }));
  return container.resolve(GATEWAY);
}

/** Registers the parts of the routes, and those off the call path. */
function registerParts(once: Once, opened: Opened): void {
  const { config, logger, book } = opened;
  const { ledger } = opened.ledger;
  once(SPOOLS, () => new SpoolFolder(join(config.dataDir, 'uploads')));
  once(MEMORY, () => memoryBudget({ ...config.limits, processes: config.workers }));
  once(POOLS, (c) => makePools(c.resolve(MEMORY)));
  once(METRICS, (c) => {
    const registry = new Registry();
    registerGauges(registry, { ...opened, spools: c.resolve(SPOOLS), openCalls: c.resolve(OPEN_CALLS) });
    registerPools(registry, c.resolve(POOLS));
    registerTargets(registry, c.resolve(TARGET_HEALTH));
    registerRefusals(registry, c.resolve(REFUSALS));
    registerTokens(registry, c.resolve(OPERATOR_TOKENS));
    return registry;
  });
  once(CALL_METRICS, (c) => new PrometheusCallMetrics(c.resolve(METRICS)));
  once(COUNTRIES, () => new CountryLookup({ log: logger, linkFolder: join(config.dataDir, 'countries') }));
  once(
    REFUSALS,
    (c) =>
      new RefusalWriter({
        book,
        log: logger,
        settings: { ...config.calls, auditDays: config.people.auditDays },
        places: c.resolve(POOLS).refusals,
      }),
  );
  once(OPEN_CALLS, () => new OpenCalls(config.limits));
  once(TARGET_HEALTH, () => new TargetHealth({ log: logger }));
  once(TRANSPORT, () => new UpstreamTransport(config.limits));
  once(ALERT_WORKER, (c) => {
    const metrics = c.resolve(CALL_METRICS);
    return new AlertWorker({
      book,
      log: logger,
      permits: c.resolve(POOLS).alerts,
      ...config.alerts,
      onOutcome: (status) => metrics.alertDelivered(status),
    });
  });
  once(OPERATOR_TOKENS, (c) => {
    const gatekeeper = c.resolve(GATEKEEPER);
    return new OperatorTokens({
      ...config,
      log: logger,
      addressOf: (request) => gatekeeper.addressOf(request),
    });
  });
  once(REFUSED_CHANGES, () => new RefusedChanges({ book, log: logger }));
  once(APP_PARTS, (c) => {
    const gatekeeper = c.resolve(GATEKEEPER);
    const pools = c.resolve(POOLS);
    const passwords = new Passwords();
    const oidc = new Oidc(config.people.oidc);
    return {
      pipeline: c.resolve(PIPELINE),
      pools,
      logger,
      book: withFairTurns(book, pools),
      ledger,
      gatekeeper,
      config,
      catalog: opened.catalog,
      alerts: c.resolve(ALERT_WORKER),
      health: c.resolve(TARGET_HEALTH),
      countries: c.resolve(COUNTRIES),
      operatorTokens: c.resolve(OPERATOR_TOKENS),
      sessions: new Sessions({
        book,
        adminToken: config.adminToken,
        addressOf: (request) => gatekeeper.addressOf(request),
        trustProxy: trustedProxies(config),
      }),
      passwords,
      signIn: new SignIn({ book, passwords }),
      setupCode: opened.setupCode,
      oidc,
      ways: { passwords: config.people.passwords, oidc: oidc.names },
      mailer: new Mailer(config.mail, logger),
      links: { publicUrl: config.server.publicUrl, trustProxy: trustedProxies(config) },
      refusedChanges: c.resolve(REFUSED_CHANGES),
      metrics: summedMetrics(c.resolve(METRICS)),
      readiness: () => readinessOf(opened),
      processFacts: () => ({
        refusals: c.resolve(REFUSALS),
        unnamedProxyAt: c.resolve(UNNAMED_PROXY).lastAt,
        clockSkewMs: opened.ledger.clockSkewMs(),
      }),
      gatewayFacts: () => gatewayFacts(opened.ledger, c.resolve(CALL_METRICS)),
    };
  });
}

function trustedProxies({ server: { trustProxy } }: Config): AddressMatcher | undefined {
  return trustProxy.length > 0 ? compileRanges(trustProxy) : undefined;
}

/** Registers the parts on the call path. */
function registerCalls(once: Once, opened: Opened): void {
  const { config, logger, book } = opened;
  const { ledger } = opened.ledger;
  once(UNNAMED_PROXY, () => new UnnamedProxy(logger));
  once(GATEKEEPER, (c) => {
    return new Gatekeeper({
      ledger,
      countries: c.resolve(COUNTRIES),
      keyPrefix: config.keyPrefix,
      trustProxy: trustedProxies(config),
      unnamedProxy: c.resolve(UNNAMED_PROXY),
      allowMissingOrigin: config.origins.allowMissing,
      cachedBytes: c.resolve(MEMORY).cachedKeyBytes,
    });
  });
  once(
    RESOURCE_OWNERSHIP,
    () => new ResourceOwnership({ book, log: logger, ledger, contextTokens: config.limits.contextTokens }),
  );
  once(PIPELINE, (c) => {
    return {
      gatekeeper: c.resolve(GATEKEEPER),
      ledger,
      catalog: opened.catalog,
      transport: c.resolve(TRANSPORT),
      ownership: c.resolve(RESOURCE_OWNERSHIP),
      refunds: opened.ledger.refunds,
      response: {
        ledger,
        requestTimeoutMs: config.limits.requestTimeoutMs,
        headersTimeoutMs: config.limits.headersTimeoutMs,
        targets: {
          health: c.resolve(TARGET_HEALTH),
          attempts: config.limits.attempts ?? DEFAULT_ATTEMPTS,
          retryUncertain: config.limits.retryUnsure ?? false,
          lastTargets: new LastTargets(),
          streamUsage: new StreamUsage(logger),
          secret: book.secret,
        },
        keyPrefix: config.keyPrefix,
        hiddenTokensPerSecond: config.limits.hiddenTokensPerSecond,
        openCalls: c.resolve(OPEN_CALLS),
        cacheShares: new CacheShares(),
        metrics: c.resolve(CALL_METRICS),
        recorder: new CallRecorder({
          gatekeeper: c.resolve(GATEKEEPER),
          catalog: opened.catalog,
          refusals: c.resolve(REFUSALS),
          log: new CallLog(logger, config.logCalls),
          keyPrefix: config.keyPrefix,
        }),
        tracing: opened.tracing,
      },
      bounds: config.limits,
      unpriced: config.pricing.unpriced,
      bodyLimitBytes: config.server.bodyLimitBytes,
      spools: c.resolve(SPOOLS),
      pools: c.resolve(POOLS),
    };
  });
}
