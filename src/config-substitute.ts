const REFERENCE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/** A `${NAME}` without a value: where it stands, as keys and indices from the top, and the variable. */
export interface Unset {
  readonly at: readonly string[];
  readonly name: string;
}

/**
 * The tree with every `${NAME}` in a text value replaced by that environment variable (contract section 1). One that is
 * unset or empty is reported, and stands in the tree as a word that is valid in a URL and as a credential, so that the
 * rest of its section can be checked. Keys are left alone.
 */
export function substitute(tree: unknown, env: NodeJS.ProcessEnv): { tree: unknown; unset: Unset[] } {
  const unset: Unset[] = [];
  function walk(value: unknown, at: readonly string[]): unknown {
    if (value instanceof Map) {
      return new Map([...value].map(([key, item]) => [key, walk(item, [...at, String(key)])]));
    }
    if (Array.isArray(value)) return value.map((item, index) => walk(item, [...at, String(index)]));
    if (typeof value !== 'string') return value;
    return value.replace(REFERENCE, (_, name: string) => {
      if (!env[name]) unset.push({ at, name });
      return env[name] || 'unset';
    });
  }
  return { tree: walk(tree, []), unset };
}
