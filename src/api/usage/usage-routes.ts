import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyInstance, FastifyRequest, FastifySchema } from 'fastify';
import type { Book } from '../../book/book.ts';
import type { UsageByRow, UsagePlace, UsageRow } from '../../book/usage.ts';
import { invalidField } from '../../domain/errors.ts';
import { readQuery } from '../../domain/shape.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Pools } from '../../shares/pools.ts';
import { type CallerParts, callerOf, keyAsked, type Reader, readerOf } from '../http/callers.ts';
import { BY_ACCOUNT, OWNER_REFUSALS } from '../openapi/operation.ts';
import { addMargin, type MarginSums, noMargin } from '../operator/margin-view.ts';
import { reportSpan } from './usage-days.ts';
import {
  type Names,
  USAGE_EXAMPLE,
  UsageQuery,
  UsageReport,
  type UsageReportView,
  usageReportView,
} from './usage-view.ts';

export interface UsageReading {
  readonly book: Book;
  readonly ledger: Pick<Ledger, 'flush'>;
  readonly pools: Pools;
}

type UsageRouteDeps = UsageReading & CallerParts;

/** Route `GET /api/account/usage/`: calls, credits and units used, by hour, day, key or model (specification section 7). */
export function usageRoute(app: FastifyInstance, deps: UsageRouteDeps): void {
  const schema: FastifySchema = {
    tags: ['Account'],
    security: BY_ACCOUNT,
    operationId: 'readUsage',
    summary: 'Report usage',
    description:
      'Sums calls, credits and units of the account over whole UTC days, by hour, day, key or model, or by two of them. ' +
      "A key that can't manage sees only its own.",
    querystring: UsageQuery.schema,
    response: { 200: UsageReport },
    'x-docs': {
      may: ['read usage'],
      refusals: [...OWNER_REFUSALS, 'key_not_found'],
      answer: USAGE_EXAMPLE,
    },
  };
  app.get('/api/account/usage/', { schema }, async (request) => {
    const caller = await callerOf(deps, request, 'read usage');
    return readUsage(deps, readerOf(caller), request);
  });
}

/** Usage report for a query, of the account or the only key that the reader may see. */
export async function readUsage(
  { book, ledger }: UsageReading,
  reader: Reader,
  request: FastifyRequest,
): Promise<UsageReportView> {
  const { groupBy: groups, keyId: asked, ...days } = readQuery(UsageQuery, request.query);
  const [group] = groups;
  const span = reportSpan(days, groups, Date.now());
  const keyId = await keyAsked(book, asked, reader);
  const { accountId, onlyPersonId: personId } = reader;
  await ledger.flush(accountId);
  if (groups.length === 1 && group && group !== 'hour') {
    const found = await book.usage(accountId, span.times.from, span.times.to, group, { keyId, personId });
    const rows = found.map(({ group: place, ...sums }) => ({ groups: [place], ...sums }));
    return usageReportView(span, groups, rows, await namesIn(book, groups, rows));
  }
  const rows = await joinedGroups(book.usageBy({ accountId, keyId, personId, groups, ...span.times }));
  const report = usageReportView(span, groups, rows, await namesIn(book, groups, rows));
  // Writing 15,000 rows as JSON takes as long as building them, so it gets its own turn.
  await nextTurn();
  return report;
}

/** Maximum rows of a report by two fields, or by hour. At this size no step blocks the event loop for 50 ms. */
const MOST_ROWS = 15_000;

/** Joins the parts of a report, each group once, ordered by group. Throws `invalid_field` if there are too many. */
export async function joinedGroups(parts: AsyncIterable<readonly UsageByRow[]>): Promise<UsageByRow[]> {
  const joined = new Map<string, UsageByRow | Joined>();
  for await (const rows of parts) {
    for (const row of rows) {
      const name = row.groups.join('\0');
      const known = joined.get(name);
      // Most groups occur in one part only and need no new sums.
      if (known) joined.set(name, sumOf(known, row));
      else joined.set(name, row);
    }
    if (joined.size > MOST_ROWS) {
      throw invalidField('from', `The report has more than ${MOST_ROWS} rows. Ask for fewer days.`);
    }
  }
  await nextTurn();
  const sorted = [...joined.values()].sort(byPlaces);
  await nextTurn();
  return sorted;
}

type Joined = MarginSums & Pick<UsageByRow, 'groups'>;

function sumOf(known: UsageByRow | Joined, row: UsageByRow): Joined {
  const sums = { ...noMargin(), groups: row.groups };
  addMargin(sums, known);
  addMargin(sums, row);
  return sums;
}

function byPlaces(a: Pick<UsageByRow, 'groups'>, b: Pick<UsageByRow, 'groups'>): number {
  return (
    comparePlaces(a.groups[0] ?? null, b.groups[0] ?? null) ||
    comparePlaces(a.groups[1] ?? null, b.groups[1] ?? null)
  );
}

function comparePlaces(a: UsageRow['group'], b: UsageRow['group']): number {
  if (a === b) return 0;
  if (a === null || b === null) return a === null ? -1 : 1;
  return a < b ? -1 : 1;
}

/** Names of the keys in rows, and of their accounts, if the report groups by them. */
export async function namesIn(
  book: Pick<Book, 'keyNames' | 'emails'>,
  groups: readonly UsagePlace[],
  rows: readonly { readonly groups: UsageByRow['groups'] }[],
): Promise<Names> {
  const idsOf = (group: UsagePlace) => {
    const at = groups.indexOf(group);
    return at < 0
      ? []
      : [...new Set(rows.map((row) => row.groups[at]).filter((id) => typeof id === 'number'))];
  };
  const ids = idsOf('key');
  const keys = await book.keyNames(ids);
  const accounts = new Set([...idsOf('account'), ...[...keys.values()].map(({ accountId }) => accountId)]);
  return { keys, emails: await book.emails([...accounts]) };
}
