export type Cell = string | number | boolean | null | undefined;

/** One CSV line, with CRLF (RFC 4180, section 2). Absent values are empty cells. */
export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

/** Text that a spreadsheet may run as a formula begins with an operator of either width, or with a tab or line break. */
const OPERATOR = '[=+\\-@＝＋－＠]';
/** Spreadsheets drop white space before the operator, non-breaking spaces too. */
const BLANKS = '[\\s\\p{Cf}\\0]*';
const FORMULA = new RegExp(`^(?:[\\t\\r\\n]|${BLANKS}${OPERATOR})`, 'u');
/** What separates cells for spreadsheets of other countries, with the operator that may follow. */
const NEXT_CELL = new RegExp(`([;\\t\\r\\n]${BLANKS})(${OPERATOR}?)`, 'gu');
const PLAIN_NUMBER = /^-?\d+(\.\d+)?$/;

/**
 * Quotes cells as RFC 4180 requires. Prefixes possible formulas with an apostrophe (OWASP, "CSV Injection"), also
 * within a cell that a spreadsheet may split; plain numbers, such as a charge of -0.000123, stay numbers.
 */
function csvCell(cell: Cell): string {
  if (cell === null || cell === undefined) return '';
  const text = String(cell);
  const isFormula = FORMULA.test(text) && !PLAIN_NUMBER.test(text);
  const within = text.replace(NEXT_CELL, (whole, blanks, operator) =>
    operator === '' ? whole : `${blanks}'${operator}`,
  );
  const safe = isFormula ? `'${within}` : within;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
