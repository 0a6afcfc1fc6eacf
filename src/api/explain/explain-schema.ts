import { TEXT_PATTERNS } from '../../domain/json-patterns.ts';
import { ENDPOINTS } from '../../gateway/endpoints.ts';
import { words } from '../openapi/fields.ts';
import { Type } from '../openapi/json-type.ts';

/** The longest text that an explain request may have, in characters. */
export const LONGEST_TEXT = 1_000;

const text = (description: string, more: object = {}) =>
  Type.String({ maxLength: LONGEST_TEXT, pattern: TEXT_PATTERNS.storable, description, ...more });

export const ExplainBody = Type.Object(
  {
    model: text('Name of the model that would be called.'),
    endpoint: Type.Optional(
      words(
        ENDPOINTS.map(({ path }) => path),
        'Path under /v1. Default: the first that serves the model.',
      ),
    ),
    ip: Type.Optional(text('Address of the caller. Default: yours.')),
    origin: Type.Optional(text('The header `Origin`. Default: none.')),
    country: Type.Optional(
      text('ISO 3166-1 alpha-2 code. Default: the country of the address.', {
        pattern: TEXT_PATTERNS.country,
      }),
    ),
    at: Type.Optional(
      text(
        'Time of the call, for `active_hours` and `expires_at`: ISO 8601 with `Z` or an offset. Default: now.',
        {
          format: 'date-time',
        },
      ),
    ),
  },
  { title: 'ExplainedCall', description: 'The call to check.', additionalProperties: false },
);

export const EXPLAIN_EXAMPLES = {
  now: { summary: 'From here and now', value: { model: 'demo-chat' } },
  elsewhere: {
    summary: 'From elsewhere, at another time',
    value: {
      model: 'demo-chat',
      endpoint: '/v1/chat/completions',
      ip: '203.0.113.9',
      origin: 'https://app.example.com',
      country: 'DE',
      at: '2030-01-01T20:00:00Z',
    },
  },
};
