import type { FastifyInstance, FastifySchema } from 'fastify';
import { type CallerParts, callerOf, readerOf } from '../http/callers.ts';
import { listAnswer } from '../http/export-formats.ts';
import { BY_ACCOUNT, BY_OPERATOR, OPERATOR_REFUSALS, OWNER_REFUSALS } from '../openapi/operation.ts';
import {
  CALL_EXAMPLE,
  Call,
  CallPage,
  callsCsvHeader,
  callsCsvLine,
  OperatorCall,
  OperatorCallPage,
} from './call-view.ts';
import { AllCallsFilters, AllCallsQuery, CallsFilters, CallsQuery } from './calls-query.ts';
import {
  CallPath,
  type CallsReading,
  readAllCalls,
  readCall,
  readCallOfAll,
  readCalls,
  readSummary,
  readSummaryOfAll,
} from './read-calls.ts';
import {
  CallSummarySchema,
  OPERATOR_SUMMARY_EXAMPLE,
  OperatorCallSummarySchema,
  SUMMARY_EXAMPLE,
} from './summary-view.ts';

export type CallsRouteDeps = CallsReading & CallerParts;

const OPERATOR_EXAMPLE = {
  ...CALL_EXAMPLE,
  account_id: 1,
  account_email: 'owner@example.com',
  cost: '0.008034',
};

export const CallsAnswer = listAnswer('calls', CallPage, {
  csv: callsCsvHeader(false) + callsCsvLine(CALL_EXAMPLE),
  jsonl: CALL_EXAMPLE,
});

const AllCallsAnswer = listAnswer('calls', OperatorCallPage, {
  csv: callsCsvHeader(true) + callsCsvLine(OPERATOR_EXAMPLE),
  jsonl: OPERATOR_EXAMPLE,
});

const docs = { tags: ['Account'], security: BY_ACCOUNT };

/** The owner's routes for recorded calls (specification section 14). */
export function callsRoutes(app: FastifyInstance, deps: CallsRouteDeps): void {
  const list: FastifySchema = {
    ...docs,
    operationId: 'listCalls',
    summary: 'List or export calls',
    description:
      'Returns model calls and their outcomes, newest first. Refused calls appear within 2 s and are kept for ' +
      '`calls.refusalDays` (30 days). `format=csv` and `format=jsonl` stream all calls that match the other parameters. A key ' +
      "that can't manage sees only its own calls.",
    querystring: CallsQuery.schema,
    response: { 200: CallsAnswer },
    'x-docs': {
      may: ['read calls'],
      refusals: [...OWNER_REFUSALS, 'key_not_found', 'rate_limit_exceeded'],
      answer: { calls: [CALL_EXAMPLE], next: null },
    },
  };
  app.get('/api/account/calls/', { schema: list }, async (request, reply) => {
    const caller = await callerOf(deps, request, 'read calls');
    return readCalls(deps, readerOf(caller), request, reply);
  });
  const summary: FastifySchema = {
    ...docs,
    operationId: 'summarizeCalls',
    summary: 'Sum up calls',
    description:
      'Counts the calls that the same query of the list returns: by result, time, error, model, key, member and path. ' +
      'Without `from`, the buckets begin with the oldest call; without `to`, they end now.',
    querystring: CallsFilters.schema,
    response: { 200: CallSummarySchema },
    'x-docs': {
      may: ['read calls'],
      refusals: [...OWNER_REFUSALS, 'key_not_found'],
      answer: SUMMARY_EXAMPLE,
    },
  };
  app.get('/api/account/calls/summary/', { schema: summary }, async (request) => {
    const caller = await callerOf(deps, request, 'read calls');
    return readSummary(deps, readerOf(caller), request);
  });
  const one: FastifySchema = {
    ...docs,
    operationId: 'readCall',
    summary: 'Read a call',
    description: "Finds the call by its `x-request-id`. A key that can't manage sees only its own calls.",
    params: CallPath,
    response: { 200: Call },
    'x-docs': {
      may: ['read calls'],
      refusals: [...OWNER_REFUSALS, 'call_not_found'],
      answer: CALL_EXAMPLE,
    },
  };
  app.get('/api/account/calls/:call_id/', { schema: one }, async (request) => {
    const caller = await callerOf(deps, request, 'read calls');
    return readCall(deps, readerOf(caller), request);
  });
}

/** `GET /api/admin/calls/`: the calls of all accounts (specification section 14). */
export function adminCallsRoute(app: FastifyInstance, deps: CallsReading): void {
  const schema: FastifySchema = {
    tags: ['Operator'],
    security: BY_OPERATOR,
    operationId: 'listCallsOfAll',
    summary: 'List or export the calls of all accounts',
    description:
      'Returns the answer of `/api/account/calls/` for all accounts, with the account of each call.',
    querystring: AllCallsQuery.schema,
    response: { 200: AllCallsAnswer },
    'x-docs': {
      refusals: [...OPERATOR_REFUSALS, 'account_not_found', 'key_not_found'],
      answer: { calls: [OPERATOR_EXAMPLE], next: null },
    },
  };
  app.get('/api/admin/calls/', { schema }, (request, reply) => readAllCalls(deps, request, reply));
  const summary: FastifySchema = {
    tags: ['Operator'],
    security: BY_OPERATOR,
    operationId: 'summarizeCallsOfAll',
    summary: 'Sum up the calls of all accounts',
    description: 'Returns the answer of `/api/account/calls/summary/`, with accounts and providers.',
    querystring: AllCallsFilters.schema,
    response: { 200: OperatorCallSummarySchema },
    'x-docs': {
      refusals: [...OPERATOR_REFUSALS, 'account_not_found', 'key_not_found'],
      answer: OPERATOR_SUMMARY_EXAMPLE,
    },
  };
  app.get('/api/admin/calls/summary/', { schema: summary }, (request) => readSummaryOfAll(deps, request));
  const one: FastifySchema = {
    tags: ['Operator'],
    security: BY_OPERATOR,
    operationId: 'readCallOfAll',
    summary: 'Read a call of any account',
    description: 'Finds the call by its `x-request-id`, and adds its account.',
    params: CallPath,
    response: { 200: OperatorCall },
    'x-docs': { refusals: [...OPERATOR_REFUSALS, 'call_not_found'], answer: OPERATOR_EXAMPLE },
  };
  app.get('/api/admin/calls/:call_id/', { schema: one }, (request) => readCallOfAll(deps, request));
}
