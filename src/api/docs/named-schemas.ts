import type { JsonSchema } from './json-type.ts';

/** Keywords whose values are no schemas, though they can look like them. */
const VALUES: ReadonlySet<string> = new Set(['example', 'examples', 'default', 'const', 'enum', 'required']);

/**
 * Moves every schema that has a `title` from a part of the document into `schemas` and leaves a reference in its place,
 * so that clients generated from the document have one type for it. Throws where two different schemas have one title.
 */
export function nameSchemas<Part>(part: Part, schemas: Record<string, JsonSchema>): Part {
  return moved(part, schemas) as Part;
}

function moved(node: unknown, schemas: Record<string, JsonSchema>): unknown {
  if (Array.isArray(node)) return node.map((item) => moved(item, schemas));
  if (typeof node !== 'object' || node === null) return node;
  const copy = Object.fromEntries(
    Object.entries(node).map(([key, value]) => [key, VALUES.has(key) ? value : moved(value, schemas)]),
  );
  const { title } = copy;
  if (typeof title !== 'string') return copy;
  const known = schemas[title];
  if (known !== undefined && JSON.stringify(known) !== JSON.stringify(copy)) {
    throw new Error(`two schemas of the API have the title ${title}`);
  }
  schemas[title] = copy;
  return { $ref: `#/components/schemas/${title}` };
}
