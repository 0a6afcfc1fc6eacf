import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema } from 'fastify';
import type { Book } from '../../book/book.ts';
import type { LedgerQuery } from '../../book/ledger.ts';
import { GatewayError, invalidField } from '../../domain/errors.ts';
import { ENTRY_TYPES, type LedgerEntry } from '../../domain/ledger-entry.ts';
import { maybe, oneOf, optional, readQuery, section } from '../../domain/shape.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Pools } from '../../shares/pools.ts';
import { type CallerParts, callerOf, keyAsked, type Reader, readerOf } from '../http/callers.ts';
import { FORMATS, listAnswer } from '../http/export-formats.ts';
import { sendExport } from '../http/long-answer.ts';
import { anyText, CURSOR, DAY, DEFAULT_PAGE_LIMIT, PAGE_LIMIT } from '../openapi/fields.ts';
import { BY_ACCOUNT, OWNER_REFUSALS } from '../openapi/operation.ts';
import { KEY_ID } from '../usage/usage-view.ts';
import {
  csvEntry,
  csvHeader,
  ENTRY_EXAMPLE,
  EntryPage,
  type EntryPageView,
  EntryPath,
  entryView,
  READ_ENTRY_EXAMPLE,
  ReadEntry,
  readEntryView,
} from './entry-view.ts';

export const LedgerFilters = section({
  limit: maybe(PAGE_LIMIT, `Maximum number of entries. Default: ${DEFAULT_PAGE_LIMIT}; for an export, all.`),
  before: maybe(CURSOR, '`next` of the previous page.'),
  key_id: KEY_ID,
  type: maybe(oneOf(...ENTRY_TYPES), 'Only entries of this type.'),
  model: maybe(anyText({ examples: ['demo-chat'] }), 'Only calls of this model.'),
  from: maybe(DAY, 'First UTC day. A refund belongs to the day of its call. Default: no bound.'),
  to: maybe(DAY, 'Last UTC day, included. Default: no bound.'),
  format: optional(oneOf(...FORMATS), 'json', '`csv` and `jsonl` stream the whole ledger, as files to save.'),
});

/** What a reader of one entry asks for. */
export const EntryQuery = section({
  parts: optional(oneOf('true', 'false'), 'false', '`true`: with the parts that add up to a charge.'),
});

/** Response of `GET /api/account/ledger/`: a JSON page or one of two exports. */
export const LedgerAnswer = listAnswer('ledger', EntryPage, {
  csv: csvHeader() + csvEntry(ENTRY_EXAMPLE),
  jsonl: ENTRY_EXAMPLE,
});

export type LedgerRouteDeps = LedgerReading & CallerParts;

const docs = { tags: ['Account'], security: BY_ACCOUNT };

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
    querystring: LedgerFilters.schema,
    response: { 200: LedgerAnswer },
    'x-docs': {
      may: ['read the ledger'],
      refusals: [...OWNER_REFUSALS, 'key_not_found', 'rate_limit_exceeded'],
      answer: { entries: [ENTRY_EXAMPLE], next: '1024' },
    },
  };
  app.get('/api/account/ledger/', { schema }, async (request, reply) => {
    const caller = await callerOf(deps, request, 'read the ledger');
    return readLedger(deps, readerOf(caller), request, reply);
  });
}

function entryRoute(app: FastifyInstance, deps: LedgerRouteDeps): void {
  const schema: FastifySchema = {
    ...docs,
    operationId: 'readLedgerEntry',
    summary: 'Read a ledger entry',
    description:
      'Finds the charge of a call by its `x-request-id`, for streams too. With `parts=true`, the answer has the parts that add up to the charge. ' +
      "A key that can't manage sees only its own entries.",
    params: EntryPath,
    querystring: EntryQuery.schema,
    response: { 200: ReadEntry },
    'x-docs': {
      may: ['read the ledger'],
      refusals: [...OWNER_REFUSALS, 'entry_not_found'],
      answer: READ_ENTRY_EXAMPLE,
    },
  };
  app.get('/api/account/ledger/:entry_id/', { schema }, async (request) => {
    const caller = await callerOf(deps, request, 'read the ledger');
    return readEntry(deps, readerOf(caller), request);
  });
}

