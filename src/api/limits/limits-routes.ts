import type { FastifyInstance, FastifySchema } from 'fastify';
import { AccountPath } from '../account/account-view.ts';
import { type CallerParts, callerOf, readerOf } from '../http/callers.ts';
import { OPERATOR } from '../http/long-answer.ts';
import { BY_ACCOUNT, BY_OPERATOR, OPERATOR_REFUSALS, OWNER_REFUSALS } from '../openapi/operation.ts';
import { accountOf } from '../operator/admin-account-routes.ts';
import { ACCOUNT_LIMITS_EXAMPLE, AccountLimits, LimitsQuery } from './account-limit-view.ts';
import { type LimitsReading, readLimits } from './read-limits.ts';

/** `GET /api/account/limits/`: the spending limits of an account, its members and its keys. */
export function limitsRoute(app: FastifyInstance, deps: LimitsReading & CallerParts): void {
  const schema: FastifySchema = {
    tags: ['Account'],
    security: BY_ACCOUNT,
    operationId: 'listLimits',
    summary: 'List spending limits',
    description:
      'Returns the spending limits of the account, its active members and its active keys with what is left, the largest ' +
      "used share first. A member, and a key that can't manage, see the limits that bind them, those of the account " +
      'without its spend.',
    querystring: LimitsQuery.schema,
    response: { 200: AccountLimits },
    'x-docs': { may: ['read limits'], refusals: OWNER_REFUSALS, answer: ACCOUNT_LIMITS_EXAMPLE },
  };
  app.get('/api/account/limits/', { schema }, async (request) => {
    const caller = await callerOf(deps, request, 'read limits');
    return await readLimits(deps, readerOf(caller), request);
  });
}

/** `GET /api/admin/accounts/<id>/limits/`. */
export function adminLimitsRoute(app: FastifyInstance, deps: LimitsReading): void {
  const schema: FastifySchema = {
    tags: ['Operator'],
    security: BY_OPERATOR,
    operationId: 'listLimitsOfAccount',
    summary: 'List the spending limits of an account',
    description: 'Returns the answer of `/api/account/limits/`.',
    params: AccountPath,
    querystring: LimitsQuery.schema,
    response: { 200: AccountLimits },
    'x-docs': {
      refusals: [...OPERATOR_REFUSALS, 'account_not_found'],
      answer: ACCOUNT_LIMITS_EXAMPLE,
    },
  };
  app.get('/api/admin/accounts/:account_id/limits/', { schema }, async (request) => {
    const { id } = await accountOf(deps.book, request);
    return await readLimits(deps, { accountId: id, onlyKeyId: undefined, owner: OPERATOR }, request);
  });
}
