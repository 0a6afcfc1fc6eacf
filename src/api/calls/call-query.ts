import { CALL_RESULTS } from '../../book/book-calls.ts';
import { ENDPOINTS } from '../../gateway/endpoints.ts';
import { words } from '../openapi/fields.ts';
import { Type } from '../openapi/json-type.ts';
import { FORMATS } from '../openapi/list-answer.ts';
import { CALL_EXAMPLE, CALL_OUTCOMES } from './call-schema.ts';

export const CALL_PAGE = { min: 1, max: 200, usual: 50 };
/** Matches the cursor of a page of calls: a time, and the id of a call. */
export const CALL_CURSOR = /^(\d{1,15})\.([\x21-\x7e]{1,200})$/;
export const ENDPOINT_PATHS = ENDPOINTS.map(({ path }) => path);

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
