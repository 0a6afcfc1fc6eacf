import { cutShort, GatewayError, invalidField } from './errors.ts';

/**
 * Shapes of values from outside: settings of the config file, bodies and queries of the API. A reader parses a value and
 * carries the JSON Schema of what it takes, which is the documentation, and its types: `Parsed` of the result, `Sent` of
 * what is sent. It never throws itself: it reports each fault under the value's path and returns undefined. So one pass
 * over a config file finds every fault, and `readBody` refuses the first fault of a body.
 */

/** JSON Schema: draft 7 for editors of the config file, 2020-12 in OpenAPI. */
export type JsonSchema = Readonly<Record<string, unknown>>;

declare const SENT: unique symbol;
/** JSON Schema of values of type `W`. The type exists only for the compiler, not as a property. */
export type Schema<W = unknown> = JsonSchema & { readonly [SENT]?: W };

export type Read<T> = (value: unknown, path: string, faults: Faults) => T | undefined;

/** `W`: type of the values that are sent, if the API describes them. */
export interface Reader<T, W = unknown> extends Read<T> {
  readonly schema: Schema<W>;
}

export type Parsed<R> = R extends Read<infer T> ? T : never;
export type Sent<R> = R extends Reader<unknown, infer W> ? W : never;

/** Combines the two halves: the schema advises a client or an editor, the reader decides. */
export function reader<T, W = unknown>(schema: JsonSchema, read: Read<T>): Reader<T, W> {
  return Object.assign((...given: Parameters<Read<T>>) => read(...given), { schema });
}

/** Faults found so far, one line each: `path: correct form`. Values are never quoted; they may be secrets. */
export class Faults {
  readonly lines: string[] = [];
  /** Whether numbers and flags may be text, which is all that the environment and queries have. */
  readonly allowsText: boolean = true;
  /** Whether null differs from an absent field. */
  readonly readsNull: boolean = false;

  /** `subject`: what a sentence about the fault begins with. Default: the path. */
  add(path: string, message: string, _subject?: string): undefined {
    this.lines.push(`${path}: ${message}`);
    return undefined;
  }

  addUnknown(path: string, name: string, known: readonly string[]): void {
    this.add(join(path, name), `is not a setting; supported: ${known.join(', ')}`);
  }

  addMissing(path: string, _read: Read<unknown>): void {
    this.add(path, 'is missing');
  }
}

/** Throws the first fault as `invalid_field`. */
class FirstFault extends Faults {
  override readonly allowsText: boolean;
  override readonly readsNull = true;

  constructor(allowsText: boolean) {
    super();
    this.allowsText = allowsText;
  }

  override add(path: string, message: string, subject = path): never {
    throw invalidField(path, `${subject} ${message}.`);
  }

  override addUnknown(_path: string, name: string, known: readonly string[]): never {
    const shown = cutShort(name);
    const supported = `Supported fields: ${known.join(', ')}.`;
    throw invalidField(shown, `${JSON.stringify(shown)} is not a supported field. ${supported}`);
  }

  /** The reader says what is missing. */
  override addMissing(path: string, read: Read<unknown>): void {
    read(undefined, path, this);
  }
}

/** Reads a JSON value. Throws `invalid_field` at the first fault; `param` names the value. */
export function readValue<T>(read: Read<T>, value: unknown, param: string): T {
  return read(value, param, new FirstFault(false)) as T;
}

/** Reads a request body. Throws `invalid_json` if it is no object, and `invalid_field` at the first fault. */
export function readBody<T>(read: Read<T>, body: unknown): T {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new GatewayError('invalid_json', 'The request body must be a JSON object.');
  }
  return readValue(read, new Map(Object.entries(body)), '');
}

/** Reads the parameters of a query, which are text. Throws `invalid_field` at the first fault. */
export function readQuery<T>(read: Read<T>, query: unknown): T {
  return read(new Map(Object.entries(query as object)), '', new FirstFault(true)) as T;
}

export interface Field<T, W = unknown> {
  readonly read: Reader<T, W>;
  /** Description in the JSON Schema. */
  readonly description: string;
  /** Default for an absent value; without one the field is required. */
  readonly orElse?: () => T;
  /** Reads a key without a value instead of treating it as absent. */
  readonly readsBlank?: boolean;
  /** The default as it is written, if any. */
  readonly shownDefault?: unknown;
}
/** A field with a default, which `T` includes. */
export interface OptionalField<T, W = unknown> extends Field<T, W> {
  readonly orElse: () => T;
}
/** A field without a default: the result lacks it if it is absent. */
export interface MaybeField<T, W = unknown> extends Field<T, W> {
  readonly isMaybe: true;
}

