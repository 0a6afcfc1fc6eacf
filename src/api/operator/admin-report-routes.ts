import type { FastifyInstance, FastifyRequest, FastifySchema } from 'fastify';
import { AccountEntryPath, AccountPath } from '../account/account-view.ts';
import { readAlerts } from '../alerts/alert-routes.ts';
import { ALERT_LIST_EXAMPLE, AlertList, AlertQuery } from '../alerts/alert-view.ts';
import { CALL_EXAMPLE } from '../calls/call-view.ts';
import { OperatorCallsFilters, OperatorCallsQuery } from '../calls/calls-query.ts';
import { CallsAnswer } from '../calls/calls-routes.ts';
import { readCalls, readSummaryOfAccount } from '../calls/read-calls.ts';
import { OPERATOR_SUMMARY_EXAMPLE, OperatorCallSummarySchema } from '../calls/summary-view.ts';
import type { Reader } from '../http/callers.ts';
import { OPERATOR } from '../http/long-answer.ts';
import { ENTRY_EXAMPLE, READ_ENTRY_EXAMPLE, ReadEntry } from '../ledger/entry-view.ts';
import { EntryQuery, LedgerAnswer, LedgerFilters, readEntry, readLedger } from '../ledger/ledger-routes.ts';
import { adminLimitsRoute } from '../limits/limits-routes.ts';
import { BY_OPERATOR, OPERATOR_REFUSALS } from '../openapi/operation.ts';
import { readUsage } from '../usage/usage-routes.ts';
import { USAGE_EXAMPLE, UsageQuery, UsageReport } from '../usage/usage-view.ts';
import { type AdminDeps, accountOf } from './admin-account-routes.ts';

const docs = { tags: ['Operator'], security: BY_OPERATOR };
const PATH = '/api/admin/accounts/:account_id/';
const ACCOUNT_REFUSALS = [...OPERATOR_REFUSALS, 'account_not_found'] as const;

/** The operator's routes for an account's ledger, usage and alerts, as the owner sees them (specification section 7). */
export function adminReportRoutes(app: FastifyInstance, deps: AdminDeps): void {
  const readerOf = async (request: FastifyRequest): Promise<Reader> => {
    const { id } = await accountOf(deps.book, request);
    return { accountId: id, onlyKeyId: undefined, owner: OPERATOR };
  };
  app.get(`${PATH}ledger/`, { schema: LEDGER }, async (request, reply) =>
    readLedger(deps, await readerOf(request), request, reply),
  );
  app.get(`${PATH}ledger/:entry_id/`, { schema: ENTRY }, async (request) =>
    readEntry(deps, await readerOf(request), request),
  );
  app.get(`${PATH}calls/`, { schema: ACCOUNT_CALLS }, async (request, reply) =>
    readCalls(deps, await readerOf(request), request, reply, OperatorCallsQuery),
  );
  app.get(`${PATH}calls/summary/`, { schema: ACCOUNT_SUMMARY }, async (request) =>
    readSummaryOfAccount(deps, await readerOf(request), request),
  );
  app.get(`${PATH}usage/`, { schema: USAGE }, async (request) =>
    readUsage(deps, await readerOf(request), request),
  );
  adminLimitsRoute(app, deps);
  app.get(`${PATH}alerts/`, { schema: ALERTS }, async (request) => {
    const { accountId } = await readerOf(request);
    return readAlerts(deps, accountId, request);
  });
}

const LEDGER: FastifySchema = {
  ...docs,
  operationId: 'listLedgerEntriesOfAccount',
  summary: 'List or export the ledger of an account',
  description: 'Returns the answer of `/api/account/ledger/`.',
  params: AccountPath,
  querystring: LedgerFilters.schema,
  response: { 200: LedgerAnswer },
  'x-docs': {
    refusals: [...ACCOUNT_REFUSALS, 'key_not_found', 'rate_limit_exceeded'],
    answer: { entries: [ENTRY_EXAMPLE], next: '1024' },
  },
};

const ENTRY: FastifySchema = {
  ...docs,
  operationId: 'readLedgerEntryOfAccount',
  summary: 'Read a ledger entry of an account',
  params: AccountEntryPath,
  querystring: EntryQuery.schema,
  response: { 200: ReadEntry },
  'x-docs': { refusals: [...ACCOUNT_REFUSALS, 'entry_not_found'], answer: READ_ENTRY_EXAMPLE },
};

const ACCOUNT_CALLS: FastifySchema = {
  ...docs,
  operationId: 'listCallsOfAccount',
  summary: 'List or export the calls of an account',
  description: 'Returns the answer of `/api/account/calls/`. You can also filter by `upstream`.',
  params: AccountPath,
  querystring: OperatorCallsQuery.schema,
  response: { 200: CallsAnswer },
  'x-docs': {
    refusals: [...ACCOUNT_REFUSALS, 'key_not_found', 'rate_limit_exceeded'],
    answer: { calls: [CALL_EXAMPLE], next: null },
  },
};

const ACCOUNT_SUMMARY: FastifySchema = {
  ...docs,
  operationId: 'summarizeCallsOfAccount',
  summary: 'Sum up the calls of an account',
  description: 'Returns the answer of `/api/admin/calls/summary/` for the account.',
  params: AccountPath,
  querystring: OperatorCallsFilters.schema,
  response: { 200: OperatorCallSummarySchema },
  'x-docs': { refusals: [...ACCOUNT_REFUSALS, 'key_not_found'], answer: OPERATOR_SUMMARY_EXAMPLE },
};

const USAGE: FastifySchema = {
  ...docs,
  operationId: 'readUsageOfAccount',
  summary: 'Report the usage of an account',
  description: 'Returns the answer of `/api/account/usage/`.',
  params: AccountPath,
  querystring: UsageQuery.schema,
  response: { 200: UsageReport },
  'x-docs': { refusals: [...ACCOUNT_REFUSALS, 'key_not_found'], answer: USAGE_EXAMPLE },
};

const ALERTS: FastifySchema = {
  ...docs,
  operationId: 'listAlertsOfAccount',
  summary: 'List the low-credits alerts of an account',
  description: 'Returns the answer of `/api/account/alerts/`.',
  params: AccountPath,
  querystring: AlertQuery.schema,
  response: { 200: AlertList },
  'x-docs': { refusals: ACCOUNT_REFUSALS, answer: ALERT_LIST_EXAMPLE },
};
