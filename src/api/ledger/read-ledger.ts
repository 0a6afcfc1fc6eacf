import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Book, LedgerQuery } from '../../book/book.ts';
import { GatewayError } from '../../domain/errors.ts';
import { ENTRY_TYPES } from '../../domain/ledger-entry.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Pools } from '../../shares/pools.ts';
import { keyAsked, type Reader } from '../http/callers.ts';
import { sendExport } from '../http/exports.ts';
import { cursorParam, limitParam, queryOf, textParam, wordParam } from '../http/query.ts';
import { DEFAULT_PAGE_LIMIT } from '../openapi/fields.ts';
import { FORMATS } from '../openapi/list-answer.ts';
import { ledgerDays } from '../usage/usage-days.ts';
import { type EntryPageView, entryView } from './entry-view.ts';
import { csvEntry, csvHeader } from './ledger-csv.ts';

/** How long a reader of one entry waits for the journal, which is behind by 250 ms at most in normal running. */
const ENTRY_FLUSH_MS = 2_000;

export interface LedgerReading {
  readonly book: Book;
  readonly ledger: Pick<Ledger, 'flush'>;
  readonly pools: Pools;
}

/**
 * Answers a query of the ledger: resolves with a page, or, if `format` asks for an export, streams it by `reply`.
 */
export async function readLedger(
  reading: LedgerReading,
  reader: Reader,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  const { book, ledger } = reading;
  const query = queryOf(request);
  const format = wordParam(query, 'format', FORMATS) ?? 'json';
  const limit = limitParam(query);
  const before = cursorParam(query, 'before');
  const { from, to } = ledgerDays(query);
  const filter = {
    accountId: reader.accountId,
    keyId: await keyAsked(book, query, reader),
    type: wordParam(query, 'type', ENTRY_TYPES),
    model: textParam(query, 'model'),
    fromDay: from,
    toDay: to,
    before,
  };
  // Drained first, so that a caller finds the call that was answered just now.
  await ledger.flush(reader.accountId);
  if (format !== 'json') {
    return await sendExport(reading.pools, reply, {
      name: 'ledger',
      format,
      owner: reader.owner,
      limit: limit ?? Number.POSITIVE_INFINITY,
      before,
      read: (place, count) => book.ledger({ ...filter, before: place, limit: count }),
      placeOf: ({ seq }) => seq,
      viewOf: (entry) => entryView(entry, reader),
      csvHeader,
      csvLine: csvEntry,
    });
  }
  return page(book, { ...filter, limit: limit ?? DEFAULT_PAGE_LIMIT }, reader);
}

/**
 * The entry that the path names. Throws `entry_not_found`, even if the reader may not see it, and `service_unavailable`
 * if the entry may be on its way to the book still: "not found" would say that the call was not charged.
 */
export async function readEntry(
  { book, ledger }: Omit<LedgerReading, 'pools'>,
  reader: Reader,
  request: FastifyRequest,
) {
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
  return entryView(entry, reader);
}

async function page(book: Book, query: LedgerQuery, reader: Reader): Promise<EntryPageView> {
  const entries = await book.ledger(query);
  const last = entries.at(-1);
  const more =
    last !== undefined &&
    entries.length === query.limit &&
    (await book.ledger({ ...query, before: last.seq, limit: 1 })).length > 0;
  return { entries: entries.map((entry) => entryView(entry, reader)), next: more ? String(last.seq) : null };
}