export function required<T, W>(read: Reader<T, W>, description: string): Field<T, W> {
  return { read, description };
}

/** A field whose default is final and not parsed. `shownDefault`: the default as it is written, if different. */
export function optional<T, const D, W>(
  read: Reader<T, W>,
  fallback: D,
  description: string,
  shownDefault: unknown = fallback,
): OptionalField<T | D, W> {
  return { read, description, orElse: () => fallback, shownDefault };
}

/** A PATCH of these fields: all can be absent. */
export function patched<const F extends Fields>(
  fields: F,
): { readonly [K in keyof F]: MaybeField<ValueOf<F[K]>, SentOf<F[K]>> } {
  const parts = Object.entries(fields).map(([key, { read, description }]) => [key, maybe(read, description)]);
  return Object.fromEntries(parts) as { readonly [K in keyof F]: MaybeField<ValueOf<F[K]>, SentOf<F[K]>> };
}

/** The field, no longer required. */
export function withDefault<T, W>(
  field: Field<T, W>,
  fallback: T,
  shownDefault: unknown = fallback,
): OptionalField<T, W> {
  return { ...field, orElse: () => fallback, shownDefault };
}

export function maybe<T, W>(read: Reader<T, W>, description: string): MaybeField<T, W> {
  return { read, description, isMaybe: true };
}

