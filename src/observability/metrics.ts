import cluster from 'node:cluster';
import { AggregatorRegistry, Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { DELIVERY_STATUSES, type DeliveryStatus } from '../book/schema.ts';
import { LIMIT_NAMES, type LimitName, type LimitOwner } from '../domain/call-limits.ts';
import { MICRO_PER_CREDIT, type Micro } from '../domain/credits.ts';
import type { ErrorCode } from '../domain/errors.ts';
import { LIMIT_PERIODS } from '../domain/limit-periods.ts';
import { SPENDING_OWNERS, type SpendingLimitName, type SpendingOwner } from '../domain/spending-limits.ts';
import type { CallMetrics, EndCode } from '../gateway/observers.ts';
import { UNDECIDED_REASONS, type UndecidedReason } from '../ledger/ledger.ts';
import { registerRead } from './gauges.ts';

const MS_PER_S = 1_000;
/** Histogram buckets in seconds: model calls take milliseconds to half an hour. */
const CALL_BUCKETS_S = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800];
const ADDED_BUCKETS_S = [0.0005, 0.001, 0.002, 0.003, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1];

/** Most names of unknown members that get a label: clients can make names up. */
const MAX_UNKNOWN_NAMES = 100;

/**
 * Prometheus metrics of the request path (specification section 7, "Operations"). Label values are bounded: paths of
 * the endpoint table and codes of the error table, but never a key, account, model or URL.
 */
export class PrometheusCallMetrics implements CallMetrics {
  readonly #requests: Counter<'endpoint' | 'code'>;
  readonly #upstream: Histogram;
  readonly #firstByte: Histogram;
  readonly #firstToken: Histogram;
  readonly #added: Histogram;
  readonly #limited: Counter<'owner' | 'limit'>;
  readonly #unknownMembers: Counter<'member'>;
  /** Names of unknown members, with the time of the last report in milliseconds since the epoch. */
  readonly unknownMembers = new Map<string, number>();
  readonly #undecided: Counter<'reason'>;
  readonly #deliveries: Counter<'status'>;
  /** Caches counters by metric and label, because a prom-client lookup takes a microsecond. */
  readonly #counters = new Map<string, Map<string, Counter.Internal>>();
  /** Charges in micro-credits, summed as an integer and converted to a decimal when read. */
  #chargedMicro = 0;
  #callsInFlight = 0;
  #openStreams = 0;

