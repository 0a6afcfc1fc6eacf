import type { FastifyInstance, FastifySchema } from 'fastify';
import type { Book } from '../../book/book.ts';
import { VERSION } from '../../config/version.ts';
import { timestamp } from '../../domain/period.ts';
import type { GatewayFacts } from '../attention/operator-attention.ts';
import { BY_OPERATOR, OPERATOR_REFUSALS } from '../openapi/operation.ts';
import type { OpsDeps } from '../ops/ops-routes.ts';
import { HEALTH_EXAMPLE, Health, type HealthView } from './health-view.ts';

const DAY_MS = 86_400_000;
/** Most queued alerts that are counted. */
const ALERTS_COUNTED = 1_000;

/** Facts of the process that are not about what its operator must act on. */
interface ProcessFacts {
  readonly refusals: { readonly waiting: number; readonly dropped: number };
  /** When a restricted key was last checked by the address of an unnamed proxy; undefined: never. */
  readonly unnamedProxyAt: number | undefined;
  readonly clockSkewMs: number;
}

export interface HealthDeps extends Pick<OpsDeps, 'readiness'> {
  readonly book: Book;
  readonly gatewayFacts: () => Promise<GatewayFacts>;
  readonly processFacts: () => ProcessFacts;
}

const SCHEMA: FastifySchema = {
  tags: ['Operator'],
  security: BY_OPERATOR,
  operationId: 'readGatewayHealth',
  summary: 'Read the health of the gateway',
  description:
    'Returns the state of Redis, database, journal and alerts, and what the answering process has noticed. Metrics have the ' +
    'same values over time.',
  response: { 200: Health },
  'x-docs': { refusals: OPERATOR_REFUSALS, answer: HEALTH_EXAMPLE },
};

/** `GET /api/admin/health/`: for the operator's page. Answers while Redis or the database does not. */
export function adminHealthRoute(app: FastifyInstance, deps: HealthDeps): void {
  app.get('/api/admin/health/', { schema: SCHEMA }, async (): Promise<HealthView> => {
    const since = Date.now() - DAY_MS;
    const [{ redis, book }, { journal, unknownMembers }, alerts] = await Promise.all([
      deps.readiness(),
      deps.gatewayFacts(),
      alertsOf(deps.book, since).catch(() => null),
    ]);
    const { refusals, unnamedProxyAt = 0, clockSkewMs } = deps.processFacts();
    return {
      version: VERSION,
      redis,
      book,
      journal: journal
        ? {
            entries: journal.entries,
            age_ms: Math.max(0, Math.round(journal.ageMs)),
            refused: journal.refused,
          }
        : null,
      alerts,
      refused_calls: { waiting: refusals.waiting, dropped: refusals.dropped },
      unknown_members: [...unknownMembers]
        .filter(([, at]) => at > since)
        .map(([name, at]) => ({ name, at: timestamp(at) })),
      unnamed_proxy_at: unnamedProxyAt > since ? timestamp(unnamedProxyAt) : null,
      clock_skew_ms: Math.round(clockSkewMs),
    };
  });
}

async function alertsOf(book: Book, since: number): Promise<NonNullable<HealthView['alerts']>> {
  const [queued, deliveries] = await Promise.all([
    book.queuedAlerts(ALERTS_COUNTED),
    book.lastDeliveries({ since }),
  ]);
  return {
    queued: queued.length,
    failing: deliveries.filter(({ status }) => status !== 'delivered').length,
  };
}
