type Schema = Readonly<Record<string, unknown>>;

/** A value that breaks a constraint of a JSON Schema, and which constraint that is. */
export interface Beyond {
  readonly constraint: string;
  readonly value: unknown;
}

/** Of these, one breaks any pattern of ours. */
const BREAKING = ['?', ' ', '\u0000'];

/** For each constraint that a schema states, a value that is just beyond it. */
export function beyond(schema: Schema): Beyond[] {
  const branches = (schema.anyOf ?? []) as Schema[];
  if (branches.length > 0) {
    // null is one of them everywhere, so that what breaks another breaks all.
    return branches.filter(({ type }) => type !== 'null').flatMap(beyond);
  }
  const { minimum, maximum, minLength, maxLength, maxItems, items, pattern } = schema;
  const found: Beyond[] = [{ constraint: 'type', value: { not: 'of the type' } }];
  const add = (constraint: string, value: unknown) => found.push({ constraint, value });
  if (typeof minimum === 'number') add('minimum', minimum - 1);
  if (typeof maximum === 'number') add('maximum', maximum + 1);
  if (typeof minLength === 'number' && minLength > 0) add('minLength', '');
  if (typeof maxLength === 'number') add('maxLength', longText(schema, maxLength + 1));
  const breaking = BREAKING.find(
    (text) => pattern !== undefined && !new RegExp(String(pattern), 'u').test(text),
  );
  if (breaking !== undefined) add('pattern', breaking);
  if (schema.format === 'date-time') add('format', 'tomorrow');
  if (schema.enum !== undefined) add('enum', 'no such word');
  for (const item of items ? beyond(items as Schema) : []) add(`items.${item.constraint}`, [item.value]);
  if (typeof maxItems === 'number') {
    // All of them different, and each right by itself wherever any text is.
    add(
      'maxItems',
      Array.from({ length: maxItems + 1 }, (_, index) => `203.0.${index >> 8}.${index & 255}`),
    );
  }
  return found;
}

/** Text that is wrong for nothing but its length. */
function longText({ description = '', pattern }: Schema, length: number): string {
  if (String(description).includes('URL')) return `https://example.com/${'a'.repeat(length - 20)}`;
  return pattern === undefined ? 'a'.repeat(length) : `${'a'.repeat(length - 2)}@b`;
}
