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
