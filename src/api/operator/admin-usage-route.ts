import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema } from 'fastify';
import type { Book, MarginGroup, MarginRow } from '../../book/book.ts';
import { dayString } from '../../domain/period.ts';
import { csvLine } from '../http/csv.ts';
import { OPERATOR, sendPages } from '../http/long-answer.ts';
import { queryOf, wordParam } from '../http/query.ts';
import { USAGE_CSV_COLUMNS } from '../ledger/ledger-csv.ts';
import { DEFAULT_MARGIN_GROUP, MARGIN_FIELDS, MARGIN_GROUPS } from '../ledger/ledger-schema.ts';
import { Type } from '../openapi/json-type.ts';
import { BY_OPERATOR } from '../openapi/operation.ts';
import { OPERATOR_REFUSALS } from '../openapi/refusals.ts';
import { type DayRange, usageDays } from '../usage/usage-days.ts';
import type { UsageReading } from '../usage/usage-routes.ts';
import { MARGIN_EXAMPLE, MARGIN_FORMATS, MarginQueryString, MarginReport } from './margin-schema.ts';
import {
  addMargin,
  type MarginRowView,
  type MarginSums,
  marginRowView,
  marginSumsView,
  noMargin,
} from './margin-view.ts';

const COLUMNS = ['calls', 'charged', 'charged_with_cost', 'cost', 'margin'] as const;
/** Columns that came later stand at the end, so that each keeps its place. */
const LATER_COLUMNS = ['failed', 'refused'] as const;

/** The answer: a report in JSON, or its rows as CSV. */
const MarginAnswer = {
  description: 'The report, or with `format` its rows.',
  headers: {
    'content-disposition': {
      type: 'string',
      description: 'Of an export: the name of the file.',
      examples: ['attachment; filename="usage.csv"'],
    },
  },
  content: {
    'application/json': { schema: MarginReport },
    'text/csv': {
      schema: Type.String({ description: 'A line of names, then a line for each row; lines end in CRLF.' }),
      examples: {
        export: {
          value: csvHeaderOf('account') + MARGIN_EXAMPLE.rows.map((row) => csvRow('account', row)).join(''),
        },
      },
    },
  },
};

const SCHEMA: FastifySchema = {
  tags: ['Operator'],
  security: BY_OPERATOR,
  operationId: 'readUsageOfAll',
  summary: 'Report usage, cost and margin',
  description:
    'Calls, credits and units of all accounts over whole UTC days, by account, key, model, upstream or day. Where prices ' +
    'are those of the list, with what the providers take, and what is left.',
  querystring: MarginQueryString,
  response: { 200: MarginAnswer },
  'x-docs': { refusals: [...OPERATOR_REFUSALS, 'rate_limit_exceeded'], answer: MARGIN_EXAMPLE },
};

interface Report {
  readonly days: DayRange;
  readonly group: MarginGroup;
}

/** `GET /api/admin/usage/`: what all accounts used, was charged, and costs the operator (specification section 7). */
export function adminUsageRoute(app: FastifyInstance, deps: UsageReading): void {
  app.get('/api/admin/usage/', { schema: SCHEMA }, (request, reply) => sendReport(deps, request, reply));
}

/** Streams the report: there can be a row for each of very many keys. */
async function sendReport(
  { book, ledger, pools, now = Date.now }: UsageReading,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const query = queryOf(request);
  const report = {
    group: wordParam(query, 'group_by', MARGIN_GROUPS) ?? DEFAULT_MARGIN_GROUP,
    days: usageDays(query, now()),
  };
  const isCsv = wordParam(query, 'format', MARGIN_FORMATS) === 'csv';
  await ledger.flush('all');
  const chunks = (isCsv ? csvChunks : jsonChunks)(report, rowsOf(book, report));
  const headers: Record<string, string> = isCsv
    ? {
        'content-type': 'text/csv; charset=utf-8',
        'content-disposition': 'attachment; filename="usage.csv"',
      }
    : { 'content-type': 'application/json; charset=utf-8' };
  return await sendPages(pools, reply, { owner: OPERATOR, isWhole: true, headers }, async () => {
    const next = await chunks.next();
    return next.done ? undefined : next.value;
  });
}

/** The rows of the report in parts, each group once. Accounts and keys come as they are read; of all else there are few. */
async function* rowsOf(book: Book, { days, group }: Report): AsyncGenerator<readonly MarginRow[], void> {
  const parts = book.usageOfAll(days.from, days.to + 1, group);
  if (group === 'account' || group === 'key') yield* parts;
  else yield await joined(parts);
}

async function joined(parts: AsyncIterable<readonly MarginRow[]>): Promise<readonly MarginRow[]> {
  const groups = new Map<MarginRow['group'], MarginSums>();
  for await (const rows of parts) {
    for (const row of rows) {
      const sums = groups.get(row.group) ?? noMargin();
      groups.set(row.group, sums);
      addMargin(sums, row);
    }
  }
  const sorted = [...groups].sort(([a], [b]) => (String(a ?? '') < String(b ?? '') ? -1 : 1));
  return sorted.map(([group, sums]) => ({ group, ...sums }));
}

async function* jsonChunks(
  { days, group }: Report,
  parts: AsyncIterable<readonly MarginRow[]>,
): AsyncGenerator<string, void> {
  const total = noMargin();
  const head = { from: dayString(days.from), to: dayString(days.to), group_by: group };
  let opening = `${JSON.stringify(head).slice(0, -1)},"rows":[`;
  for await (const rows of parts) {
    for (const row of rows) addMargin(total, row);
    if (rows.length === 0) continue;
    yield opening + rows.map((row) => JSON.stringify(marginRowView(group, row))).join(',');
    opening = ',';
  }
  yield `${opening === ',' ? '' : opening}],"total":${JSON.stringify(marginSumsView(group, total))}}`;
}

async function* csvChunks(
  { group }: Report,
  parts: AsyncIterable<readonly MarginRow[]>,
): AsyncGenerator<string, void> {
  let opening = csvHeaderOf(group);
  for await (const rows of parts) {
    yield opening + rows.map((row) => csvRow(group, marginRowView(group, row))).join('');
    opening = '';
  }
  if (opening !== '') yield opening;
}

/** First line of the operator's usage report as CSV: the group, its sums, and what was used. */
function csvHeaderOf(group: MarginGroup): string {
  return csvLine([MARGIN_FIELDS[group], ...COLUMNS, ...USAGE_CSV_COLUMNS, ...LATER_COLUMNS]);
}

/** The line of one group; amounts that are not known are empty cells. */
function csvRow(group: MarginGroup, row: MarginRowView): string {
  return csvLine([
    row[MARGIN_FIELDS[group]],
    ...COLUMNS.map((column) => row[column]),
    ...USAGE_CSV_COLUMNS.map((name) => row.usage[name]),
    ...LATER_COLUMNS.map((column) => row[column]),
  ]);
}
