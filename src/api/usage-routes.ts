import type { FastifyInstance, FastifySchema } from 'fastify';
import type { Gatekeeper } from '../gateway/gatekeeper.ts';
import { BY_KEY } from './docs/operation.ts';
import { OWNER_REFUSALS } from './docs/refusals.ts';
import { USAGE_EXAMPLE, UsageQueryString, UsageReport } from './ledger-schema.ts';
import { callingKey } from './may-manage.ts';
import { readUsage, type UsageReading } from './read-usage.ts';
import { readerOf } from './reader.ts';

export interface UsageRouteDeps extends UsageReading {
  readonly gatekeeper: Gatekeeper;
}

/** `GET /api/account/usage/`: calls, credits and units used, by day, key or model (specification section 7). */
export function usageRoute(app: FastifyInstance, deps: UsageRouteDeps): void {
  const schema: FastifySchema = {
    tags: ['Account'],
    security: BY_KEY,
    operationId: 'readUsage',
    summary: 'Sum up usage',
    description:
      'Calls, credits and units of the account over whole UTC days, by day, key or model. A key that cannot manage sees its ' +
      'own only.',
    querystring: UsageQueryString,
    response: { 200: UsageReport },
    'x-docs': { refusals: [...OWNER_REFUSALS, 'key_not_found'], answer: USAGE_EXAMPLE },
  };
  app.get('/api/account/usage/', { schema }, async (request) => {
    const caller = await callingKey(deps.gatekeeper, request);
    return readUsage(deps, readerOf(caller), request);
  });
}
