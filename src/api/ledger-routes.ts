import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifySchema } from 'fastify';
import type { Book, LedgerEntry, LedgerQuery } from '../book/book.ts';
import { GatewayError } from '../domain/errors.ts';
import { ENTRY_TYPES } from '../domain/ledger-entry.ts';
import type { Gatekeeper } from '../gateway/gatekeeper.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { BY_KEY } from './docs/operation.ts';
import { OWNER_REFUSALS } from './docs/refusals.ts';
import { entryView } from './entry-view.ts';
import { LedgerAnswer } from './ledger-answer.ts';
import { csvEntry, csvHeader } from './ledger-csv.ts';
import { ENTRY_EXAMPLE, Entry, EntryPath, FORMATS, LedgerQueryString } from './ledger-schema.ts';
import { callingKey } from './may-manage.ts';
import { cursorParam, integerParam, queryOf, textParam, wordParam } from './query.ts';
import { ledgerDays } from './usage-days.ts';

/** Entries an export reads at a time: what bounds its memory. */
const EXPORT_PAGE = 500;
const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1_000;

type ExportFormat = Exclude<(typeof FORMATS)[number], 'json'>;

export interface LedgerRouteDeps {
  readonly book: Book;
  readonly gatekeeper: Gatekeeper;
  readonly ledger: Pick<Ledger, 'flush'>;
}

/** The ledger and its entries (contract section 7). */
export function ledgerRoutes(app: FastifyInstance, deps: LedgerRouteDeps): void {
  listRoute(app, deps);
  entryRoute(app, deps);
}

/** Pages of JSON, or the whole ledger streamed as CSV or JSON lines. */
function listRoute(app: FastifyInstance, { book, ledger, gatekeeper }: LedgerRouteDeps): void {
  const schema: FastifySchema = {
    tags: ['Account'],
    security: BY_KEY,
    operationId: 'listLedgerEntries',
    summary: 'List or export ledger entries',
    description:
      'Newest first. With `format=csv` or `format=jsonl`, a streamed export of everything that the other ' +
      'parameters let through, or of its first `limit` entries. Waits for the journal, so that the call that was answered just now is there.',
    querystring: LedgerQueryString,
    response: { 200: LedgerAnswer },
    'x-docs': {
      refusals: OWNER_REFUSALS,
      answer: { entries: [ENTRY_EXAMPLE], next: '1024' },
    },
  };
  app.get('/api/account/ledger/', { schema }, async (request, reply) => {
    const caller = await callingKey(gatekeeper, request);
    const query = queryOf(request);
    const format = wordParam(query, 'format', FORMATS) ?? 'json';
    const limit = integerParam(query, 'limit', { min: 1, max: MAX_LIMIT });
    const before = cursorParam(query, 'before');
    const keyId = integerParam(query, 'key_id', { min: 1, max: Number.MAX_SAFE_INTEGER });
    const type = wordParam(query, 'type', ENTRY_TYPES);
    const model = textParam(query, 'model');
    const { from, to } = ledgerDays(query);
    const filter = {
      accountId: caller.accountId,
      ...(before === undefined ? {} : { before }),
      ...(keyId === undefined ? {} : { keyId }),
      ...(type === undefined ? {} : { type }),
      ...(model === undefined ? {} : { model }),
      ...(from === undefined ? {} : { fromDay: from }),
      ...(to === undefined ? {} : { toDay: to }),
    };
    // So that a caller finds the call that was answered just now.
    await ledger.flush(caller.accountId);
    if (format !== 'json') return exportEntries(reply, book, filter, format, limit);
    return page(book, { ...filter, limit: limit ?? DEFAULT_LIMIT });
  });
}

function entryRoute(app: FastifyInstance, { book, ledger, gatekeeper }: LedgerRouteDeps): void {
  const schema: FastifySchema = {
    tags: ['Account'],
    security: BY_KEY,
    operationId: 'readLedgerEntry',
    summary: 'Read a ledger entry',
    description:
      'What a call was charged, by its `x-request-id`; also of a stream, whose head cannot say it.',
    params: EntryPath,
    response: { 200: Entry },
    'x-docs': { refusals: [...OWNER_REFUSALS, 'entry_not_found'], answer: ENTRY_EXAMPLE },
  };
  app.get('/api/account/ledger/:entry_id/', { schema }, async (request) => {
    const caller = await callingKey(gatekeeper, request);
    await ledger.flush(caller.accountId);
    const entry = await book.entry(caller.accountId, (request.params as { entry_id: string }).entry_id);
    if (entry === undefined) {
      throw new GatewayError('entry_not_found', 'There is no entry with this id in the ledger.');
    }
    return entryView(entry);
  });
}

async function page(book: Book, query: LedgerQuery) {
  const entries = await book.ledger(query);
  const last = entries.at(-1);
  const more =
    last !== undefined &&
    entries.length === query.limit &&
    (await book.ledger({ ...query, before: last.seq, limit: 1 })).length > 0;
  return { entries: entries.map(entryView), next: more ? String(last.seq) : null };
}

/** The first page is read before the answer starts, so that a book out of reach is still a clean 503. */
async function exportEntries(
  reply: FastifyReply,
  book: Book,
  filter: Omit<LedgerQuery, 'limit'>,
  format: ExportFormat,
  limit = Number.POSITIVE_INFINITY,
): Promise<FastifyReply> {
  const first = await book.ledger({ ...filter, limit: Math.min(limit, EXPORT_PAGE) });
  const body = Readable.from(lines(format, pages(book, filter, first, limit)));
  return reply
    .type(format === 'csv' ? 'text/csv; charset=utf-8' : 'application/x-ndjson; charset=utf-8')
    .header('content-disposition', `attachment; filename="ledger.${format}"`)
    .send(body);
}

/** Pages by sequence number: entries that are written meanwhile are newer and do not shift them. */
async function* pages(
  book: Book,
  filter: Omit<LedgerQuery, 'limit'>,
  first: readonly LedgerEntry[],
  limit: number,
): AsyncGenerator<readonly LedgerEntry[]> {
  let entries = first;
  let left = limit;
  for (;;) {
    yield entries;
    left -= entries.length;
    const last = entries.at(-1);
    if (last === undefined || entries.length < EXPORT_PAGE || left <= 0) return;
    entries = await book.ledger({ ...filter, before: last.seq, limit: Math.min(left, EXPORT_PAGE) });
  }
}

async function* lines(
  format: ExportFormat,
  source: AsyncIterable<readonly LedgerEntry[]>,
): AsyncGenerator<string> {
  if (format === 'csv') yield csvHeader();
  const line = format === 'csv' ? csvEntry : (view: object) => `${JSON.stringify(view)}\n`;
  for await (const entries of source) {
    if (entries.length > 0) yield entries.map((entry) => line(entryView(entry))).join('');
  }
}
