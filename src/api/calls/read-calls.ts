import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Book } from '../../book/book.ts';
import { CALL_RESULTS, type CallPlace, type CallQuery, type CallRecord } from '../../book/calls.ts';
import { type Catalog, modelOf } from '../../domain/catalog.ts';
import { GatewayError, invalidField } from '../../domain/errors.ts';
import { parseDay, parseTimestamp } from '../../domain/period.ts';
import { maybe, number, oneOf, optional, type Parsed, readQuery, section, text } from '../../domain/shape.ts';
import { ENDPOINTS } from '../../gateway/endpoints.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Pools } from '../../shares/pools.ts';
import { keyAsked, keyNotFound, type Reader } from '../http/callers.ts';
import { FORMATS } from '../http/export-formats.ts';
import { OPERATOR, sendExport } from '../http/long-answer.ts';
import { anyText } from '../openapi/fields.ts';
import { Type } from '../openapi/json-type.ts';
import { accountNotFound } from '../operator/admin-account-routes.ts';
import {
  CALL_EXAMPLE,
  CALL_OUTCOMES,
  callsCsvHeader,
  callsCsvLine,
  callView,
  operatorCallView,
} from './call-view.ts';

const CALL_PAGE = { min: 1, max: 200, usual: 50 };
const DAY_MS = 86_400_000;
/** Cursor of a page of calls: a time and a call id. */
const CALL_CURSOR = /^(\d{1,15})\.([\x21-\x7e]{1,200})$/;

/** A time, in milliseconds since the epoch; a day becomes its start plus `ofDay` milliseconds. */
export function when(ofDay: number, description: string) {
  const right = 'must be a date (YYYY-MM-DD) or an ISO 8601 date-time with Z or an offset';
  const read = text(
    right,
    (given) => {
      const day = parseDay(given);
      return day === undefined ? parseTimestamp(given) : day * DAY_MS + ofDay;
    },
    { examples: ['2026-11-21'] },
  );
  return maybe(read, `${description} A UTC day, or an ISO 8601 time with an offset.`);
}

const PLACE = text(
  'must be the value of "next" from the previous page',
  (given): CallPlace | undefined => {
    const [, createdAt, id = ''] = CALL_CURSOR.exec(given) ?? [];
    return createdAt === undefined ? undefined : { createdAt: Number(createdAt), id };
  },
  { pattern: CALL_CURSOR.source, examples: ['1795270980000.req_7Qm2xX4cRn9sKd1V6t'] },
);

const FILTERS = {
  limit: {
    ...maybe(number(CALL_PAGE.min, CALL_PAGE.max), 'Maximum number of calls. Exports return all by default.'),
    shownDefault: CALL_PAGE.usual,
  },
  before: maybe(PLACE, '`next` of the previous page.'),
  from: when(0, 'Only calls from this time on.'),
  to: when(DAY_MS - 1, 'Only calls up to this time; a day is included.'),
  key_id: maybe(number(1), 'Only calls of this key.'),
  model: maybe(anyText({ examples: ['demo-chat'] }), 'Only calls of this model, as the request named it.'),
  endpoint: maybe(oneOf(...ENDPOINTS.map(({ path }) => path)), 'Only calls at this path.'),
  code: maybe(anyText({ examples: ['insufficient_credits'] }), 'Only calls that ended with this error code.'),
  outcome: maybe(oneOf(...CALL_OUTCOMES), 'Only calls with this outcome.'),
  result: maybe(
    oneOf(...CALL_RESULTS),
    '`ok`: complete; `refused`: by the gateway; `failed`: any other outcome.',
  ),
  format: optional(oneOf(...FORMATS), 'json', '`csv` and `jsonl` stream all calls, as files to save.'),
};

export const CallsQuery = section(FILTERS);
const OPERATOR_FILTERS = {
  ...FILTERS,
  upstream: maybe(anyText({ examples: ['demo'] }), 'Only calls sent to this upstream of the configuration.'),
};
export const OperatorCallsQuery = section(OPERATOR_FILTERS);
export const AllCallsQuery = section({
  ...OPERATOR_FILTERS,
  account_id: maybe(number(1), 'Only calls of this account.'),
});

