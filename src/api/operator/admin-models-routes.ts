import type { FastifyInstance, FastifySchema } from 'fastify';
import type { Book } from '../../book/book.ts';
import { type Catalog, type Model, placesOf, targetName, type WireFormat } from '../../domain/catalog.ts';
import { periodStarts, timestamp } from '../../domain/period.ts';
import type { TargetHealth, TargetReport } from '../../gateway/targets/target-health.ts';
import { attemptsOf, type KnownAttempt } from '../attention/operator-attention.ts';
import { MODEL_EXAMPLE, OperatorModelList } from '../models/model-view.ts';
import { operatorModelListView } from '../models/models-route.ts';
import { BY_OPERATOR, OPERATOR_REFUSALS } from '../openapi/operation.ts';
import { PROVIDERS_EXAMPLE, ProviderList, type ProviderListView } from './providers-view.ts';

const MODELS: FastifySchema = {
  tags: ['Operator'],
  security: BY_OPERATOR,
  operationId: 'listModelsOfOperator',
  summary: 'List models with their list prices and targets',
  description: 'Returns every model with the source of its price and its list price.',
  response: { 200: OperatorModelList },
  'x-docs': {
    refusals: OPERATOR_REFUSALS,
    answer: {
      models: [
        { ...MODEL_EXAMPLE, source: 'config', list_price: null, targets: ['demo'], price_until: null },
      ],
    },
  },
};

/** Route `GET /api/admin/models/`. */
export function adminModelsRoute(app: FastifyInstance, { catalog }: { catalog: () => Catalog }): void {
  app.get('/api/admin/models/', { schema: MODELS }, async () => operatorModelListView(catalog()));
}

export interface ProvidersDeps {
  readonly catalog: () => Catalog;
  readonly health: Pick<TargetHealth, 'report'>;
  readonly book: Book;
}

const PROVIDERS: FastifySchema = {
  tags: ['Operator'],
  security: BY_OPERATOR,
  operationId: 'listProviders',
  summary: 'List providers and the health of their targets',
  description:
    'Returns each model at each of its credentials. `state`, `cause`, `out_until` and `latency_ms` are what the answering ' +
    'process saw: each learns by itself. Calls, attempts and errors are those of all gateways.',
  response: { 200: ProviderList },
  'x-docs': { refusals: OPERATOR_REFUSALS, answer: PROVIDERS_EXAMPLE },
};

/** Failed calls among which the last error of a target is looked for. */
const FAILED_CALLS = 200;

export function adminProvidersRoute(app: FastifyInstance, { catalog, health, book }: ProvidersDeps): void {
  app.get('/api/admin/providers/', { schema: PROVIDERS }, async () => {
    const places = [...placesOf(catalog())];
    const records = await readRecords(book, new Set(places.map(({ upstream }) => upstream.name)));
    return providerListView(places, health, records);
  });
}

/** What the book has about targets: calls and errors by `upstream model`, whatever the credential. */
interface TargetRecords {
  readonly calls: ReadonlyMap<string, number>;
  readonly errors: ReadonlyMap<string, { readonly text: string; readonly at: number }>;
  /** Attempts of the last 24 hours by `target model`. */
  readonly attempts: ReadonlyMap<string, readonly KnownAttempt[]>;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

async function readRecords(
  book: ProvidersDeps['book'],
  upstreams: ReadonlySet<string>,
): Promise<TargetRecords> {
  const { day: today } = periodStarts(Date.now());
  const calls = new Map<string, number>();
  const sums = book.usageBy({ groups: ['upstream', 'model'], from: today, to: today + 1 });
  for await (const rows of sums) {
    for (const { groups, calls: some } of rows) {
      const name = groups.join(' ');
      calls.set(name, (calls.get(name) ?? 0) + some);
    }
  }
  const errors = new Map<string, { text: string; at: number }>();
  for (const call of await book.calls({ result: 'failed', limit: FAILED_CALLS })) {
    if (call.refused || call.entry.outcome === 'client_left') continue;
    const { entry } = call;
    const text = entry.message ?? entry.code ?? entry.outcome ?? '';
    const name = `${entry.upstream} ${entry.model}`;
    if (!errors.has(name)) errors.set(name, { text, at: entry.createdAt });
  }
  const recent = [];
  for (const upstream of upstreams) recent.push(...(await book.providerCalls(upstream, Date.now() - DAY_MS)));
  const attempts = Map.groupBy(attemptsOf(recent), ({ target, model }) => `${target} ${model}`);
  return { calls, errors, attempts };
}

type TargetRecord = TargetReport &
  Formats & {
    readonly attempts: readonly KnownAttempt[];
  };

interface Formats {
  readonly formats: WireFormat[];
  /** Those whose address is out. */
  readonly formatsOut: WireFormat[];
}

/** A target at all its places, which are out if one of them is. */
function atAll(places: readonly Model[], health: ProvidersDeps['health']): TargetReport & Formats {
  const reports = places.map((model) => ({ format: model.upstream.format, report: health.report(model) }));
  const out = reports.filter(({ report }) => report.state === 'out');
  const [worst] = [...out, ...reports];
  if (!worst) throw new Error('a target has no place');
  const unique = (some: typeof reports) => [...new Set(some.map(({ format }) => format))];
  return { ...worst.report, formats: unique(reports), formatsOut: unique(out) };
}

/** A process' report with the calls and attempts of the record, and the newer of both errors. */
function withRecord(
  upstream: string,
  report: TargetReport & Formats,
  { calls, errors, attempts }: TargetRecords,
): TargetRecord {
  const name = `${upstream} ${report.model}`;
  const error = errors.get(name);
  const isNewer = error && error.at > (report.lastErrorAt ?? 0);
  return {
    ...report,
    calls: calls.get(name) ?? 0,
    attempts: attempts.get(`${report.target} ${report.model}`) ?? [],
    ...(isNewer ? { lastError: error.text, lastErrorAt: error.at } : {}),
  };
}

function providerListView(
  all: readonly Model[],
  health: ProvidersDeps['health'],
  records: TargetRecords,
): ProviderListView {
  return {
    providers: [...Map.groupBy(all, ({ upstream }) => upstream.name)].map(([name, places]) => ({
      name,
      format: places[0]?.upstream.format ?? 'openai',
      targets: [
        ...Map.groupBy(places, ({ upstream, slug }) => `${targetName(upstream)} ${slug}`).values(),
      ].map((at) => targetView(withRecord(name, atAll(at, health), records))),
    })),
  };
}

function targetView(report: TargetRecord): ProviderListView['providers'][number]['targets'][number] {
  const { target, model, state, cause, outSince, outUntil, lastError, lastErrorAt, latencyMs, calls } =
    report;
  const now = Date.now();
  const time = (at: number | undefined) => (at === undefined ? null : timestamp(at));
  return {
    target,
    model,
    formats: report.formats,
    state,
    formats_out: report.formatsOut,
    cause: cause ?? null,
    out_since: time(outSince),
    out_until: time(outUntil),
    last_error: lastError ?? null,
    last_error_at: time(lastErrorAt),
    latency_ms: latencyMs === undefined ? null : Math.round(latencyMs),
    hour: countsSince(report.attempts, now - HOUR_MS),
    day: countsSince(report.attempts, now - DAY_MS),
    calls,
  };
}

function countsSince(attempts: readonly KnownAttempt[], since: number) {
  const recent = attempts.filter(({ at }) => at >= since);
  return { attempts: recent.length, failed: recent.filter(({ hasFailed }) => hasFailed).length };
}
