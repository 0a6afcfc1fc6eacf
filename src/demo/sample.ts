import { isObject } from './read-request.ts';

type Schema = Readonly<Record<string, unknown>>;

/** Schemas within schemas that are followed; one that contains itself would have no end. */
const MAX_DEPTH = 16;
/** Beyond it, lists that may be empty are: many a schema has itself as the item of one. */
const FULL_LISTS = 6;
/** Schemas that are read for one sample: ones that contain themselves several times grow with the power of the depth. */
const MAX_SCHEMAS = 1_000;

/**
 * A value that fits a JSON Schema: members that are required, one item of each list, the first of several choices.
 * Patterns of strings are not kept.
 */
export function sampleOf(schema: unknown, text = 'demo'): unknown {
  return new Sampler(isObject(schema) ? schema : {}, text).value(schema, 0);
}

class Sampler {
  readonly #root: Schema;
  readonly #text: string;
  #left = MAX_SCHEMAS;

  constructor(root: Schema, text: string) {
    this.#root = root;
    this.#text = text;
  }

  value(given: unknown, depth: number): unknown {
    if (!isObject(given) || depth > MAX_DEPTH || this.#left <= 0) return null;
    const schema = this.#resolved(given, depth);
    if ('const' in schema) return schema.const;
    if ('default' in schema) return schema.default;
    for (const values of [schema.enum, schema.examples]) {
      if (Array.isArray(values) && values.length > 0) return values[0];
    }
    const choice = [schema.anyOf, schema.oneOf].find(Array.isArray)?.[0];
    if (choice !== undefined) return this.value(choice, depth + 1);
    switch (typeOf(schema)) {
      case 'object':
        return this.#object(schema, depth);
      case 'array':
        return this.#list(schema, depth);
      case 'string':
        return this.#string(schema);
      case 'integer':
        return numberOf(schema, 1);
      case 'number':
        return numberOf(schema, 0.001);
      case 'boolean':
        return true;
      default:
        return null;
    }
  }

  /** The schema with what its `$ref` and `allOf` add. */
  #resolved(schema: Schema, depth: number): Schema {
    this.#left--;
    const added = Array.isArray(schema.allOf) ? [...schema.allOf] : [];
    if (typeof schema.$ref === 'string') added.push(this.#at(schema.$ref));
    if (added.length === 0 || depth > MAX_DEPTH || this.#left <= 0) return schema;
    const all = [...added.filter(isObject).map((part) => this.#resolved(part, depth + 1)), schema];
    const merged = Object.assign({}, ...all);
    merged.properties = Object.assign({}, ...all.map(({ properties }) => properties));
    merged.required = all.flatMap(({ required }) => (Array.isArray(required) ? required : []));
    return merged;
  }

  /** The schema at a pointer such as `#/$defs/Step`. */
  #at(pointer: string): Schema | undefined {
    let at: unknown = this.#root;
    for (const name of pointer.split('/').slice(1)) at = isObject(at) ? at[name] : undefined;
    return isObject(at) ? at : undefined;
  }

  #object({ properties, required }: Schema, depth: number): Record<string, unknown> {
    const names = new Set<unknown>(Array.isArray(required) ? required : []);
    const known = isObject(properties) ? properties : {};
    return Object.fromEntries(
      [...names]
        .filter((name) => typeof name === 'string')
        .map((name) => [name, name in known ? this.value(known[name], depth + 1) : this.#text]),
    );
  }

  #list({ items, prefixItems, minItems, maxItems }: Schema, depth: number): unknown[] {
    if (Array.isArray(prefixItems)) return prefixItems.map((item) => this.value(item, depth + 1));
    const count = Math.min(whole(maxItems) ?? 100, whole(minItems) || (depth > FULL_LISTS ? 0 : 1), 100);
    return Array.from({ length: count }, () => this.value(items, depth + 1));
  }

  #string({ format, minLength, maxLength }: Schema): string {
    const text = FORMATS[String(format)] ?? this.#text;
    return text.padEnd(Math.min(whole(minLength) ?? 0, 1_000), '.').slice(0, whole(maxLength));
  }
}

function typeOf(schema: Schema): unknown {
  if (Array.isArray(schema.type)) return schema.type[0];
  return schema.type ?? (schema.properties ? 'object' : schema.items ? 'array' : 'string');
}

/** 1, or the number next to it that the limits allow. */
function numberOf(schema: Schema, step: number): number {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  const least = Math.max(number(minimum) ?? -Infinity, (number(exclusiveMinimum) ?? -Infinity) + step);
  const most = Math.min(number(maximum) ?? Infinity, (number(exclusiveMaximum) ?? Infinity) - step);
  const of = number(multipleOf) ?? (step === 1 ? 1 : undefined);
  const value = Math.min(Math.max(1, least), most);
  if (!of) return value;
  const above = Math.ceil(value / of) * of;
  return above <= most ? above : Math.floor(value / of) * of;
}

function number(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

function whole(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

const FORMATS: Readonly<Record<string, string>> = {
  'date-time': '2026-01-01T00:00:00Z',
  date: '2026-01-01',
  time: '00:00:00Z',
  duration: 'P1D',
  email: 'demo@example.com',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://example.com/',
  uuid: '00000000-0000-4000-8000-000000000000',
};
