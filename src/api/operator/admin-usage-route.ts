import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema } from 'fastify';
import type { Book } from '../../book/book.ts';
import type { MarginRow, UsageByRow, UsagePlace } from '../../book/usage.ts';
import { csvLine } from '../../domain/csv.ts';
import { dayString } from '../../domain/period.ts';
import { readQuery } from '../../domain/shape.ts';
import { OPERATOR, sendPages } from '../http/long-answer.ts';
import { USAGE_CSV_COLUMNS } from '../ledger/entry-view.ts';
import { Type } from '../openapi/json-type.ts';
import { BY_OPERATOR, OPERATOR_REFUSALS } from '../openapi/operation.ts';
import { type ReportSpan, reportSpan } from '../usage/usage-days.ts';
import { joinedGroups, namesIn, type UsageReading } from '../usage/usage-routes.ts';
import { MARGIN_FIELDS, type Names } from '../usage/usage-view.ts';
import {
  addMargin,
  MARGIN_EXAMPLE,
  MarginQuery,
  MarginReport,
  type MarginRowView,
  marginRowView,
  marginSumsView,
  noMargin,
} from './margin-view.ts';

const COLUMNS = ['calls', 'charged', 'charged_with_cost', 'cost', 'margin'] as const;
/** Columns added later come last, so that the others keep their place. */
const LATER_COLUMNS = ['failed', 'refused', 'key_name', 'email', 'account_email'] as const;

/** A report by account has its id among the first columns. */
function laterColumns(groups: readonly UsagePlace[]) {
  return groups.includes('account') ? LATER_COLUMNS : ([...LATER_COLUMNS, 'account_id'] as const);
}

/** JSON report, or its rows as CSV. */
const MarginAnswer = {
  description: 'The report, or with `format` its rows.',
  headers: {
    'content-disposition': {
      type: 'string',
      description: 'Name of the file, for an export.',
      examples: ['attachment; filename="usage.csv"'],
    },
  },
  content: {
    'application/json': { schema: MarginReport },
    'text/csv': {
      schema: Type.String({ description: 'A header line, then a line per row; lines end in CRLF.' }),
      examples: {
        export: {
          value:
            csvHeaderOf(['account']) + MARGIN_EXAMPLE.rows.map((row) => csvRow(['account'], row)).join(''),
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
    'Sums calls, credits and units of all accounts over whole UTC days, by account, key, model, upstream, day or hour, or by two ' +
    "of them. Calls at list prices, or of models with a `cost`, also have the providers' cost and the margin.",
  querystring: MarginQuery.schema,
  response: { 200: MarginAnswer },
  'x-docs': { refusals: [...OPERATOR_REFUSALS], answer: MARGIN_EXAMPLE },
};

interface Report {
  readonly span: ReportSpan;
  readonly groups: readonly UsagePlace[];
}

/** Rows of the report, with the names they use. */
interface Part {
  readonly rows: readonly UsageByRow[];
  readonly names: Names;
}

/** `GET /api/admin/usage/`: usage, charges and the operator's cost, over all accounts (specification section 7). */
export function adminUsageRoute(app: FastifyInstance, deps: UsageReading): void {
  app.get('/api/admin/usage/', { schema: SCHEMA }, (request, reply) => sendReport(deps, request, reply));
}

/** Streams the report, which can have a row for each of very many keys. */
async function sendReport(
  { book, ledger, pools }: UsageReading,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { groupBy: groups, format, ...days } = readQuery(MarginQuery, request.query);
  const span = reportSpan(days, groups, Date.now());
  const report = { groups, span };
  const isCsv = format === 'csv';
  await ledger.flush('all');
  const chunks = (isCsv ? csvChunks : jsonChunks)(report, rowsOf(book, report));
  const headers: Record<string, string> = isCsv
    ? {
        'content-type': 'text/csv; charset=utf-8',
        'content-disposition': 'attachment; filename="usage.csv"',
      }
    : { 'content-type': 'application/json; charset=utf-8' };
  return await sendPages(pools, reply, { owner: OPERATOR, headers }, async () => {
    const next = await chunks.next();
    return next.done ? undefined : next.value;
  });
}

/** Yields rows in parts, each group once. Accounts and keys stream as they are read; other groups are few. */
async function* rowsOf(book: Book, report: Report): AsyncGenerator<Part, void> {
  const { groups } = report;
  for await (const rows of sumsOf(book, report)) yield { rows, names: await namesIn(book, groups, rows) };
}

async function* sumsOf(book: Book, { span, groups }: Report): AsyncGenerator<readonly UsageByRow[], void> {
  const [group] = groups;
  const { from, to } = span;
  if (groups.length === 1 && group && group !== 'hour') {
    const parts = placed(book.usageOfAll(from, to + 1, group));
    if (group === 'account' || group === 'key') yield* parts;
    else yield await joinedGroups(parts);
    return;
  }
  yield await joinedGroups(book.usageBy({ groups, ...span.times }));
}

async function* placed(
  parts: AsyncIterable<readonly MarginRow[]>,
): AsyncGenerator<readonly UsageByRow[], void> {
  for await (const rows of parts) yield rows.map(({ group, ...sums }) => ({ groups: [group], ...sums }));
}

async function* jsonChunks(
  { span, groups }: Report,
  parts: AsyncIterable<Part>,
): AsyncGenerator<string, void> {
  const total = noMargin();
  const head = { from: dayString(span.from), to: dayString(span.to), group_by: groups.join(',') };
  let opening = `${JSON.stringify(head).slice(0, -1)},"rows":[`;
  for await (const { rows, names } of parts) {
    for (const row of rows) addMargin(total, row);
    if (rows.length === 0) continue;
    yield opening + rows.map((row) => JSON.stringify(marginRowView(groups, row, names))).join(',');
    opening = ',';
  }
  yield `${opening === ',' ? '' : opening}],"total":${JSON.stringify(marginSumsView(groups, total))}}`;
}

async function* csvChunks({ groups }: Report, parts: AsyncIterable<Part>): AsyncGenerator<string, void> {
  let opening = csvHeaderOf(groups);
  for await (const { rows, names } of parts) {
    yield opening + rows.map((row) => csvRow(groups, marginRowView(groups, row, names))).join('');
    opening = '';
  }
  if (opening !== '') yield opening;
}

/** CSV header of the operator's usage report: groups, sums, usage. */
function csvHeaderOf(groups: readonly UsagePlace[]): string {
  const places = groups.map((group) => MARGIN_FIELDS[group]);
  return csvLine([...places, ...COLUMNS, ...USAGE_CSV_COLUMNS, ...laterColumns(groups)]);
}

/** CSV line of one group. Values that are unknown or not in the report are empty cells. */
function csvRow(groups: readonly UsagePlace[], row: MarginRowView): string {
  return csvLine([
    ...groups.map((group) => row[MARGIN_FIELDS[group]]),
    ...COLUMNS.map((column) => row[column]),
    ...USAGE_CSV_COLUMNS.map((name) => row.usage[name]),
    ...laterColumns(groups).map((column) => row[column]),
  ]);
}
