import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Book } from '../../book/book.ts';
import type { CallFilter, CallPlace, CallRecord } from '../../book/calls.ts';
import type { Catalog } from '../../domain/catalog.ts';
import { GatewayError } from '../../domain/errors.ts';
import { type Parsed, readQuery } from '../../domain/shape.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Pools } from '../../shares/pools.ts';
import { keyAsked, type Reader } from '../http/callers.ts';
import { OPERATOR, sendExport } from '../http/long-answer.ts';
import { Type } from '../openapi/json-type.ts';
import {
  CALL_EXAMPLE,
  type CallView,
  callsCsvHeader,
  callsCsvLine,
  callView,
  type NamedCall,
  operatorCallView,
} from './call-view.ts';
import {
  AllCallsFilters,
  AllCallsQuery,
  accountFilter,
  CALL_PAGE,
  CallsFilters,
  CallsQuery,
  filterOfAll,
  OperatorCallsFilters,
  type OperatorCallsQuery,
} from './calls-query.ts';
import { operatorSummaryView, summaryView } from './summary-view.ts';

export const CallPath = Type.Object({
  call_id: Type.String({ description: 'Id of the call: its `x-request-id`.', examples: [CALL_EXAMPLE.id] }),
});

/** Longest wait for the journal when reading one call; normally the journal lags 250 ms at most. */
const CALL_FLUSH_MS = 2_000;

export interface CallsReading {
  readonly book: Book;
  readonly ledger: Pick<Ledger, 'flush'>;
  readonly pools: Pools;
  readonly catalog: () => Catalog;
}

/** Queries an account's calls: resolves with a page, or streams an export to `reply`. */
export async function readCalls(
  reading: CallsReading,
  reader: Reader,
  request: FastifyRequest,
  reply: FastifyReply,
  query: typeof CallsQuery | typeof OperatorCallsQuery = CallsQuery,
) {
  const page = readQuery(query, request.query);
  const filter = await accountFilter(reading, reader, page);
  await reading.ledger.flush(reader.accountId);
  const asked = { page, filter, owner: reader.owner, isOfAll: false };
  return await answer(reading, asked, reply, async (records) =>
    (await named(reading.book, records)).map((call) => callView(call, reader)),
  );
}

/** Queries the calls of all accounts, for the operator. */
export async function readAllCalls(reading: CallsReading, request: FastifyRequest, reply: FastifyReply) {
  const page = readQuery(AllCallsQuery, request.query);
  const filter = await filterOfAll(reading, page);
  await reading.ledger.flush('all');
  const asked = { page, filter, owner: OPERATOR, isOfAll: true };
  return await answer(reading, asked, reply, (records) => operatorViews(reading.book, records));
}

/** Sums an account's calls. */
export async function readSummary(reading: CallsReading, reader: Reader, request: FastifyRequest) {
  return summaryView(await summaryFor(reading, reader, request, CallsFilters));
}

/** Sums an account's calls, for the operator. */
export async function readSummaryOfAccount(reading: CallsReading, reader: Reader, request: FastifyRequest) {
  const summary = await summaryFor(reading, reader, request, OperatorCallsFilters);
  return operatorSummaryView(summary, await reading.book.emails([reader.accountId]));
}

async function summaryFor(
  reading: CallsReading,
  reader: Reader,
  request: FastifyRequest,
  query: typeof CallsFilters | typeof OperatorCallsFilters,
) {
  const filter = await accountFilter(reading, reader, readQuery(query, request.query));
  await reading.ledger.flush(reader.accountId);
  return await reading.book.summarizeCalls(filter, Date.now());
}

/** Sums the calls of all accounts, for the operator. */
export async function readSummaryOfAll(reading: CallsReading, request: FastifyRequest) {
  const { book, ledger } = reading;
  const filter = await filterOfAll(reading, readQuery(AllCallsFilters, request.query));
  await ledger.flush('all');
  const summary = await book.summarizeCalls(filter, Date.now());
  return operatorSummaryView(summary, await book.emails(summary.accounts.map(({ value }) => value)));
}

/** Reads the call in the path, of any account. Throws `call_not_found`. */
export async function readCallOfAll({ book, ledger }: CallsReading, request: FastifyRequest) {
  await ledger.flush('all', CALL_FLUSH_MS);
  const { call_id } = request.params as { call_id: string };
  const record = await book.call(undefined, call_id);
  const [view] = record ? await operatorViews(book, [record]) : [];
  if (!view) throw callNotFound();
  return view;
}

function callNotFound(): GatewayError {
  return new GatewayError('call_not_found', 'There is no call with this id, or it is no longer recorded.');
}

/** Reads the call in the path. Throws `call_not_found`, also for a call that the reader may not see. */
export async function readCall({ book, ledger }: CallsReading, reader: Reader, request: FastifyRequest) {
  await ledger.flush(reader.accountId, CALL_FLUSH_MS);
  const { call_id } = request.params as { call_id: string };
  const record = await book.call(reader.accountId, call_id);
  const [call] = record ? await named(book, [record]) : [];
  if (!call) throw callNotFound();
  await keyAsked(book, keyOf(call.record) ?? undefined, reader).catch(() => {
    throw callNotFound();
  });
  return callView(call, reader);
}

function keyOf(record: CallRecord): number | null {
  return (record.refused ?? record.entry).keyId;
}

async function named(book: Book, records: readonly CallRecord[]): Promise<NamedCall[]> {
  const names = await book.namesOfKeys(records.flatMap((record) => keyOf(record) ?? []));
  return records.map((record) => ({ record, names: names.get(keyOf(record) ?? 0) }));
}

async function operatorViews(book: Book, records: readonly CallRecord[]) {
  const accounts = new Set(records.map((record) => (record.refused ?? record.entry).accountId));
  const emails = await book.emails([...accounts]);
  return (await named(book, records)).map((call) => operatorCallView(call, emails));
}

interface Asked {
  readonly page: Pick<Parsed<typeof CallsQuery>, 'limit' | 'before' | 'format'>;
  readonly filter: CallFilter;
  readonly owner: number;
  /** The views have the account. */
  readonly isOfAll: boolean;
}

async function answer<View extends CallView>(
  { book, pools }: CallsReading,
  { page, filter, owner, isOfAll }: Asked,
  reply: FastifyReply,
  viewsOf: (records: readonly CallRecord[]) => Promise<View[]>,
) {
  const { format, limit: asked, before } = page;
  if (format !== 'json') {
    return await sendExport(pools, reply, {
      name: 'calls',
      format,
      owner,
      limit: asked ?? Number.POSITIVE_INFINITY,
      before,
      async read(before: CallPlace | undefined, limit) {
        const records = await book.calls({ ...filter, before, limit });
        const views = await viewsOf(records);
        return views.map((view) => ({ view, createdAt: Date.parse(view.created_at), id: view.id }));
      },
      placeOf: ({ createdAt, id }): CallPlace => ({ createdAt, id }),
      viewOf: ({ view }) => view,
      csvHeader: () => callsCsvHeader(isOfAll),
      csvLine: callsCsvLine,
    });
  }
  const limit = asked ?? CALL_PAGE.usual;
  const records = await book.calls({ ...filter, before, limit: limit + 1 });
  const calls = records.slice(0, limit);
  const last = calls.at(-1);
  const next = last && records.length > limit ? `${last.createdAt}.${last.id}` : null;
  return { calls: await viewsOf(calls), next };
}
