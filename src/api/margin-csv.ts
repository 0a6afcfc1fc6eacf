import type { MarginGroup } from '../book/book.ts';
import { csvLine } from './csv.ts';
import { USAGE_CSV_COLUMNS } from './ledger-csv.ts';
import { MARGIN_FIELDS } from './report-groups.ts';
import type { MarginRowView } from './views/margin-view.ts';

const COLUMNS = ['calls', 'charged', 'charged_with_cost', 'cost', 'margin'] as const;

/** First line of the operator's usage report as CSV: the group, its sums, and what was used. */
export function csvHeaderOf(group: MarginGroup): string {
  return csvLine([MARGIN_FIELDS[group], ...COLUMNS, ...USAGE_CSV_COLUMNS]);
}

/** The line of one group; amounts that are not known are empty cells. */
export function csvRow(group: MarginGroup, row: MarginRowView): string {
  return csvLine([
    row[MARGIN_FIELDS[group]],
    ...COLUMNS.map((column) => row[column]),
    ...USAGE_CSV_COLUMNS.map((name) => row.usage[name]),
  ]);
}
