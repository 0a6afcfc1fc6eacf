/**
 * Reads untyped settings into typed ones. A reader never throws: it notes what is wrong under the path of the value
 * and gives undefined, so that one pass over a file finds every fault in it.
 */

/** What is wrong so far, one line a fault: `path: what would be right`. Values are never quoted; they may be secrets. */
export class Faults {
  readonly lines: string[] = [];

  add(path: string, message: string): undefined {
    this.lines.push(`${path}: ${message}`);
    return undefined;
  }
}

export type Reader<T> = (value: unknown, path: string, faults: Faults) => T | undefined;

interface Field<T> {
  readonly read: Reader<T>;
  /** Taken where the value is absent; without one the field is required. */
  readonly orElse?: () => T;
}

/** A field that must be there. */
export function required<T>(read: Reader<T>): Field<T> {
  return { read };
}

/** A field with a default, which is not read again: it is of the final type. */
export function optional<T, D>(read: Reader<T>, fallback: D): Field<T | D> {
  return { read, orElse: () => fallback };
}

type Shape = Readonly<Record<string, Field<unknown>>>;
type Read<S extends Shape> = { readonly [K in keyof S]: S[K] extends Field<infer T> ? T : never };

/** A map with exactly these keys, unknown ones being faults; undefined where any of it is wrong. */
export function section<S extends Shape>(shape: S): Reader<Read<S>> {
  return (value, path, faults) => {
    if (!(value instanceof Map)) return faults.add(path || 'the file', 'must be a map of settings');
    const before = faults.lines.length;
    const known = Object.keys(shape);
    for (const key of value.keys()) {
      if (!known.includes(String(key))) {
        faults.add(join(path, key), `is not a setting; known here: ${known.join(', ')}`);
      }
    }
    const result: Record<string, unknown> = {};
    for (const [key, field] of Object.entries(shape)) {
      const given = value.get(key) ?? undefined;
      if (given !== undefined) result[key] = field.read(given, join(path, key), faults);
      else if (field.orElse) result[key] = field.orElse();
      else faults.add(join(path, key), 'is missing');
    }
    return faults.lines.length === before ? (result as Read<S>) : undefined;
  };
}

/** A map with names of the user's own, in file order; entries that are wrong are left out, and noted. */
export function entries<T>(read: Reader<T>): Reader<Map<string, T>> {
  return (value, path, faults) => {
    if (!(value instanceof Map)) return faults.add(path, 'must be a map from names to settings');
    const result = new Map<string, T>();
    for (const [key, item] of value) {
      const name = String(key);
      if (!/^[\x21-\x7e]{1,200}$/.test(name)) {
        faults.add(join(path, name), 'must have a name of 1 to 200 visible ASCII characters');
      }
      const entry = read(item, join(path, name), faults);
      if (entry !== undefined) result.set(name, entry);
    }
    return result;
  };
}

export function list<T>(read: Reader<T>): Reader<T[]> {
  return (value, path, faults) => {
    if (!Array.isArray(value)) return faults.add(path, 'must be a list');
    const items = value.map((item: unknown, index) => read(item, `${path}[${index}]`, faults));
    return items.filter((item) => item !== undefined);
  };
}

/** A number in [min, max], from a number or (as the environment has no other kind) its decimal text. */
export function number(min: number, max: number, kind: 'whole' | 'decimal' = 'whole'): Reader<number> {
  const right = `must be a ${kind === 'whole' ? 'whole ' : ''}number from ${min} to ${max}`;
  return (value, path, faults) => {
    const read = typeof value === 'string' && /^\d+(\.\d+)?$/.test(value) ? Number(value) : value;
    const fits = typeof read === 'number' && read >= min && read <= max;
    return fits && (kind === 'decimal' || Number.isInteger(read)) ? read : faults.add(path, right);
  };
}

export const boolean: Reader<boolean> = (value, path, faults) => {
  if (value === true || value === 'true' || value === '1') return true;
  if (value === false || value === 'false' || value === '0') return false;
  return faults.add(path, 'must be true or false');
};

export function oneOf<const T extends string>(...values: T[]): Reader<T> {
  return (value, path, faults) =>
    values.find((known) => known === value) ?? faults.add(path, `must be one of ${values.join(', ')}`);
}

/** Text that `accept` returns in the form to keep; undefined from it is a fault. */
export function text(right: string, accept: (text: string) => string | undefined): Reader<string> {
  return (value, path, faults) =>
    (typeof value === 'string' ? accept(value) : undefined) ?? faults.add(path, right);
}

export function matching(pattern: RegExp, right: string): Reader<string> {
  return text(right, (value) => (pattern.test(value) ? value : undefined));
}

function join(path: string, key: unknown): string {
  return path ? `${path}.${String(key)}` : String(key);
}
