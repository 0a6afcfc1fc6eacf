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

export type Cell = string | number | boolean | null | undefined;

/** One CSV line, with CRLF (RFC 4180, section 2). Absent values are empty cells. */
export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

/**
 * Text that a spreadsheet may run as a formula. It starts with a tab, a line break, or an operator of either width.
 * Spreadsheets drop white space before the operator, non-breaking spaces too.
 */
const FORMULA = /^(?:[\t\r\n]|[\s\p{Cf}\0]*[=+\-@＝＋－＠])/u;
const PLAIN_NUMBER = /^-?\d+(\.\d+)?$/;

/**
 * Quotes cells as RFC 4180 requires. Prefixes possible formulas with an apostrophe (OWASP, "CSV Injection"); plain
 * numbers, such as a charge of -0.000123, stay numbers.
 */
function csvCell(cell: Cell): string {
  if (cell === null || cell === undefined) return '';
  const text = String(cell);
  const safe = FORMULA.test(text) && !PLAIN_NUMBER.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
