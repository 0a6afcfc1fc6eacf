import { Counter, collectDefaultMetrics, Gauge, type Registry } from 'prom-client';
import type { OperatorTokens } from '../api/http/operator-token.ts';
import type { Book } from '../book/book.ts';
import { VERSION } from '../config/version.ts';
import { MICRO_PER_CREDIT } from '../domain/credits.ts';
import type { RefusalWriter } from '../gateway/record/refusal-writer.ts';
import type { SpoolFolder } from '../gateway/request/spool/spool.ts';
import type { OpenCalls } from '../gateway/response/open-calls.ts';
import type { TargetHealth, TargetReport } from '../gateway/targets/target-health.ts';
import type { OpenLedger } from '../ledger/open-ledger.ts';
import type { PoolUse } from '../shares/fair-pool.ts';
import type { Pools } from '../shares/pools.ts';

const MS_PER_S = 1_000;
/** Most queued alerts counted per scrape, to keep the query cheap when there are very many. */
const ALERTS_COUNTED = 1_000;

/**
 * How to combine the values of several workers: the sum of per-process values, or the worst of values that all read
 * from Redis or the book.
 */
type Aggregator = 'sum' | 'max' | 'min' | 'first';

interface GaugeParts {
  readonly ledger: Pick<
    OpenLedger,
    'check' | 'clockSkewMs' | 'openSettlements' | 'backlog' | 'drain' | 'sweep'
  >;
  readonly book: Pick<Book, 'ping' | 'queuedAlerts'>;
  readonly spools: Pick<SpoolFolder, 'kept'>;
  readonly openCalls: Pick<OpenCalls, 'readOn'>;
}

/** Registers the gauges read at each scrape: of the process, the ledger's backlog and the book. */
export function registerGauges(registry: Registry, parts: GaugeParts): void {
  const gauge = (name: string, aggregator: Aggregator, help: string, read: () => number | Promise<number>) =>
    new Gauge({
      name,
      help,
      aggregator,
      registers: [registry],
      async collect() {
        // A part that doesn't answer sets only its gauges to NaN, so the scrape succeeds.
        this.set(
          await Promise.resolve()
            .then(read)
            .catch(() => Number.NaN),
        );
      },
    });
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: 'tollgate_build_info',
    help: 'Always 1; the label is the version',
    labelNames: ['version'],
    aggregator: 'first',
    registers: [registry],
  }).set({ version: VERSION }, 1);
  ledgerGauges(gauge, parts.ledger);
  bookGauges(gauge, parts.book);
  const { spools, openCalls } = parts;
  gauge(
    'tollgate_calls_read_on',
    'sum',
    'Calls whose client left and whose answer is still read for its usage',
    () => openCalls.readOn,
  );
  gauge(
    'tollgate_spooled_bodies',
    'sum',
    'Large request bodies in the data folder now',
    () => spools.kept.bodies,
  );
  gauge('tollgate_spooled_bytes', 'sum', 'Bytes of those bodies', () => spools.kept.bytes);
}

type MakeGauge = (
  name: string,
  aggregator: Aggregator,
  help: string,
  read: () => number | Promise<number>,
) => unknown;

function ledgerGauges(gauge: MakeGauge, ledger: GaugeParts['ledger']): void {
  // The gauges of one scrape share one reading.
  const backlog = oneAtATime(() => ledger.backlog());
  gauge('tollgate_open_settlements', 'sum', 'Charges that Redis has not confirmed', () =>
    ledger.openSettlements(),
  );
  gauge(
    'tollgate_journal_backlog',
    'max',
    'Ledger entries of all gateways that the book lacks; NaN: Redis does not answer',
    async () => (await backlog()).entries,
  );
  gauge(
    'tollgate_journal_lag_seconds',
    'max',
    'Age of the oldest of those entries',
    async () => (await backlog()).ageMs / MS_PER_S,
  );
  gauge(
    'tollgate_journal_refused',
    'max',
    'Ledger entries that the book refuses; they wait in Redis, and the log names each',
    () => ledger.drain.refused,
  );
  gauge(
    'tollgate_holds',
    'max',
    'Open holds of all gateways, counted every 15 seconds',
    () => ledger.sweep.holds.count,
  );
  gauge(
    'tollgate_held_credits',
    'max',
    'Credits in those holds',
    () => ledger.sweep.holds.amount / MICRO_PER_CREDIT,
  );
  gauge('tollgate_redis_up', 'min', '1: every node of Redis takes the writes of calls', async () =>
    (await ledger.check()).faults.length === 0 ? 1 : 0,
  );
  gauge('tollgate_redis_durable', 'min', '1: Redis persists and evicts nothing', async () => {
    const { ok, durabilityFaults } = await ledger.check();
    return ok ? Number(durabilityFaults.length === 0) : Number.NaN;
  });
  gauge(
    'tollgate_clock_skew_seconds',
    'max',
    "Seconds between this machine's clock and Redis', whichever is ahead",
    () => Math.abs(ledger.clockSkewMs()) / MS_PER_S,
  );
}

