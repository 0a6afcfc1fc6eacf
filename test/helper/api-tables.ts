import { type ApiDocument, type Described, operationsOf } from './api-document.ts';

/** The tables of docs/api.md that derive from the OpenAPI description, each by the name of its marker in the page. */
export function apiTables(document: ApiDocument): Readonly<Record<string, string>> {
  const operations = operationsOf(document);
  const modelCalls = operations.filter(({ path }) => path.startsWith('/v1/'));
  const others = operations.filter((operation) => !modelCalls.includes(operation));
  return {
    'model calls': table(
      ['Route', 'Operation'],
      modelCalls.map(({ name, summary = '' }) => [code(name), summary]),
    ),
    'other routes': table(
      ['Route', 'Called with', 'Operation'],
      others.map((operation) => [code(operation.name), callerOf(operation), operation.summary ?? '']),
    ),
    'fields of a key': fieldTable(document.components.schemas?.NewKey as unknown as ObjectSchema),
  };
}

function callerOf({ security = [], responses }: Described): string {
  if (security.length === 0) return 'nothing';
  if (security.some((scheme) => 'adminToken' in scheme)) return 'operator token';
  const refusals = responses['403']?.content?.['application/json']?.examples ?? {};
  return 'management_not_allowed' in refusals ? 'managing key' : 'key';
}

interface Field {
  readonly description?: string;
  readonly default?: unknown;
  readonly anyOf?: readonly Field[];
  readonly items?: Field;
  readonly enum?: readonly string[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly minimum?: number;
  readonly maximum?: number;
}

interface ObjectSchema {
  readonly required: readonly string[];
  readonly properties: Readonly<Record<string, Field>>;
}

function fieldTable({ required, properties }: ObjectSchema): string {
  const rows = Object.entries(properties).map(([name, field]) => {
    const absent = required.includes(name) ? 'required' : '';
    const fallback = field.default === undefined ? absent : code(JSON.stringify(field.default));
    return [code(name), fallback, boundsOf(field).join('; '), field.description ?? ''];
  });
  return table(['Field', 'Default', 'Bounds', 'Meaning'], rows);
}

function boundsOf(field: Field): string[] {
  const { minLength = 0, maxLength, maxItems, minimum, maximum } = field;
  return [
    ...(field.enum ? [field.enum.map(code).join(', ')] : []),
    ...(maxLength === undefined
      ? []
      : [`${minLength > 0 ? `${minLength}–` : 'at most '}${number(maxLength)} characters`]),
    ...(maxItems === undefined ? [] : [`at most ${number(maxItems)} items`]),
    ...(maximum === undefined ? [] : [`${number(minimum ?? 0)}–${number(maximum)}`]),
    ...(field.anyOf ?? []).flatMap(boundsOf),
    ...(field.items?.enum ? boundsOf(field.items) : []),
  ];
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const [names, ...lines] = [head, ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  return [names, `|${head.map(() => '---|').join('')}`, ...lines].join('\n');
}

const code = (text: string) => `\`${text}\``;
const number = (value: number) => value.toLocaleString('en-US');
