import { Type } from '../openapi/json-type.ts';

/** Words of the parameter `format` of lists that can be exported. */
export const FORMATS = ['json', 'csv', 'jsonl'] as const;
export type ExportFormat = Exclude<(typeof FORMATS)[number], 'json'>;

/** The documented answer of a list that can be exported, with an example of each export. */
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

/** A line of a CSV export; it ends in CRLF (RFC 4180, section 2). Absent values are empty cells. */
export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

/**
 * What a spreadsheet may run as a formula: a text that begins with an operator, in either width, after white space, which
 * spreadsheets drop (a non-breaking space too), or with a tab or a line break.
 */
const FORMULA = /^(?:[\t\r\n]|[\s\p{Cf}\0]*[=+\-@＝＋－＠])/u;
const PLAIN_NUMBER = /^-?\d+(\.\d+)?$/;

/**
 * Quotes the cells that RFC 4180 wants quoted. Text that a spreadsheet would run as a formula gets an apostrophe in front
 * (OWASP, "CSV Injection"); plain numbers, such as a charge of -0.000123, stay numbers.
 */
function csvCell(cell: Cell): string {
  if (cell === null || cell === undefined) return '';
  const text = String(cell);
  const safe = FORMULA.test(text) && !PLAIN_NUMBER.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
