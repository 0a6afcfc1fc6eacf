import type { UsageReportView } from '../../../api/usage/usage-view.ts';
import { csvLine } from '../../../domain/csv.ts';

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
  const text = [[...columns, ...units], ...lines].map(csvLine).join('');
  return new Blob([text], { type: 'text/csv' });
}
