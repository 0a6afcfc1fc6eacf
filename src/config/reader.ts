/**
 * Parses untyped settings. A reader never throws: it records each fault under the value's path and returns undefined,
 * so one pass over a file finds every fault. Each reader carries the JSON Schema of its values, from which
 * config/gateway.schema.json is generated, so editor and gateway agree on known settings.
 */

/** JSON Schema, draft 7, for editors. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** Faults found so far, one line each: `path: correct form`. Values are never quoted; they may be secrets. */
export class Faults {
  readonly lines: string[] = [];

  add(path: string, message: string): undefined {
    this.lines.push(`${path}: ${message}`);
    return undefined;
  }
}

export type Read<T> = (value: unknown, path: string, faults: Faults) => T | undefined;

export interface Reader<T> extends Read<T> {
  readonly schema: JsonSchema;
}

/** Combines the two halves: the schema advises an editor, the reader decides. */
export function reader<T>(schema: JsonSchema, read: Read<T>): Reader<T> {
  return Object.assign((...given: Parameters<Read<T>>) => read(...given), { schema });
}

/** Also accepts an environment reference: `${NAME}` is replaced before the value is read. */
export function orReference(schema: JsonSchema): JsonSchema {
  return { anyOf: [schema, { type: 'string', pattern: '\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}' }] };
}

export interface Field<T> {
  readonly read: Reader<T>;
  /** Description in the JSON Schema. */
  readonly description: string;
  /** Default for an absent value; without one the field is required. */
  readonly orElse?: () => T;
  /** Reads a key without a value instead of treating it as absent. */
  readonly readsBlank?: boolean;
  /** The default as written in the file, if any. */
  readonly shownDefault?: unknown;
}

export function required<T>(read: Reader<T>, description: string): Field<T> {
  return { read, description };
}

/** A field whose default is final and not parsed. `shownDefault`: the default as written in the file, if different. */
export function optional<T, D>(
  read: Reader<T>,
  fallback: D,
  description: string,
  shownDefault: unknown = fallback,
): Field<T | D> {
  return { read, description, orElse: () => fallback, shownDefault };
}

type Shape = Readonly<Record<string, Field<unknown>>>;
type Settings<S extends Shape> = { readonly [K in keyof S]: S[K] extends Field<infer T> ? T : never };

/** A map with exactly these keys; unknown keys are faults. Undefined if any part is invalid. */
export function section<S extends Shape>(shape: S): Reader<Settings<S>> {
  return reader(sectionSchema(shape), (value, path, faults) => {
    if (!(value instanceof Map)) return faults.add(path || 'the file', 'must be a map of settings');
    const before = faults.lines.length;
    const known = Object.keys(shape);
    for (const key of value.keys()) {
      if (!known.includes(String(key))) {
        faults.add(join(path, key), `is not a setting; supported: ${known.join(', ')}`);
      }
    }
    const result: Record<string, unknown> = {};
    for (const [key, field] of Object.entries(shape)) {
      const given = field.readsBlank ? value.get(key) : (value.get(key) ?? undefined);
      if (given !== undefined) result[key] = field.read(given, join(path, key), faults);
      else if (field.orElse) result[key] = field.orElse();
      else faults.add(join(path, key), 'is missing');
    }
    return faults.lines.length === before ? (result as Settings<S>) : undefined;
  });
}

function sectionSchema(shape: Shape): JsonSchema {
  const properties = Object.entries(shape).map(([key, { read, description, shownDefault }]) => [
    key,
    { description, ...read.schema, ...(shownDefault === undefined ? {} : { default: shownDefault }) },
  ]);
  const needed = Object.keys(shape).filter((key) => shape[key]?.orElse === undefined);
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(needed.length > 0 ? { required: needed } : {}),
    additionalProperties: false,
  };
}

const NAME = '^[\\x21-\\x7e]{1,200}$';

