import { type EntryView, USAGE_NAMES } from './views/entry-view.ts';

const USAGE_COLUMNS = Object.values(USAGE_NAMES);
const COLUMNS = [
  'id',
  'type',
  'created_at',
  'key_id',
  'model',
  'category',
  'endpoint',
  'status',
  'outcome',
  'estimated',
  'credits',
  'balance_after',
] as const satisfies readonly (keyof EntryView)[];

type Cell = string | number | boolean | null | undefined;

/**
 * First line of the export. New columns must be added at the end, so that the others keep their places. Lines end in
 * CRLF (RFC 4180, section 2).
 */
export function csvHeader(): string {
  return csvLine([...COLUMNS, ...USAGE_COLUMNS, 'note']);
}

/** The line of an entry; absent values are empty cells. */
export function csvEntry(entry: EntryView): string {
  return csvLine([
    ...COLUMNS.map((column) => entry[column]),
    ...USAGE_COLUMNS.map((column) => entry.usage[column]),
    entry.note,
  ]);
}

function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

/**
 * A cell of the export, quoted where RFC 4180 requires it. Text that a spreadsheet would run as a formula gets an
 * apostrophe in front (OWASP, "CSV Injection"); plain numbers, such as a charge of -0.000123, stay numbers.
 */
function csvCell(cell: Cell): string {
  if (cell === null || cell === undefined) return '';
  const text = String(cell);
  const formula = /^[=+\-@\t\r\n]/.test(text) && !/^-?\d+(\.\d+)?$/.test(text);
  const safe = formula ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
