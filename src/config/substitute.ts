const REFERENCE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;
/** Stand-in for a variable that is not set: right as a part of a URL and as a credential. */
const STAND_IN = 'unset';
/** Stand-ins for variables that are the whole value of a field of an upstream which takes only certain values. */
const WHOLE_STAND_INS: Readonly<Record<string, string>> = {
  url: 'http://unset',
  format: 'openai',
  provider: 'openai',
};

/** A `${NAME}` without a value: where it stands, as keys and indices from the top, and the variable. */
export interface Unset {
  readonly at: readonly string[];
  readonly name: string;
}

/** A `${NAME}` with a value: the path of the setting that it stands in, as faults name it, and the variable. */
export interface Used {
  readonly at: string;
  readonly name: string;
}

/**
 * The tree with every `${NAME}` in a text value replaced by that environment variable (specification section 1). One that is
 * unset or empty is reported, and something valid stands in the tree for it, so that the rest of its section can be
 * checked. Keys are left alone.
 */
export function substitute(
  tree: unknown,
  env: NodeJS.ProcessEnv,
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
    return value.replace(REFERENCE, (reference, name: string) => {
      if (env[name]) {
        used.push({ at: path, name });
        return env[name];
      }
      unset.push({ at, name });
      return (reference === value && WHOLE_STAND_INS[at.at(-1) ?? '']) || STAND_IN;
    });
  }
  return { tree: walk(tree, [], ''), unset, used };
}
