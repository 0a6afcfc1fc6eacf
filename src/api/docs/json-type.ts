import type { JsonSchema } from './operation.ts';

/** Mark of a property that may be missing. A symbol, so that it is not part of the schema's JSON. */
const OPTIONAL = Symbol('optional');

export interface ObjectSchema extends JsonSchema {
  readonly properties: Readonly<Record<string, JsonSchema>>;
}

/**
 * Builders of JSON Schemas, called as TypeBox calls them; `options` are further keywords. TypeBox itself would cost 4.5
 * MB of idle memory and 112 ms of every start (bench/README.md), and none of its checks would be used.
 */
export const Type = {
  Array: (items: JsonSchema, options: JsonSchema = {}): JsonSchema => ({ type: 'array', items, ...options }),
  Boolean: (options: JsonSchema = {}): JsonSchema => ({ type: 'boolean', ...options }),
  Integer: (options: JsonSchema = {}): JsonSchema => ({ type: 'integer', ...options }),
  Literal: (value: boolean | string, options: JsonSchema = {}): JsonSchema => ({
    type: typeof value,
    const: value,
    ...options,
  }),
  Null: (): JsonSchema => ({ type: 'null' }),
  Number: (options: JsonSchema = {}): JsonSchema => ({ type: 'number', ...options }),
  String: (options: JsonSchema = {}): JsonSchema => ({ type: 'string', ...options }),
  Union: (anyOf: readonly JsonSchema[], options: JsonSchema = {}): JsonSchema => ({ anyOf, ...options }),

  /** Requires every property but the optional ones. */
  Object(properties: Readonly<Record<string, JsonSchema>>, options: JsonSchema = {}): ObjectSchema {
    const required = Object.keys(properties).filter((name) => !(OPTIONAL in (properties[name] ?? {})));
    return { type: 'object', ...(required.length > 0 ? { required } : {}), properties, ...options };
  },

  /** Marks a property as one that may be missing. */
  Optional: (schema: JsonSchema): JsonSchema => ({ ...schema, [OPTIONAL]: true }),

  /** An object schema with the same properties, any of which may be missing. */
  Partial({ properties }: ObjectSchema, options: JsonSchema = {}): ObjectSchema {
    const all = Object.entries(properties).map(([name, schema]) => [name, Type.Optional(schema)]);
    return Type.Object(Object.fromEntries(all), options);
  },
};
