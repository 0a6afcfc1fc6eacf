import type { FastifyInstance, FastifySchema } from 'fastify';
import type { Gatekeeper } from '../../gateway/gatekeeper.ts';
import { callingKey, readerOf } from '../http/callers.ts';
import { BY_KEY } from '../openapi/operation.ts';
import { OWNER_REFUSALS } from '../openapi/refusals.ts';
import { ENTRY_EXAMPLE, Entry } from './entry-schema.ts';
import { EntryPath, LedgerAnswer, LedgerQueryString } from './ledger-schema.ts';
import { type LedgerReading, readEntry, readLedger } from './read-ledger.ts';

export interface LedgerRouteDeps extends LedgerReading {
  readonly gatekeeper: Gatekeeper;
}

const docs = { tags: ['Account'], security: BY_KEY };

/** The owner's routes for the ledger and for one of its entries (specification section 7). */
export function ledgerRoutes(app: FastifyInstance, deps: LedgerRouteDeps): void {
  listRoute(app, deps);
  entryRoute(app, deps);
}

function listRoute(app: FastifyInstance, deps: LedgerRouteDeps): void {
  const schema: FastifySchema = {
    ...docs,
    operationId: 'listLedgerEntries',
    summary: 'List or export ledger entries',
    description:
      'Returns entries, newest first, including the call you just made. `format=csv` and `format=jsonl` stream all entries that ' +
      "match the other parameters, or the first `limit` of them. A key that can't manage sees only its own entries, without " +
      '`balance_after`.',
    querystring: LedgerQueryString,
    response: { 200: LedgerAnswer },
    'x-docs': {
      refusals: [...OWNER_REFUSALS, 'key_not_found', 'rate_limit_exceeded'],
      answer: { entries: [ENTRY_EXAMPLE], next: '1024' },
    },
  };
  app.get('/api/account/ledger/', { schema }, async (request, reply) => {
    const caller = await callingKey(deps.gatekeeper, request);
    return readLedger(deps, readerOf(caller), request, reply);
  });
}

function entryRoute(app: FastifyInstance, deps: LedgerRouteDeps): void {
  const schema: FastifySchema = {
    ...docs,
    operationId: 'readLedgerEntry',
    summary: 'Read a ledger entry',
    description:
      'Finds the charge of a call by its `x-request-id`, for streams too. ' +
      "A key that can't manage sees only its own entries.",
    params: EntryPath,
    response: { 200: Entry },
    'x-docs': { refusals: [...OWNER_REFUSALS, 'entry_not_found'], answer: ENTRY_EXAMPLE },
  };
  app.get('/api/account/ledger/:entry_id/', { schema }, async (request) => {
    const caller = await callingKey(deps.gatekeeper, request);
    return readEntry(deps, readerOf(caller), request);
  });
}