function bookGauges(gauge: MakeGauge, book: GaugeParts['book']): void {
  gauge('tollgate_book_up', 'min', '1: the book (database) answers and takes writes', () =>
    isUp(book.ping()),
  );
  gauge(
    'tollgate_alerts_queued',
    'max',
    `Alerts that no gateway has begun to send, at most ${ALERTS_COUNTED}; NaN: the book does not answer`,
    async () => (await book.queuedAlerts(ALERTS_COUNTED)).length,
  );
}

function isUp(asked: Promise<unknown>): Promise<number> {
  return asked.then(
    () => 1,
    () => 0,
  );
}

/** Wraps `ask` so that concurrent callers share one run and its result. */
function oneAtATime<T>(ask: () => Promise<T>): () => Promise<T> {
  let asked: Promise<T> | undefined;
  return () => {
    asked ??= ask().finally(() => {
      asked = undefined;
    });
    return asked;
  };
}

type Rows = Iterable<readonly [labels: Readonly<Record<string, string>>, value: number]>;

/** Registers a metric whose values, by labels, are read at each scrape. */
export function registerRead(
  registry: Registry,
  Metric: typeof Gauge | typeof Counter,
  options: {
    readonly name: string;
    readonly help: string;
    readonly labelNames?: string[];
    readonly aggregator?: Aggregator;
  },
  rows: () => Rows,
): void {
  new Metric({
    ...options,
    registers: [registry],
    collect() {
      this.reset();
      for (const [labels, value] of rows()) this.inc(labels, value);
    },
  });
}

/** Registers the metrics of the pools shared by accounts (shares/pools.ts), by pool name. */
export function registerPools(registry: Registry, pools: Pools): void {
  const ofPools = (read: (use: PoolUse) => number) => () =>
    Object.entries(pools).map(([pool, { use }]) => [{ pool }, read(use)] as const);
  const gauge = (name: string, help: string, read: (use: PoolUse) => number) =>
    registerRead(registry, Gauge, { name, help, labelNames: ['pool'], aggregator: 'sum' }, ofPools(read));
  gauge('tollgate_pool_places', 'Places taken in a pool that accounts share', (use) => use.places);
  gauge('tollgate_pool_bytes', 'Bytes taken in a pool', (use) => use.bytes);
  gauge('tollgate_pool_waiting', 'Requests waiting for their turn in a pool', (use) => use.waiting);
  const refused = {
    name: 'tollgate_pool_refused_total',
    help: 'Requests that found no room in a pool or in the share of their account',
    labelNames: ['pool'],
  };
  registerRead(
    registry,
    Counter,
    refused,
    ofPools((use) => use.refused),
  );
}

export function registerRefusals(
  registry: Registry,
  refusals: Pick<RefusalWriter, 'waiting' | 'dropped'>,
): void {
  const waiting = {
    name: 'tollgate_refusals_waiting',
    help: 'Refused calls waiting to be recorded in the book',
    aggregator: 'sum',
  } as const;
  registerRead(registry, Gauge, waiting, () => [[{}, refusals.waiting]]);
  const dropped = {
    name: 'tollgate_refusals_dropped_total',
    help: 'Refused calls not recorded, because the book is away or slow',
  };
  registerRead(registry, Counter, dropped, () => [[{}, refusals.dropped]]);
}

/** Registers the count of wrong operator tokens. */
export function registerTokens(registry: Registry, tokens: Pick<OperatorTokens, 'refused'>): void {
  const refused = {
    name: 'tollgate_operator_token_refusals_total',
    help: 'Requests refused because of wrong operator tokens: 401, and 429 after ten of an address in a minute',
  };
  registerRead(registry, Counter, refused, () => [[{}, tokens.refused]]);
}

/** Registers the metrics of targets, which are models at provider credentials. */
export function registerTargets(registry: Registry, health: Pick<TargetHealth, 'reports'>): void {
  const labelNames = ['target', 'model'];
  const ofTargets = (read: (report: TargetReport) => number) => () =>
    health.reports().map((report) => [placeOf(report), read(report)] as const);
  const counter = (name: string, help: string, read: (report: TargetReport) => number) =>
    registerRead(registry, Counter, { name, help, labelNames }, ofTargets(read));
  counter(
    'tollgate_target_calls_total',
    'Calls sent to a target; a call handed over counts at each',
    ({ calls }) => calls,
  );
  counter(
    'tollgate_target_failures_total',
    'Calls that failed there: no connection, 401, 403, 408, 429, 5xx, or an error before any content',
    ({ failed }) => failed,
  );
  const out = {
    name: 'tollgate_target_out',
    help: '1: the target failed, for the cause, and has not answered since; 0, without a cause: it is up',
    labelNames: [...labelNames, 'cause'],
    aggregator: 'max' as const,
  };
  registerRead(registry, Gauge, out, () =>
    health.reports().map((report) => {
      const { cause = '' } = report;
      return [{ ...placeOf(report), cause }, cause === '' ? 0 : 1];
    }),
  );
  const latency = {
    name: 'tollgate_target_latency_seconds',
    help: 'Moving average of the time until a target begins to answer',
    labelNames,
    aggregator: 'max',
  } as const;
  registerRead(
    registry,
    Gauge,
    latency,
    ofTargets(({ latencyMs = 0 }) => latencyMs / MS_PER_S),
  );
}

function placeOf({ target, model }: TargetReport) {
  return { target, model };
}
