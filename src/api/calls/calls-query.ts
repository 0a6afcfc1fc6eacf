import type { Book } from '../../book/book.ts';
import { CALL_RESULTS, type CallFilter, type CallPlace } from '../../book/calls.ts';
import { type Catalog, modelOf } from '../../domain/catalog.ts';
import { invalidField } from '../../domain/errors.ts';
import { parseDay, parseTimestamp } from '../../domain/period.ts';
import { maybe, number, oneOf, optional, type Parsed, section, text } from '../../domain/shape.ts';
import { ENDPOINTS } from '../../gateway/endpoints.ts';
import { keyAsked, keyNotFound, type Reader } from '../http/callers.ts';
import { FORMATS } from '../http/export-formats.ts';
import { anyText } from '../openapi/fields.ts';
import { accountNotFound } from '../operator/admin-account-routes.ts';
import { CALL_OUTCOMES } from './call-view.ts';

export const CALL_PAGE = { min: 1, max: 200, usual: 50 };
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

/** Throws `invalid_field` for a range that ends before it begins. */
export function requireOrder({
  from,
  to,
}: {
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}) {
  if (from !== undefined && to !== undefined && from > to)
    throw invalidField('from', 'from must not be later than to.');
}

const PLACE = text(
  'must be the value of "next" from the previous page',
  (given): CallPlace | undefined => {
    const [, createdAt, id = ''] = CALL_CURSOR.exec(given) ?? [];
    return createdAt === undefined ? undefined : { createdAt: Number(createdAt), id };
  },
  { pattern: CALL_CURSOR.source, examples: ['1795270980000.req_7Qm2xX4cRn9sKd1V6t'] },
);

const PAGE = {
  limit: {
    ...maybe(number(CALL_PAGE.min, CALL_PAGE.max), 'Maximum number of calls. Exports return all by default.'),
    shownDefault: CALL_PAGE.usual,
  },
  before: maybe(PLACE, '`next` of the previous page.'),
  format: optional(oneOf(...FORMATS), 'json', '`csv` and `jsonl` stream all calls, as files to save.'),
};
const FILTERS = {
  from: when(0, 'Only calls from this time on.'),
  to: when(DAY_MS - 1, 'Only calls up to this time; a day is included.'),
  key_id: maybe(number(1), 'Only calls of this key.'),
  person_id: maybe(number(1), "Only calls of this person's keys."),
  model: maybe(anyText({ examples: ['demo-chat'] }), 'Only calls of this model, as the request named it.'),
  endpoint: maybe(oneOf(...ENDPOINTS.map(({ path }) => path)), 'Only calls at this path.'),
  code: maybe(anyText({ examples: ['insufficient_credits'] }), 'Only calls that ended with this error code.'),
  outcome: maybe(oneOf(...CALL_OUTCOMES), 'Only calls with this outcome.'),
  result: maybe(
    oneOf(...CALL_RESULTS),
    '`ok`: complete; `refused`: by the gateway; `failed`: any other outcome.',
  ),
};
const OPERATOR_FILTERS = {
  ...FILTERS,
  upstream: maybe(anyText({ examples: ['demo'] }), 'Only calls sent to this upstream of the configuration.'),
};
const ALL_FILTERS = {
  ...OPERATOR_FILTERS,
  account_id: maybe(number(1), 'Only calls of this account.'),
};

export const CallsQuery = section({ ...PAGE, ...FILTERS });
export const OperatorCallsQuery = section({ ...PAGE, ...OPERATOR_FILTERS });
export const AllCallsQuery = section({ ...PAGE, ...ALL_FILTERS });
export const CallsFilters = section(FILTERS);
export const OperatorCallsFilters = section(OPERATOR_FILTERS);
export const AllCallsFilters = section(ALL_FILTERS);

type Filters = Parsed<typeof OperatorCallsFilters>;

interface FilterParts {
  readonly book: Pick<Book, 'key' | 'account' | 'keysAmong'>;
  readonly catalog: () => Catalog;
}

/** Filter for calls that a reader may see. Throws `key_not_found` and `invalid_field`. */
export async function accountFilter(
  { book, catalog }: FilterParts,
  reader: Reader,
  filters: Filters,
): Promise<CallFilter & { readonly accountId: number }> {
  const keyId = await keyAsked(book, filters.keyId, reader);
  const personId = personAsked(filters.personId, reader);
  return { ...filterOf(filters, catalog()), accountId: reader.accountId, keyId, personId };
}

/** Filter for calls of all accounts. Throws `account_not_found`, `key_not_found` and `invalid_field`. */
export async function filterOfAll(
  { book, catalog }: FilterParts,
  filters: Parsed<typeof AllCallsFilters>,
): Promise<CallFilter> {
  const { accountId, keyId, personId } = filters;
  if (accountId !== undefined && !(await book.account(accountId))) throw accountNotFound();
  if (keyId !== undefined && !(await book.keysAmong([keyId])).has(keyId)) throw keyNotFound();
  return { ...filterOf(filters, catalog()), accountId, keyId, personId };
}

/** No person: ids start at 1. */
const NOBODY = 0;

/** The person of a query: the one asked for, who has no calls for a reader who sees only another's. */
function personAsked(asked: number | undefined, { onlyPersonId }: Reader): number | undefined {
  if (asked === undefined || onlyPersonId === undefined || asked === onlyPersonId)
    return onlyPersonId ?? asked;
  return NOBODY;
}

function filterOf({ from, to, model, endpoint, code, outcome, result, upstream }: Filters, catalog: Catalog) {
  requireOrder({ from, to });
  // Calls by alias are recorded under the model.
  const slug = model && (modelOf(catalog, model)?.slug ?? model);
  return { from, to, model: slug, endpoint, code, outcome, result, upstream };
}