/** Longest wait for the journal when reading one entry; normally the journal lags 250 ms at most. */
const ENTRY_FLUSH_MS = 2_000;

interface LedgerReading {
  readonly book: Book;
  readonly ledger: Pick<Ledger, 'flush'>;
  readonly pools: Pools;
}

/** Queries the ledger: resolves with a page, or streams the export that `format` requests to `reply`. */
export async function readLedger(
  reading: LedgerReading,
  reader: Reader,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  const { book, ledger } = reading;
  const { from, to, ...query } = readQuery(LedgerFilters, request.query);
  const { format, limit, before } = query;
  if (from !== undefined && to !== undefined && from > to) {
    throw invalidField('from', 'from must not be later than to.');
  }
  const filter = {
    accountId: reader.accountId,
    keyId: await keyAsked(book, query.keyId, reader),
    type: query.type,
    model: query.model,
    fromDay: from,
    toDay: to,
    before,
  };
  // Flush first, so that a caller finds the call that just finished.
  await ledger.flush(reader.accountId);
  if (format !== 'json') {
    return await sendExport(reading.pools, reply, {
      name: 'ledger',
      format,
      owner: reader.owner,
      limit: limit ?? Number.POSITIVE_INFINITY,
      before,
      read: async (place, count) =>
        entryViews(book, await book.ledger({ ...filter, before: place, limit: count }), reader),
      placeOf: ({ seq }) => seq,
      viewOf: ({ view }) => view,
      csvHeader,
      csvLine: csvEntry,
    });
  }
  return page(book, { ...filter, limit: limit ?? DEFAULT_PAGE_LIMIT }, reader);
}

/**
 * Reads the entry in the path. Throws `entry_not_found`, also for an entry that the reader may not see. Throws
 * `service_unavailable` if the entry may not have reached the book yet: "not found" would mean "not charged".
 */
export async function readEntry(
  { book, ledger }: Omit<LedgerReading, 'pools'>,
  reader: Reader,
  request: FastifyRequest,
) {
  const { parts } = readQuery(EntryQuery, request.query);
  const isWhole = await ledger.flush(reader.accountId, ENTRY_FLUSH_MS);
  const entry = await book.entry(reader.accountId, (request.params as { entry_id: string }).entry_id);
  if (entry === undefined && !isWhole) {
    throw new GatewayError(
      'service_unavailable',
      'The ledger does not have the latest calls yet. Try again shortly.',
    );
  }
  const isSeen = reader.onlyKeyId === undefined || entry?.keyId === reader.onlyKeyId;
  if (entry === undefined || !isSeen) {
    throw new GatewayError('entry_not_found', 'The ledger has no entry with this id.');
  }
  const names = await book.namesOfKeys(entry.keyId === null ? [] : [entry.keyId]);
  const name = entry.keyId === null ? undefined : names.get(entry.keyId);
  return parts === 'true' ? readEntryView(entry, reader, name) : entryView(entry, reader, name);
}

/** Views of entries with the names of their keys, and their places in the ledger. */
async function entryViews(book: Book, entries: readonly LedgerEntry[], reader: Reader) {
  const names = await book.namesOfKeys(entries.flatMap(({ keyId }) => keyId ?? []));
  return entries.map((entry) => ({
    seq: entry.seq,
    view: entryView(entry, reader, entry.keyId === null ? undefined : names.get(entry.keyId)),
  }));
}

async function page(book: Book, query: LedgerQuery, reader: Reader): Promise<EntryPageView> {
  const entries = await book.ledger(query);
  const last = entries.at(-1);
  const more =
    last !== undefined &&
    entries.length === query.limit &&
    (await book.ledger({ ...query, before: last.seq, limit: 1 })).length > 0;
  const shown = await entryViews(book, entries, reader);
  return { entries: shown.map(({ view }) => view), next: more ? String(last.seq) : null };
}