type Filters = Parsed<typeof OperatorCallsQuery>;

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
  const filters = readQuery(query, request.query);
  const keyId = await keyAsked(reading.book, filters.keyId, reader);
  const filter = {
    ...filterOf(filters, reading.catalog()),
    accountId: reader.accountId,
    keyId,
    personId: reader.onlyPersonId,
  };
  await reading.ledger.flush(reader.accountId);
  return await answer(reading, { filters, filter, owner: reader.owner }, reply, (record) =>
    callView(record, reader),
  );
}

/** Queries the calls of all accounts, for the operator. */
export async function readAllCalls(reading: CallsReading, request: FastifyRequest, reply: FastifyReply) {
  const filters = readQuery(AllCallsQuery, request.query);
  const { accountId, keyId } = filters;
  if (accountId !== undefined && !(await reading.book.account(accountId))) {
    throw accountNotFound();
  }
  if (keyId !== undefined && !(await reading.book.keysAmong([keyId])).has(keyId)) throw keyNotFound();
  const filter = { ...filterOf(filters, reading.catalog()), accountId, keyId };
  await reading.ledger.flush('all');
  return await answer(reading, { filters, filter, owner: OPERATOR }, reply, operatorCallView);
}

/** Reads the call in the path, of any account. Throws `call_not_found`. */
export async function readCallOfAll({ book, ledger }: CallsReading, request: FastifyRequest) {
  await ledger.flush('all', CALL_FLUSH_MS);
  const { call_id } = request.params as { call_id: string };
  const record = await book.call(undefined, call_id);
  if (!record) throw callNotFound();
  return operatorCallView(record);
}

function callNotFound(): GatewayError {
  return new GatewayError('call_not_found', 'There is no call with this id, or it is no longer recorded.');
}

/** Reads the call in the path. Throws `call_not_found`, also for a call that the reader may not see. */
export async function readCall({ book, ledger }: CallsReading, reader: Reader, request: FastifyRequest) {
  await ledger.flush(reader.accountId, CALL_FLUSH_MS);
  const { call_id } = request.params as { call_id: string };
  const record = await book.call(reader.accountId, call_id);
  const keyId = record && (record.refused ?? record.entry).keyId;
  if (!record) throw callNotFound();
  await keyAsked(book, keyId ?? undefined, reader).catch(() => {
    throw callNotFound();
  });
  return callView(record, reader);
}

interface Asked {
  readonly filters: Filters;
  readonly filter: Omit<CallQuery, 'limit'>;
  readonly owner: number;
}

async function answer<View extends ReturnType<typeof callView>>(
  { book, pools }: CallsReading,
  { filters, filter, owner }: Asked,
  reply: FastifyReply,
  viewOf: (record: CallRecord) => View,
) {
  const { format, limit: asked } = filters;
  if (format !== 'json') {
    return await sendExport(pools, reply, {
      name: 'calls',
      format,
      owner,
      limit: asked ?? Number.POSITIVE_INFINITY,
      before: filter.before,
      read: (before, limit) => book.calls({ ...filter, before, limit }),
      placeOf: ({ createdAt, id }): CallPlace => ({ createdAt, id }),
      viewOf,
      csvHeader: () => callsCsvHeader(owner === OPERATOR && filter.accountId === undefined),
      csvLine: callsCsvLine,
    });
  }
  const limit = asked ?? CALL_PAGE.usual;
  const records = await book.calls({ ...filter, limit: limit + 1 });
  const calls = records.slice(0, limit);
  const last = calls.at(-1);
  const next = last && records.length > limit ? `${last.createdAt}.${last.id}` : null;
  return { calls: calls.map(viewOf), next };
}

function filterOf(
  { limit: _limit, format: _format, keyId: _keyId, model, ...filters }: Filters,
  catalog: Catalog,
): Omit<CallQuery, 'limit' | 'accountId' | 'keyId'> {
  const { from, to } = filters;
  if (from !== undefined && to !== undefined && from > to) {
    throw invalidField('from', 'from must not be later than to.');
  }
  // Calls by alias are recorded under the model.
  return { ...filters, model: model && (modelOf(catalog, model)?.slug ?? model) };
}
