import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Book } from '../../book/book.ts';
import { CALL_RESULTS, type CallPlace, type CallQuery, type CallRecord } from '../../book/calls.ts';
import { type Catalog, modelOf } from '../../domain/catalog.ts';
import { GatewayError, invalidField } from '../../domain/errors.ts';
import { parseDay, parseTimestamp } from '../../domain/period.ts';
import { ENDPOINTS } from '../../gateway/endpoints.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Pools } from '../../shares/pools.ts';
import { keyAsked, type Reader } from '../http/callers.ts';
import { FORMATS } from '../http/export-formats.ts';
import { OPERATOR, sendExport } from '../http/long-answer.ts';
import { integerParam, type Query, queryOf, textParam, wordParam } from '../http/query.ts';
import { keyNotFound } from '../keys/keys.ts';
import { words } from '../openapi/fields.ts';
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
/** Cursor of a page of calls: a time and a call id. */
const CALL_CURSOR = /^(\d{1,15})\.([\x21-\x7e]{1,200})$/;
const ENDPOINT_PATHS = ENDPOINTS.map(({ path }) => path);

const when = (description: string) =>
  Type.Optional(
    Type.String({
      description: `${description} A UTC day, or an ISO 8601 time with an offset.`,
      examples: ['2026-11-21'],
    }),
  );
const only = (description: string, examples: string[]) =>
  Type.Optional(Type.String({ description, examples }));

const FILTERS = {
  limit: Type.Optional(
    Type.Integer({
      minimum: CALL_PAGE.min,
      maximum: CALL_PAGE.max,
      default: CALL_PAGE.usual,
      description: 'Maximum number of calls. Exports return all by default.',
    }),
  ),
  before: Type.Optional(
    Type.String({
      pattern: CALL_CURSOR.source,
      description: '`next` of the previous page.',
      examples: ['1795270980000.req_7Qm2xX4cRn9sKd1V6t'],
    }),
  ),
  from: when('Only calls from this time on.'),
  to: when('Only calls up to this time; a day is included.'),
  key_id: Type.Optional(Type.Integer({ minimum: 1, description: 'Only calls of this key.' })),
  model: only('Only calls of this model, as the request named it.', ['demo-chat']),
  endpoint: Type.Optional(words(ENDPOINT_PATHS, 'Only calls at this path.')),
  code: only('Only calls that ended with this error code.', ['insufficient_credits']),
  outcome: Type.Optional(words(CALL_OUTCOMES, 'Only calls with this outcome.')),
  result: Type.Optional(
    words(CALL_RESULTS, '`ok`: complete; `refused`: by the gateway; `failed`: any other outcome.'),
  ),
  format: Type.Optional(
    words(FORMATS, '`csv` and `jsonl` stream all calls, as files to save.', { default: 'json' }),
  ),
};

export const CallQueryString = Type.Object(FILTERS);
export const OperatorCallQueryString = Type.Object({
  ...FILTERS,
  upstream: only('Only calls sent to this upstream of the configuration.', ['demo']),
});
export const AllCallsQueryString = Type.Object({
  ...OperatorCallQueryString.properties,
  account_id: Type.Optional(Type.Integer({ minimum: 1, description: 'Only calls of this account.' })),
});

export const CallPath = Type.Object({
  call_id: Type.String({ description: 'Id of the call: its `x-request-id`.', examples: [CALL_EXAMPLE.id] }),
});

const DAY_MS = 86_400_000;
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
) {
  const query = queryOf(request);
  const keyId = await keyAsked(reading.book, query, reader);
  const filter = { ...filterOf(query, reading.catalog()), accountId: reader.accountId, keyId };
  await reading.ledger.flush(reader.accountId);
  return await answer(reading, { query, filter, owner: reader.owner }, reply, (record) =>
    callView(record, reader),
  );
}

/** Queries the calls of all accounts, for the operator. */
export async function readAllCalls(reading: CallsReading, request: FastifyRequest, reply: FastifyReply) {
  const query = queryOf(request);
  const accountId = integerParam(query, 'account_id', { min: 1, max: Number.MAX_SAFE_INTEGER });
  const keyId = integerParam(query, 'key_id', { min: 1, max: Number.MAX_SAFE_INTEGER });
  if (accountId !== undefined && !(await reading.book.account(accountId))) {
    throw accountNotFound();
  }
  if (keyId !== undefined && !(await reading.book.keysAmong([keyId])).has(keyId)) throw keyNotFound();
  const filter = { ...filterOf(query, reading.catalog()), accountId, keyId };
  await reading.ledger.flush('all');
  return await answer(reading, { query, filter, owner: OPERATOR }, reply, operatorCallView);
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
  if (!record || (reader.onlyKeyId !== undefined && keyId !== reader.onlyKeyId)) {
    throw callNotFound();
  }
  return callView(record, reader);
}

interface Asked {
  readonly query: Query;
  readonly filter: Omit<CallQuery, 'limit'>;
  readonly owner: number;
}

async function answer<View extends ReturnType<typeof callView>>(
  { book, pools }: CallsReading,
  { query, filter, owner }: Asked,
  reply: FastifyReply,
  viewOf: (record: CallRecord) => View,
) {
  const format = wordParam(query, 'format', FORMATS) ?? 'json';
  const asked = integerParam(query, 'limit', CALL_PAGE);
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

function filterOf(query: Query, catalog: Catalog): Omit<CallQuery, 'limit' | 'accountId' | 'keyId'> {
  const from = timeParam(query, 'from', 0);
  const to = timeParam(query, 'to', DAY_MS - 1);
  const named = textParam(query, 'model');
  if (from !== undefined && to !== undefined && from > to) {
    throw invalidField('from', 'from must not be later than to.');
  }
  return {
    before: placeParam(query),
    from,
    to,
    // Calls by alias are recorded under the model.
    model: named && (modelOf(catalog, named)?.slug ?? named),
    endpoint: wordParam(query, 'endpoint', ENDPOINT_PATHS),
    code: textParam(query, 'code'),
    outcome: wordParam(query, 'outcome', CALL_OUTCOMES),
    result: wordParam(query, 'result', CALL_RESULTS),
    upstream: textParam(query, 'upstream'),
  };
}

/** Parses a time, in milliseconds since the epoch; a day becomes its start plus `ofDay` milliseconds. */
function timeParam(query: Query, name: string, ofDay: number): number | undefined {
  const text = textParam(query, name);
  if (text === undefined) return undefined;
  const day = parseDay(text);
  const time = day === undefined ? parseTimestamp(text) : day * DAY_MS + ofDay;
  if (time === undefined) {
    throw invalidField(
      name,
      `${name} must be a date (YYYY-MM-DD) or an ISO 8601 date-time with Z or an offset.`,
    );
  }
  return time;
}

function placeParam(query: Query): CallPlace | undefined {
  const text = textParam(query, 'before');
  if (text === undefined) return undefined;
  const [, createdAt, id = ''] = CALL_CURSOR.exec(text) ?? [];
  if (createdAt === undefined) {
    throw invalidField('before', 'before must be the value of "next" from the previous page.');
  }
  return { createdAt: Number(createdAt), id };
}
