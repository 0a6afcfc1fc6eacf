import type { Faults } from './reader.ts';

/**
 * Checks that each alias of a model is a name of that model alone. It looks at the tree before that is read, so that a fault
 * elsewhere hides none of these.
 */
export function checkAliases(tree: unknown, faults: Faults): void {
  const models = tree instanceof Map ? tree.get('models') : undefined;
  if (!(models instanceof Map)) return;
  const owners = new Map<string, string>();
  for (const [slug, model] of models) {
    const aliases: unknown = model instanceof Map ? model.get('aliases') : undefined;
    if (!Array.isArray(aliases)) continue;
    for (const [index, alias] of aliases.entries()) {
      if (typeof alias !== 'string') continue;
      const at = `models.${slug}.aliases[${index}]`;
      const owner = owners.get(alias);
      if (models.has(alias)) faults.add(at, `must not be ${alias}, which is the name of a model`);
      else if (owner === String(slug)) faults.add(at, `must not repeat ${alias}`);
      else if (owner !== undefined) faults.add(at, `must not be ${alias}, which is an alias of ${owner}`);
      else owners.set(alias, String(slug));
    }
  }
}
