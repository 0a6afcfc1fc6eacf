import { type ParsedAddress, parseAddress } from '../domain/addresses.ts';
import { normaliseCountry } from '../domain/countries.ts';
import { invalidField } from '../domain/errors.ts';
import { parseTimestamp } from '../domain/period.ts';
import { ENDPOINTS, type Endpoint } from '../gateway/endpoints.ts';
import { objectBody, textField } from './body-fields.ts';
import { ExplainBody, LONGEST_TEXT } from './explain-schema.ts';

/** The call that an explain request asks about. Fields that were not given are undefined. */
export interface ExplainRequest {
  readonly model: string;
  readonly endpoint: Endpoint | undefined;
  readonly address: ParsedAddress | undefined;
  readonly origin: string | undefined;
  /** Country code of ISO 3166-1 alpha-2 in upper case. */
  readonly country: string | undefined;
  /** Time of the call in milliseconds since the epoch. */
  readonly at: number | undefined;
}

/** Parses the body of an explain request (specification section 2). Throws `invalid_field`. */
export function parseExplain(body: unknown): ExplainRequest {
  const fields = objectBody(body, Object.keys(ExplainBody.properties));
  return {
    model: textField('model', fields.model, LONGEST_TEXT),
    endpoint: read(fields, 'endpoint', endpointAt, `one of ${ENDPOINTS.map(({ path }) => path).join(', ')}`),
    address: read(fields, 'ip', parseAddress, 'an IPv4 or IPv6 address'),
    origin: read(fields, 'origin', (origin) => origin, 'a string'),
    country: read(fields, 'country', normaliseCountry, 'an ISO 3166-1 alpha-2 country code'),
    at: read(fields, 'at', parseTimestamp, 'an ISO 8601 date-time with Z or an offset'),
  };
}

function read<Value>(
  fields: Readonly<Record<string, unknown>>,
  name: string,
  parse: (text: string) => Value | undefined,
  wanted: string,
): Value | undefined {
  const value = fields[name];
  if (value === undefined) return undefined;
  const parsed = parse(textField(name, value, LONGEST_TEXT));
  if (parsed === undefined) throw invalidField(name, `${name} must be ${wanted}.`);
  return parsed;
}

function endpointAt(path: string): Endpoint | undefined {
  return ENDPOINTS.find((endpoint) => endpoint.path === path);
}
