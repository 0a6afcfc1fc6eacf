import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyInstance, FastifyRequest, FastifySchema } from 'fastify';
import type { Book } from '../../book/book.ts';
import type { Gatekeeper } from '../../gateway/gatekeeper.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Pools } from '../../shares/pools.ts';
import { callingKey, keyAsked, type Reader, readerOf } from '../http/callers.ts';
import { queryOf } from '../http/query.ts';
import {
  DEFAULT_USAGE_GROUP,
  USAGE_EXAMPLE,
  USAGE_GROUPS,
  UsageQueryString,
  UsageReport,
} from '../ledger/ledger-schema.ts';
import { BY_KEY } from '../openapi/operation.ts';
import { OWNER_REFUSALS } from '../openapi/refusals.ts';
import { joinedGroups, namesIn } from './joined-groups.ts';
import { daysAsSpan, groupsParam, usageDays, usageHours } from './usage-days.ts';
import { type UsageReportView, usageReportView } from './usage-view.ts';

export interface UsageReading {
  readonly book: Book;
  readonly ledger: Pick<Ledger, 'flush'>;
  readonly pools: Pools;
  /** Milliseconds since the epoch; default Date.now. */
  readonly now?: () => number;
}

export interface UsageRouteDeps extends UsageReading {
  readonly gatekeeper: Gatekeeper;
}

/** Route `GET /api/account/usage/`: calls, credits and units used, by hour, day, key or model (specification section 7). */
export function usageRoute(app: FastifyInstance, deps: UsageRouteDeps): void {
  const schema: FastifySchema = {
    tags: ['Account'],
    security: BY_KEY,
    operationId: 'readUsage',
    summary: 'Report usage',
    description:
      'Sums calls, credits and units of the account over whole UTC days, by hour, day, key or model, or by two of them. ' +
      "A key that can't manage sees only its own.",
    querystring: UsageQueryString,
    response: { 200: UsageReport },
    'x-docs': { refusals: [...OWNER_REFUSALS, 'key_not_found'], answer: USAGE_EXAMPLE },
  };
  app.get('/api/account/usage/', { schema }, async (request) => {
    const caller = await callingKey(deps.gatekeeper, request);
    return readUsage(deps, readerOf(caller), request);
  });
}

/** The usage report that a query asks for, of the account or the only key that the reader may see. */
export async function readUsage(
  { book, ledger, now = Date.now }: UsageReading,
  reader: Reader,
  request: FastifyRequest,
): Promise<UsageReportView> {
  const query = queryOf(request);
  const groups = groupsParam(query, USAGE_GROUPS, DEFAULT_USAGE_GROUP);
  const [group] = groups;
  const { accountId } = reader;
  if (groups.length === 1 && group && group !== 'hour') {
    const days = usageDays(query, now());
    const keyId = await keyAsked(book, query, reader);
    await ledger.flush(accountId);
    const found = await book.usage(accountId, days.from, days.to + 1, group, keyId);
    const rows = found.map(({ group: place, ...sums }) => ({ groups: [place], ...sums }));
    return usageReportView(days, groups, rows, await namesIn(book, groups, rows));
  }
  const span = groups.includes('hour') ? usageHours(query, now()) : daysAsSpan(usageDays(query, now()));
  const keyId = await keyAsked(book, query, reader);
  await ledger.flush(accountId);
  const rows = await joinedGroups(book.usageBy({ accountId, keyId, groups, ...span.times }));
  const report = usageReportView(span, groups, rows, await namesIn(book, groups, rows));
  // To write 15,000 rows as JSON takes as long again as to make them: in its own turn.
  await nextTurn();
  return report;
}
