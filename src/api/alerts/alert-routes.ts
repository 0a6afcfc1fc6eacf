import type { FastifyInstance, FastifyRequest, FastifySchema } from 'fastify';
import type { Book } from '../../book/book.ts';
import { readQuery } from '../../domain/shape.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { beforeTheBody, callerOf, type WriteParts } from '../http/callers.ts';
import { refuseTooOften } from '../http/rates.ts';
import { BY_ACCOUNT, MANAGING_REFUSALS } from '../openapi/operation.ts';
import {
  ALERT_LIST_EXAMPLE,
  AlertList,
  type AlertListView,
  AlertQuery,
  alertView,
  MOST_RECEIVERS,
  QueuedAlert,
  receiverViews,
} from './alert-view.ts';

export interface AlertRouteDeps extends WriteParts {
  readonly book: Book;
  readonly ledger: Ledger;
  /** Wakes the worker that sends queued alerts. */
  readonly alerts: { notify(): void };
}

const docs = { tags: ['Account'], security: BY_ACCOUNT };

/** Routes that list low-credits alerts with their deliveries, and send a test (specification sections 6 and 7). */
export function alertRoutes(app: FastifyInstance, deps: AlertRouteDeps): void {
  listRoute(app, deps);
  testRoute(app, deps);
}

function listRoute(app: FastifyInstance, deps: AlertRouteDeps): void {
  const schema: FastifySchema = {
    ...docs,
    operationId: 'listAlerts',
    summary: 'List low-credits alerts',
    description:
      'Returns the keys whose webhooks get alerts, and alerts, including test alerts, with the outcome of each delivery.',
    querystring: AlertQuery.schema,
    response: { 200: AlertList },
    'x-docs': { may: ['read alerts'], refusals: MANAGING_REFUSALS, answer: ALERT_LIST_EXAMPLE },
  };
  app.get('/api/account/alerts/', { schema }, async (request) => {
    const { accountId } = await callerOf(deps, request, 'read alerts');
    return readAlerts(deps, accountId, request);
  });
}

/** Alerts that `last` of receivers looks at, however few alerts are asked for. */
const LOOKED_AT = 20;

/** Receivers and newest alerts of an account, up to the query's `limit`. */
export async function readAlerts(
  { book, ledger }: { readonly book: Book; readonly ledger: Pick<Ledger, 'flush'> },
  accountId: number,
  request: FastifyRequest,
): Promise<AlertListView> {
  const { limit } = readQuery(AlertQuery, request.query);
  await ledger.flush(accountId);
  const [receivers, alerts] = await Promise.all([
    book.receivers(accountId, Date.now(), MOST_RECEIVERS),
    book.alerts(accountId, Math.max(limit, LOOKED_AT)),
  ]);
  return {
    receivers: receiverViews(receivers, alerts),
    alerts: alerts.slice(0, limit).map(alertView),
  };
}

function testRoute(app: FastifyInstance, deps: AlertRouteDeps): void {
  const { book, ledger, alerts } = deps;
  const schema: FastifySchema = {
    ...docs,
    operationId: 'sendTestAlert',
    summary: 'Send a test alert',
    description:
      'Queues one test alert, marked by a header, to the `webhook_url` of active keys: at most 20 addresses, each once, ' +
      "the calling key's first. An account can send five a minute. Takes no body.",
    response: { 200: QueuedAlert },
    'x-docs': {
      may: ['send test alerts'],
      refusals: [...MANAGING_REFUSALS, 'rate_limit_exceeded'],
      answer: { id: 4 },
    },
  };
  const onRequest = beforeTheBody(deps, 'send test alerts');
  app.post('/api/account/alerts/test/', { schema, onRequest }, async (request) => {
    const { key, accountId, actor } = await callerOf(deps, request, 'send test alerts');
    const { balance } = await ledger.account(accountId);
    const id = await book
      .createTestAlert(accountId, key?.id ?? null, balance, Date.now(), actor)
      .catch(refuseTooOften);
    alerts.notify();
    return { id };
  });
}
