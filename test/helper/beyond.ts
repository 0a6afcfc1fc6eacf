type Schema = Readonly<Record<string, unknown>>;

/** A value that violates a constraint of a JSON Schema, and the name of that constraint. */
export interface Beyond {
  readonly constraint: string;
  readonly value: unknown;
}

/** Texts of which at least one violates each pattern in our schemas. */
const BREAKING = ['?', ' ', '\u0000'];

/** A value just beyond each constraint that a schema states. */
export function beyond(schema: Schema): Beyond[] {
  const branches = (schema.anyOf ?? []) as Schema[];
  if (branches.length > 0) {
    // The other branch is always null, so that a value that violates the one violates both.
    return branches.filter(({ type }) => type !== 'null').flatMap(beyond);
  }
  const { minimum, maximum, minLength, maxLength, maxItems, items, pattern } = schema;
  const found: Beyond[] = [{ constraint: 'type', value: { not: 'of the type' } }];
  const add = (constraint: string, value: unknown) => found.push({ constraint, value });
  if (typeof minimum === 'number') add('minimum', minimum - 1);
  if (typeof maximum === 'number') add('maximum', maximum + 1);
  if (typeof minLength === 'number' && minLength > 0) add('minLength', '');
  if (typeof maxLength === 'number') add('maxLength', textOfLength(schema, maxLength + 1));
  const breaking = BREAKING.find(
    (text) => pattern !== undefined && !new RegExp(String(pattern), 'u').test(text),
  );
  if (breaking !== undefined) add('pattern', breaking);
  if (schema.format === 'date-time') add('format', 'tomorrow');
  if (schema.enum !== undefined) add('enum', 'no such word');
  for (const item of items ? beyond(items as Schema) : []) add(`items.${item.constraint}`, [item.value]);
  if (typeof maxItems === 'number') {
    // All items differ, and each is valid wherever any text is.
    add(
      'maxItems',
      Array.from({ length: maxItems + 1 }, (_, index) => `203.0.${index >> 8}.${index & 255}`),
    );
  }
  return found;
}

/** Text whose only fault is its length. */
function textOfLength({ description = '', pattern }: Schema, length: number): string {
  if (String(description).includes('URL')) return `https://example.com/${'a'.repeat(length - 20)}`;
  return pattern === undefined ? 'a'.repeat(length) : `${'a'.repeat(length - 2)}@b`;
}
