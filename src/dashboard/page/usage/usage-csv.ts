import type { UsageReportView } from '../../../api/usage/usage-view.ts';

const COLUMNS = [
  'day',
  'hour',
  'key_id',
  'key_name',
  'model',
  'calls',
  'refused',
  'failed',
  'credits',
] as const;

/** A usage report as CSV (RFC 4180): the columns that it has, then a column for each unit that was used. */
export function usageCsv({ rows }: Pick<UsageReportView, 'rows'>): Blob {
  const columns = COLUMNS.filter((name) => rows.some((row) => row[name] !== undefined));
  const units = [...new Set(rows.flatMap(({ usage }) => Object.keys(usage)))].toSorted();
  const lines = rows.map((row) => [
    ...columns.map((name) => row[name]),
    ...units.map((unit) => (row.usage as Readonly<Record<string, number>>)[unit] ?? 0),
  ]);
  const text = [[...columns, ...units], ...lines].map((line) => `${line.map(cell).join(',')}\r\n`).join('');
  return new Blob([text], { type: 'text/csv' });
}

/** Spreadsheets run a text that begins with one of these as a formula. */
const FORMULA = /^[=+\-@\t\r]/;

function cell(value: string | number | null | undefined): string {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'string' && FORMULA.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
