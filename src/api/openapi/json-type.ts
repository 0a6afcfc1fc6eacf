import type { Flat, JsonSchema, Schema } from '../../domain/shape.ts';

export type { JsonSchema, Schema };

/** Type of the values that a schema describes, as in `type KeyView = Static<typeof Key>`. */
export type Static<S extends Schema> = S extends Schema<infer T> ? T : never;

/** Marks an optional property. A symbol, so that it stays out of the schema's JSON. */
const OPTIONAL = Symbol('optional');
type OptionalSchema<T> = Schema<T> & { readonly [OPTIONAL]: true };

type Properties = Readonly<Record<string, Schema>>;

/** Type of the values of an object schema. */
type ObjectOf<P extends Properties> = Flat<
  {
    readonly [Name in keyof P as P[Name] extends OptionalSchema<unknown> ? never : Name]: Static<P[Name]>;
  } & {
    readonly [Name in keyof P as P[Name] extends OptionalSchema<unknown> ? Name : never]?: Static<P[Name]>;
  }
>;

export type ObjectSchema<P extends Properties = Properties> = Schema<ObjectOf<P>> & {
  readonly properties: P;
};

/**
 * JSON Schema builders with TypeBox's names; `options` are further keywords. TypeBox itself would cost 4.5 MB of idle
 * memory and 112 ms per start (bench/README.md), and its checks would go unused.
 */
export const Type = {
  Array: <T>(items: Schema<T>, options: JsonSchema = {}): Schema<readonly T[]> => ({
    type: 'array',
    items,
    ...options,
  }),
  Boolean: (options: JsonSchema = {}): Schema<boolean> => ({ type: 'boolean', ...options }),
  /** One of `words`. */
  Enum: <const Word extends string>(words: readonly Word[], options: JsonSchema = {}): Schema<Word> => ({
    type: 'string',
    enum: [...words],
    ...options,
  }),
  Integer: (options: JsonSchema = {}): Schema<number> => ({ type: 'integer', ...options }),
  Literal: <const Value extends boolean | string>(value: Value, options: JsonSchema = {}): Schema<Value> => ({
    type: typeof value,
    const: value,
    ...options,
  }),
  Null: (): Schema<null> => ({ type: 'null' }),
  Number: (options: JsonSchema = {}): Schema<number> => ({ type: 'number', ...options }),
  String: (options: JsonSchema = {}): Schema<string> => ({ type: 'string', ...options }),
  Union: <const S extends readonly Schema[]>(
    anyOf: S,
    options: JsonSchema = {},
  ): Schema<Static<S[number]>> => ({ anyOf, ...options }),

  /** Requires every property but the optional ones. */
  Object<P extends Properties>(properties: P, options: JsonSchema = {}): ObjectSchema<P> {
    const required = Object.keys(properties).filter((name) => !(OPTIONAL in (properties[name] ?? {})));
    return { type: 'object', ...(required.length > 0 ? { required } : {}), properties, ...options };
  },

  /** Marks a property as one that may be missing. */
  Optional: <T>(schema: Schema<T>): OptionalSchema<T> => ({ ...schema, [OPTIONAL]: true }),

  /** Same properties, all optional. */
  Partial<P extends Properties>({ properties }: ObjectSchema<P>, options: JsonSchema = {}) {
    const all = Object.entries(properties).map(([name, schema]) => [name, Type.Optional(schema)]);
    return Type.Object<{ readonly [Name in keyof P]: OptionalSchema<Static<P[Name]>> }>(
      Object.fromEntries(all),
      options,
    );
  },
};
