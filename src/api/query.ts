import { invalidField } from '../domain/errors.ts';

/** Query parameters as Fastify parses them: a parameter that is sent twice arrives as an array. */
export type Query = Readonly<Record<string, unknown>>;

/** The query of a request; unknown parameters are left unread. */
export function queryOf(request: { readonly query: unknown }): Query {
  return request.query as Query;
}

/** One parameter as text; undefined when absent. Throws `invalid_field`. */
export function textParam(query: Query, name: string): string | undefined {
  const value = query[name];
  if (value === undefined) return undefined;
  if (typeof value !== 'string') throw invalidField(name, `${name} may be given once only.`);
  // PostgreSQL takes no U+0000, in a question either.
  if (value.includes('\0')) throw invalidField(name, `${name} must be a text without U+0000.`);
  return value;
}

/** A whole number within bounds, or the default when absent. Throws `invalid_field`. */
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

/** One of the words listed; undefined when absent. Throws `invalid_field`. */
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

/** A cursor that an earlier page answered as `next`; undefined when absent. Throws `invalid_field`. */
export function cursorParam(query: Query, name: string): number | undefined {
  const text = textParam(query, name);
  if (text === undefined) return undefined;
  const position = pathId(text);
  if (position === undefined) {
    throw invalidField(name, `${name} must be the value of "next" from the page before.`);
  }
  return position;
}

/** A positive id in its one spelling (no sign, no leading zero); undefined for anything else. */
export function pathId(text: string): number | undefined {
  if (!/^[1-9]\d{0,15}$/.test(text)) return undefined;
  const id = Number(text);
  return Number.isSafeInteger(id) ? id : undefined;
}