/** A map with user-chosen names, in file order; invalid entries are recorded and left out. */
export function entries<T>(read: Reader<T>): Reader<Map<string, T>> {
  const schema = { type: 'object', propertyNames: { pattern: NAME }, additionalProperties: read.schema };
  return reader(schema, (value, path, faults) => {
    if (!(value instanceof Map)) return faults.add(path, 'must be a map from names to settings');
    const result = new Map<string, T>();
    for (const [key, item] of value) {
      const name = String(key);
      if (!new RegExp(NAME).test(name)) {
        faults.add(join(path, name), 'must have a name of 1 to 200 visible ASCII characters');
      }
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

/** Converts decimal text to a number, since the environment has only text; returns any other value unchanged. */
export function numberOf(value: unknown): unknown {
  return typeof value === 'string' && /^\d+(\.\d+)?$/.test(value) ? Number(value) : value;
}

/** A number in [min, max]. */
export function number(min: number, max: number, kind: 'whole' | 'decimal' = 'whole'): Reader<number> {
  const right = `must be a ${kind === 'whole' ? 'whole ' : ''}number from ${min} to ${max}`;
  const schema = { type: kind === 'whole' ? 'integer' : 'number', minimum: min, maximum: max };
  return reader(orReference(schema), (value, path, faults) => {
    const read = numberOf(value);
    const fits = typeof read === 'number' && read >= min && read <= max;
    return fits && (kind === 'decimal' || Number.isInteger(read)) ? read : faults.add(path, right);
  });
}

export const boolean: Reader<boolean> = reader(orReference({ type: 'boolean' }), (value, path, faults) => {
  if (value === true || value === 'true' || value === '1') return true;
  if (value === false || value === 'false' || value === '0') return false;
  return faults.add(path, 'must be true or false');
});

/** One of several exact words. */
export function oneOf<const T extends string>(...values: T[]): Reader<T> {
  return reader(
    orReference({ type: 'string', enum: values }),
    (value, path, faults) =>
      values.find((known) => known === value) ?? faults.add(path, `must be one of ${values.join(', ')}`),
  );
}

/** Text; `accept` returns the form to keep, or undefined for a fault. */
export function text(right: string, accept: (text: string) => string | undefined): Reader<string> {
  return reader(
    { type: 'string' },
    (value, path, faults) =>
      (typeof value === 'string' ? accept(value) : undefined) ?? faults.add(path, right),
  );
}

/** Text matching the pattern; `right` completes the fault: "must be …". */
export function matching(pattern: RegExp, right: string): Reader<string> {
  const read = text(right, (value) => (pattern.test(value) ? value : undefined));
  return pattern.flags === '' ? reader(orReference({ type: 'string', pattern: pattern.source }), read) : read;
}

function join(path: string, key: unknown): string {
  return path ? `${path}.${String(key)}` : String(key);
}

const REFERENCE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;
/** Spellings of other programs, which would be sent as they are. */
const OTHER_REFERENCE = /\$\{|^\$[A-Za-z_]\w*$|^os\.environ\//;
const NO_REFERENCE = `must name an environment variable as \${NAME}, without a default`;
/** `docker run --env-file` and `docker compose` before v2 keep the quotes of a value. */
export const IN_QUOTES =
  'must not be in quotes, which are part of the value here: docker --env-file keeps them';

export function isQuoted(text: string): boolean {
  return /^(["']).*\1$/s.test(text);
}

/** Stand-in for an unset variable: valid as part of a URL and as a credential. */
const STAND_IN = 'unset';
/** Stand-ins for variables that are the whole value of an upstream field restricted to certain values. */
const WHOLE_STAND_INS: Readonly<Record<string, string>> = {
  url: 'http://unset',
  format: 'openai',
  provider: 'openai',
  path: '/unset',
  prices: 'openai',
};

/** A `${NAME}` without a value: its position, as keys and indices from the top, and the variable. */
export interface Unset {
  readonly at: readonly string[];
  readonly name: string;
}

/** A `${NAME}` with a value: the path of its setting, as in faults, and the variable. */
export interface Used {
  readonly at: string;
  readonly name: string;
}

/**
 * Replaces every `${NAME}` in a text value of the tree by that environment variable (specification section 1). An unset
 * or empty variable is reported, and replaced by a valid value so the rest of its section can be checked. Keys are
 * unchanged.
 */
export function substitute(
  tree: unknown,
  env: NodeJS.ProcessEnv,
): { tree: unknown; unset: Unset[]; used: Used[]; odd: { at: string; fault: string }[] } {
  const unset: Unset[] = [];
  const odd: { at: string; fault: string }[] = [];
  const used: Used[] = [];
  function walk(value: unknown, at: readonly string[], path: string): unknown {
    if (value instanceof Map) {
      return new Map(
        [...value].map(([key, item]) => [
          key,
          walk(item, [...at, String(key)], path ? `${path}.${key}` : String(key)),
        ]),
      );
    }
    if (Array.isArray(value))
      return value.map((item, index) => walk(item, [...at, String(index)], `${path}[${index}]`));
    if (typeof value !== 'string') return value;
    const rest = value.replace(REFERENCE, '');
    if (OTHER_REFERENCE.test(rest)) odd.push({ at: path, fault: NO_REFERENCE });
    return value.replace(REFERENCE, (reference, name: string) => {
      if (env[name]) {
        if (isQuoted(env[name])) odd.push({ at: path, fault: IN_QUOTES });
        used.push({ at: path, name });
        return env[name];
      }
      unset.push({ at, name });
      return (reference === value && WHOLE_STAND_INS[at.at(-1) ?? '']) || STAND_IN;
    });
  }
  return { tree: walk(tree, [], ''), unset, used, odd };
}
