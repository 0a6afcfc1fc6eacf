import { Type } from '../openapi/json-type.ts';

/** Values of `format` for lists that can be exported. */
export const FORMATS = ['json', 'csv', 'jsonl'] as const;
export type ExportFormat = Exclude<(typeof FORMATS)[number], 'json'>;

/** Documents the response of an exportable list, with an example of each export. */
export function listAnswer(
  name: string,
  page: object,
  example: { readonly csv: string; readonly jsonl: object },
) {
  return {
    description: 'A page, or with `format` the export.',
    headers: {
      'content-disposition': {
        type: 'string',
        description: 'Name of the file, for an export.',
        examples: [`attachment; filename="${name}.csv"`],
      },
    },
    content: {
      'application/json': { schema: page },
      'text/csv': {
        schema: Type.String({
          description: 'A header line, then a line per entry; lines end in CRLF.',
        }),
        examples: { export: { value: example.csv } },
      },
      'application/x-ndjson': {
        schema: Type.String({ description: 'A line of JSON for each entry.' }),
        examples: { export: { value: `${JSON.stringify(example.jsonl)}\n` } },
      },
    },
  };
}
