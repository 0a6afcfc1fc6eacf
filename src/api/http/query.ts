import type { FastifyRequest } from 'fastify';
import { cutShort, type GatewayError, invalidField } from '../../domain/errors.ts';
import { ID, PAGE_LIMIT } from '../openapi/fields.ts';
import type { ObjectSchema } from '../openapi/json-type.ts';

/** Query parameters as Fastify parses them; one that is sent twice is an array. */
export type Query = Readonly<Record<string, unknown>>;

export function queryOf(request: { readonly query: unknown }): Query {
  return request.query as Query;
}

/**
 * Refuses parameters that are repeated or not in the route's schema (specification section 2), because a misspelt
 * filter must not return everything. Throws `invalid_field`.
 */
export function refuseUnknownParameters(request: FastifyRequest): void {
  const schema = request.routeOptions.schema?.querystring as Partial<ObjectSchema> | undefined;
  const known = Object.keys(schema?.properties ?? {});
  for (const [name, value] of Object.entries(queryOf(request))) {
    if (!known.includes(name)) {
      const shown = cutShort(name);
      const here = known.length > 0 ? `Supported parameters: ${known.join(', ')}.` : 'It has no parameters.';
      throw invalidField(shown, `${JSON.stringify(shown)} is not a query parameter of this route. ${here}`);
    }
    if (Array.isArray(value)) throw givenTwice(name);
  }
}

function givenTwice(name: string): GatewayError {
  return invalidField(name, `${name} must not be repeated.`);
}

/** A parameter as text; undefined if it is absent. Throws `invalid_field`. */
export function textParam(query: Query, name: string): string | undefined {
  const value = query[name];
  if (value === undefined) return undefined;
  if (typeof value !== 'string') throw givenTwice(name);
  // PostgreSQL rejects U+0000, in query arguments too.
  if (value.includes('\0')) throw invalidField(name, `${name} must not contain U+0000.`);
  return value;
}

/** A parameter as a whole number within bounds; undefined if it is absent. Throws `invalid_field`. */
export function integerParam(
  query: Query,
  name: string,
  bounds: { readonly min: number; readonly max: number },
): number | undefined {
  const text = textParam(query, name);
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!/^\d{1,16}$/.test(text) || value < bounds.min || value > bounds.max) {
    const range =
      bounds.max === Number.MAX_SAFE_INTEGER ? `from ${bounds.min}` : `from ${bounds.min} to ${bounds.max}`;
    throw invalidField(name, `${name} must be a whole number ${range}.`);
  }
  return value;
}

/** The parameter `limit`, the maximum items of a page; undefined if absent. Throws `invalid_field`. */
export function limitParam(query: Query): number | undefined {
  return integerParam(query, 'limit', PAGE_LIMIT);
}

/** A parameter that must be one of the words listed; undefined if absent. Throws `invalid_field`. */
export function wordParam<Word extends string>(
  query: Query,
  name: string,
  words: readonly Word[],
): Word | undefined {
  const text = textParam(query, name);
  if (text === undefined) return undefined;
  const word = words.find((candidate) => candidate === text);
  if (word === undefined) throw invalidField(name, `${name} must be one of: ${words.join(', ')}.`);
  return word;
}

/** A parameter with the cursor `next` of an earlier page; undefined if absent. Throws `invalid_field`. */
export function cursorParam(query: Query, name: string): number | undefined {
  const text = textParam(query, name);
  if (text === undefined) return undefined;
  const position = pathId(text);
  if (position === undefined) {
    throw invalidField(name, `${name} must be the value of "next" from the previous page.`);
  }
  return position;
}

/** A positive id in its only spelling (no sign, no leading zero); undefined for any other text. */
export function pathId(text: string): number | undefined {
  if (!ID.test(text)) return undefined;
  const id = Number(text);
  return Number.isSafeInteger(id) ? id : undefined;
}
