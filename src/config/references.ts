import { resolve } from 'node:path';
import * as shape from '../domain/shape.ts';
import { type JsonSchema, list, type Reader, reader } from '../domain/shape.ts';
import { readSecret } from './secrets.ts';

/** Also accepts an environment reference: `${NAME}` is replaced before the value is read. */
export function orReference(schema: JsonSchema): JsonSchema {
  return { anyOf: [schema, { type: 'string', pattern: '\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}' }] };
}

export function referable<T, W>(read: Reader<T, W>): Reader<T, W> {
  return reader(orReference(read.schema), read);
}

// Readers of settings that can be references.
export const number: typeof shape.number = (...given) => referable(shape.number(...given));
export const boolean = referable(shape.boolean);
export const oneOf: typeof shape.oneOf = (...words) => referable(shape.oneOf(...words));

/** Text matching the pattern; `right` completes the fault: "must be …". */
export function matching(pattern: RegExp, right: string): Reader<string> {
  const read = shape.text(right, (value) => (pattern.test(value) ? value : undefined));
  return pattern.flags === '' ? reader(orReference({ type: 'string', pattern: pattern.source }), read) : read;
}

const REFERENCE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;
/** Spellings of other programs, which would be sent as they are. */
const OTHER_REFERENCE = /\$\{(?<name>\w*)|^\$(?<name>[A-Za-z_]\w*)$|^os\.environ\/(?<name>\w*)/;
/** `docker run --env-file` and `docker compose` before v2 keep the quotes of a value. */
export const IN_QUOTES =
  'must not be in quotes, which are part of the value here, as in a file or by docker --env-file';

export function isQuoted(text: string): boolean {
  return /^(["']).*\1$/s.test(text);
}

/** Stand-in for an unset variable: valid as part of a URL and as a credential. */
const STAND_IN = 'unset';
/** Stand-ins for variables that are the whole value of an upstream field restricted to certain values. */
const WHOLE_STAND_INS: Readonly<Record<string, string>> = {
  url: 'https://unset',
  messagesUrl: 'https://unset',
  proxy: 'http://unset',
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

/** A `${NAME}` with a value, or a `file:`: the path of its setting, as in faults, and the variable or file. */
export interface Used {
  readonly at: string;
  readonly name: string;
  readonly isFile?: true;
}

/** Begins a value that is the path of a file with the value. */
const IN_FILE = 'file:';
/** Setting of an upstream that is such a path without it. */
const FILE_SETTING = 'ca';

/**
 * Replaces every `${NAME}` in a text value of the tree by that environment variable, and a value `file:PATH` by the
 * content of that file (specification section 1). An unset or empty variable is reported, and replaced by a valid value
 * so the rest of its section can be checked; so is a file without content. Keys are unchanged. Paths start at `folder`.
 */
export function substitute(
  tree: unknown,
  { env, folder, faults }: { env: NodeJS.ProcessEnv; folder: string; faults: shape.Faults },
): { tree: unknown; unset: Unset[]; used: Used[] } {
  const unset: Unset[] = [];
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
    if (isQuoted(value)) faults.add(path, IN_QUOTES);
    const rest = value.replace(REFERENCE, '');
    const other = OTHER_REFERENCE.exec(rest)?.groups;
    if (other) faults.add(path, noReference(other.name));
    const unsetBefore = unset.length;
    const filled = value.replace(REFERENCE, (reference, name: string) => {
      if (env[name]) {
        if (isQuoted(env[name])) faults.add(path, IN_QUOTES);
        used.push({ at: path, name });
        return env[name];
      }
      unset.push({ at, name });
      return (reference === value && WHOLE_STAND_INS[at.at(-1) ?? '']) || STAND_IN;
    });
    const isFile = at.length === 3 && at[0] === 'upstreams' && at[2] === FILE_SETTING;
    if (!isFile && !value.startsWith(IN_FILE)) return filled;
    const orElse = isFile ? null : STAND_IN;
    if (unset.length > unsetBefore) return orElse;
    const file = resolve(folder, filled.replace(IN_FILE, ''));
    const content = readSecret(file, path, faults);
    if (content !== undefined) used.push({ at: path, name: file, isFile: true });
    if (content !== undefined && isQuoted(content)) faults.add(path, IN_QUOTES);
    return content ?? orElse;
  }
  return { tree: walk(tree, [], ''), unset, used };
}

function noReference(name: string | undefined): string {
  const meant = name ? `; did you mean \${${name}}?` : '';
  return `must name an environment variable as \${NAME}, without a default${meant}`;
}

/** A list with at least one item. */
export function nonEmptyList<T>(item: Reader<T>, right: string): Reader<T[]> {
  const all = list(item);
  return reader({ ...all.schema, minItems: 1 }, (value, path, faults) =>
    Array.isArray(value) && value.length === 0 ? faults.add(path, right) : all(value, path, faults),
  );
}