  constructor(registry: Registry) {
    const registers = [registry];
    const counter = <Label extends string>(name: string, help: string, labelNames: Label[]) =>
      new Counter({ name, help, labelNames, registers });
    this.#requests = counter(
      'tollgate_requests_total',
      'Model calls that ended, by endpoint and code: ok, an error code, or how the answer broke off',
      ['endpoint', 'code'],
    );
    const histogram = (name: string, help: string, buckets: number[]) =>
      new Histogram({ name, help, buckets, registers });
    this.#upstream = histogram(
      'tollgate_upstream_seconds',
      'Time from sending a call upstream to the end of the answer',
      CALL_BUCKETS_S,
    );
    this.#firstByte = histogram(
      'tollgate_time_to_first_byte_seconds',
      'Time from the request to the headers of the answer',
      CALL_BUCKETS_S,
    );
    this.#firstToken = histogram(
      'tollgate_time_to_first_token_seconds',
      'Time from the request to the first event of a stream',
      CALL_BUCKETS_S,
    );
    this.#added = histogram(
      'tollgate_added_seconds',
      'Time in the gateway, without the upstream',
      ADDED_BUCKETS_S,
    );
    this.#limited = counter(
      'tollgate_limit_refusals_total',
      'Calls refused by a limit, by owner (key or account; member for spending limits) and limit: with 429 the one with the longest wait, with 402 the spending limit named (spending_5h, spending_daily, …)',
      ['owner', 'limit'],
    );
    for (const owner of SPENDING_OWNERS) {
      if (owner !== 'member') for (const limit of LIMIT_NAMES) this.#limited.inc({ owner, limit }, 0);
      for (const period of LIMIT_PERIODS) this.#limited.inc({ owner, limit: `spending_${period}` }, 0);
    }
    this.#unknownMembers = counter(
      'tollgate_unknown_members_total',
      'Fields of requests that the price tables lack, once a day and name; beyond 100 names `other`',
      ['member'],
    );
    this.#undecided = counter(
      'tollgate_undecided_calls_total',
      'Calls refused with 503 because Redis did not decide in time, by reason: late (after 5 s), no_answer (in 6 s), not_connected, too_many (limits.waitingCalls), other',
      ['reason'],
    );
    for (const reason of UNDECIDED_REASONS) this.#undecided.inc({ reason }, 0);
    this.#deliveries = counter(
      'tollgate_alert_deliveries_total',
      'Low-credits alerts by status: delivered, failed, timeout, blocked, or unknown (given up at a stop)',
      ['status'],
    );
    // Starts at 0, so the first failure is an increase, which alerting rules need.
    for (const status of DELIVERY_STATUSES) this.#deliveries.inc({ status }, 0);
    this.#registerSums(registry);
  }

  /** Registers the values read at each scrape: credits charged and calls in flight. */
  #registerSums(registry: Registry): void {
    const charged = { name: 'tollgate_charged_credits_total', help: 'Credits charged' };
    registerRead(registry, Counter, charged, () => [[{}, this.#chargedMicro / MICRO_PER_CREDIT]]);
    const gauge = (name: string, help: string, read: () => number) =>
      registerRead(registry, Gauge, { name, help, aggregator: 'sum' }, () => [[{}, read()]]);
    gauge('tollgate_calls_in_flight', 'Calls that are admitted and not settled', () => this.#callsInFlight);
    gauge(
      'tollgate_open_streams',
      'Calls in flight whose streamed answer has begun',
      () => this.#openStreams,
    );
  }

  refused(endpoint: string, code: ErrorCode): void {
    this.#count(endpoint, code);
  }

  limited(owner: LimitOwner | SpendingOwner, limit: LimitName | SpendingLimitName): void {
    this.#limited.inc({ owner, limit });
  }

  unknownMember(name: string): void {
    const isLabel = this.unknownMembers.has(name) || this.unknownMembers.size < MAX_UNKNOWN_NAMES;
    if (isLabel) this.unknownMembers.set(name, Date.now());
    this.#unknownMembers.inc({ member: isLabel ? name : 'other' });
  }

  undecided(reason: UndecidedReason): void {
    this.#undecided.inc({ reason });
  }

  began(): void {
    this.#callsInFlight++;
  }

  streamBegan(): void {
    this.#openStreams++;
  }

  settled(wasStream: boolean): void {
    this.#callsInFlight--;
    if (wasStream) this.#openStreams--;
  }

  firstToken(afterMs: number): void {
    this.#firstToken.observe(afterMs / MS_PER_S);
  }

  firstByte(afterMs: number): void {
    this.#firstByte.observe(afterMs / MS_PER_S);
  }

  ended(endpoint: string, code: EndCode, upstreamMs: number, addedMs: number, charge: Micro): void {
    this.#count(endpoint, code);
    this.#upstream.observe(upstreamMs / MS_PER_S);
    this.#added.observe(addedMs / MS_PER_S);
    this.#chargedMicro += charge;
  }

  alertDelivered(status: DeliveryStatus): void {
    this.#deliveries.inc({ status });
  }

  #count(endpoint: string, code: EndCode): void {
    let byCode = this.#counters.get(endpoint);
    if (!byCode) {
      byCode = new Map();
      this.#counters.set(endpoint, byCode);
    }
    let counter = byCode.get(code);
    if (!counter) {
      counter = this.#requests.labels(endpoint, code);
      byCode.set(code, counter);
    }
    counter.inc();
  }
}

interface MetricsRequest {
  readonly askMetrics: number;
}

interface MetricsReply {
  readonly metricsFor: number;
  /** Metrics of all workers; undefined unless all answered. */
  readonly text?: string;
}

/**
 * Metrics of several workers on one port. The scraped worker has the supervisor query all workers, and returns the sums
 * of their values, or the result of a metric's `aggregator`.
 */
export function summedMetrics(registry: Registry): Pick<Registry, 'metrics' | 'contentType'> {
  if (!cluster.isWorker) return registry;
  AggregatorRegistry.setRegistries([registry]);
  // Constructed for its side effect: it answers the supervisor's requests for this worker's metrics.
  new AggregatorRegistry();
  let asked = 0;
  const waiting = new Map<number, (text: string | undefined) => void>();
  process.on('message', ({ metricsFor, text }: Partial<MetricsReply>) => {
    if (metricsFor === undefined) return;
    waiting.get(metricsFor)?.(text);
    waiting.delete(metricsFor);
  });
  return {
    contentType: registry.contentType,
    async metrics() {
      const id = ++asked;
      const text = await new Promise<string | undefined>((resolve) => {
        waiting.set(id, resolve);
        process.send?.({ askMetrics: id } satisfies MetricsRequest);
      });
      // If a worker doesn't answer because it is being replaced, this worker's metrics are better than none.
      return text ?? (await registry.metrics());
    },
  };
}

/** Serves workers' requests in the supervisor: collects the metrics of all workers. */
export function answerMetrics(): void {
  const registry = new AggregatorRegistry();
  cluster.on('message', (worker, { askMetrics }: Partial<MetricsRequest>) => {
    if (askMetrics === undefined) return;
    const answer = (text?: string) => {
      if (worker.isConnected()) worker.send({ metricsFor: askMetrics, ...(text ? { text } : {}) });
    };
    registry.clusterMetrics().then(answer, () => answer());
  });
}