type Fields = Readonly<Record<string, Field<unknown>>>;
type ValueOf<F> = F extends Field<infer T> ? T : never;
type SentOf<F> = F extends Field<unknown, infer W> ? W : never;
/** `alert_threshold` is `alertThreshold` in the code. */
export type Camel<Name> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<Camel<Rest>>}`
  : Name;

type ParsedFields<F extends Fields> = Flat<
  { readonly [K in keyof F as F[K] extends MaybeField<unknown> ? never : Camel<K>]: ValueOf<F[K]> } & {
    readonly [K in keyof F as F[K] extends MaybeField<unknown> ? Camel<K> : never]?: ValueOf<F[K]>;
  }
>;
type CanBeAbsent = MaybeField<unknown> | OptionalField<unknown>;
type SentFields<F extends Fields> = Flat<
  { readonly [K in keyof F as F[K] extends CanBeAbsent ? never : K]: SentOf<F[K]> } & {
    readonly [K in keyof F as F[K] extends CanBeAbsent ? K : never]?: SentOf<F[K]>;
  }
>;
/** Flattens an intersection, for readable editor hints and compiler messages. */
export type Flat<T> = { readonly [Name in keyof T]: T[Name] };

/**
 * A map with exactly these keys; unknown keys are faults. Undefined if any part is invalid. `about`: more keywords of
 * its schema.
 */
export function section<const F extends Fields>(
  fields: F,
  about: JsonSchema = {},
): Reader<ParsedFields<F>, SentFields<F>> {
  const known = Object.keys(fields);
  const parts = Object.entries(fields).map(([key, field]) => [key, camel(key), field] as const);
  return reader({ ...sectionSchema(fields), ...about }, (value, path, faults) => {
    if (!(value instanceof Map)) return faults.add(path || 'the file', 'must be a map of settings');
    const before = faults.lines.length;
    for (const key of value.keys()) {
      if (!known.includes(String(key))) faults.addUnknown(path, String(key), known);
    }
    const result: Record<string, unknown> = {};
    for (const [key, name, field] of parts) {
      const given = value.get(key);
      const isGiven = given !== undefined && (given !== null || field.readsBlank || faults.readsNull);
      if (isGiven) result[name] = field.read(given, join(path, key), faults);
      else if (field.orElse) result[name] = field.orElse();
      else if (!('isMaybe' in field)) faults.addMissing(join(path, key), field.read);
    }
    return faults.lines.length === before ? (result as ParsedFields<F>) : undefined;
  });
}

export function camel<Name extends string>(name: Name): Camel<Name> {
  return name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()) as Camel<Name>;
}

/** The schema of a field's value, with its description. */
export function fieldSchema<W>({ read, description, shownDefault }: Field<unknown, W>): Schema<W> {
  return { description, ...read.schema, ...(shownDefault === undefined ? {} : { default: shownDefault }) };
}

/** The schemas of all fields. */
export function fieldSchemas<const F extends Fields>(
  fields: F,
): { readonly [K in keyof F]: Schema<SentOf<F[K]>> } {
  const schemas = Object.entries(fields).map(([key, field]) => [key, fieldSchema(field)]);
  return Object.fromEntries(schemas) as { readonly [K in keyof F]: Schema<SentOf<F[K]>> };
}

function sectionSchema(fields: Fields): JsonSchema {
  const needed = Object.entries(fields).filter(([, field]) => !(field.orElse || 'isMaybe' in field));
  return {
    type: 'object',
    properties: fieldSchemas(fields),
    ...(needed.length > 0 ? { required: needed.map(([key]) => key) } : {}),
    additionalProperties: false,
  };
}

const PLAIN_NAME = {
  pattern: /^[\x21-\x7e]{1,200}$/,
  right: 'must have a name of 1 to 200 visible ASCII characters',
};

/** A map with user-chosen names, in file order; invalid entries are recorded and left out. */
export function entries<T>(read: Reader<T>, { pattern, right } = PLAIN_NAME): Reader<Map<string, T>> {
  const names = { pattern: pattern.source };
  const schema = { type: 'object', propertyNames: names, additionalProperties: read.schema };
  return reader(schema, (value, path, faults) => {
    if (!(value instanceof Map)) return faults.add(path, 'must be a map from names to settings');
    const result = new Map<string, T>();
    for (const [key, item] of value) {
      const name = String(key);
      if (!pattern.test(name)) faults.add(join(path, name), right);
      const entry = read(item, join(path, name), faults);
      if (entry !== undefined) result.set(name, entry);
    }
    return result;
  });
}

/** A list of items for `read`. */
export function list<T>(read: Reader<T>): Reader<T[]> {
  return reader({ type: 'array', items: read.schema }, (value, path, faults) => {
    if (!Array.isArray(value)) return faults.add(path, 'must be a list');
    const items = value.map((item: unknown, index) => read(item, `${path}[${index}]`, faults));
    return items.filter((item) => item !== undefined);
  });
}

/** Converts decimal text to a number; returns any other value unchanged. */
export function numberOf(value: unknown, kind: 'whole' | 'decimal' = 'decimal'): unknown {
  const digits = kind === 'whole' ? /^\d+$/ : /^\d+(\.\d+)?$/;
  return typeof value === 'string' && digits.test(value) ? Number(value) : value;
}

/** A number in [min, max]. `orElse`: what else is right, for the message. */
export function number(
  min: number,
  max = Number.MAX_SAFE_INTEGER,
  kind: 'whole' | 'decimal' = 'whole',
  orElse = '',
): Reader<number, number> {
  const to = max === Number.MAX_SAFE_INTEGER ? '' : ` to ${max}`;
  const right = `must be a ${kind === 'whole' ? 'whole ' : ''}number from ${min}${to}${orElse}`;
  const schema = { type: kind === 'whole' ? 'integer' : 'number', minimum: min, maximum: max };
  return reader(schema, (value, path, faults) => {
    const read = faults.allowsText ? numberOf(value, kind) : value;
    const fits = typeof read === 'number' && read >= min && read <= max;
    return fits && (kind === 'decimal' || Number.isInteger(read)) ? read : faults.add(path, right);
  });
}

export const boolean: Reader<boolean, boolean> = reader({ type: 'boolean' }, (value, path, faults) => {
  const given = faults.allowsText ? (FLAGS.get(value) ?? value) : value;
  return typeof given === 'boolean' ? given : faults.add(path, 'must be true or false');
});

const FLAGS: ReadonlyMap<unknown, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);

/** One of several exact words. */
export function oneOf<const T extends string>(...words: readonly T[]): Reader<T, T> {
  const right = `must be one of ${words.join(', ')}`;
  return reader(
    { type: 'string', enum: words },
    (value, path, faults) => words.find((known) => known === value) ?? faults.add(path, right),
  );
}

/** Text; `accept` returns the form to keep, or undefined for a fault. */
export function text<T = string>(
  right: string,
  accept: (text: string) => T | undefined,
  more: JsonSchema = {},
): Reader<T, string> {
  return reader(
    { type: 'string', ...more },
    (value, path, faults) =>
      (typeof value === 'string' ? accept(value) : undefined) ?? faults.add(path, right),
  );
}

/** A reader with more keywords in its schema. */
export function described<T, W>(read: Reader<T, W>, more: JsonSchema): Reader<T, W> {
  return reader({ ...read.schema, ...more }, read);
}

/** Also takes null. */
export function orNull<T, W>(read: Reader<T, W>): Reader<T | null, W | null> {
  return reader({ anyOf: [read.schema, { type: 'null' }] }, (value, path, faults) =>
    value === null ? null : read(value, path, faults),
  );
}

function join(path: string, key: unknown): string {
  return path ? `${path}.${String(key)}` : String(key);
}
