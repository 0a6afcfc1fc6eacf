import { creditsString, microFromCredits } from '../domain/credits.ts';
import { csvLine } from '../domain/csv.ts';
import { escapeInvisible, withoutInvisible } from '../domain/invisible.ts';
import { isByVariant, type WrittenUnit } from '../domain/written-price.ts';
import { io } from './io.ts';

/** Prints human-readable lines to stdout, without what a terminal obeys. */
export function print(text: string): void {
  io().stdout.write(`${text.split('\n').map(withoutInvisible).join('\n')}\n`);
}

/** Prints a JSON document to stdout, for programs. */
export function printJson(value: unknown): void {
  io().stdout.write(`${escapeInvisible(JSON.stringify(value, null, 2))}\n`);
}

/** Columns of a table: heading, cell and alignment. Cells print null as `-`, and true and false as `yes` and `no`. */
export type Columns<Row> = readonly (readonly [
  heading: string,
  cell: (row: Row) => string | number | boolean | null,
  align?: 'right',
])[];

/** Cells of a row, without what a terminal obeys. */
export function cellsOf<Row>(columns: Columns<Row>, row: Row): string[] {
  return columns.map(([, cell]) => {
    const value = cell(row) ?? '-';
    return withoutInvisible(typeof value === 'boolean' ? (value ? 'yes' : 'no') : String(value));
  });
}

export function printTable<Row>(columns: Columns<Row>, rows: readonly Row[]): void {
  const lines = [columns.map(([heading]) => heading), ...rows.map((row) => cellsOf(columns, row))];
  const widths = columns.map((_, at) => Math.max(...lines.map((line) => line[at]?.length ?? 0)));
  for (const line of lines) {
    const padded = line.map((cell, at) =>
      columns[at]?.[2] === 'right' ? cell.padStart(widths[at] ?? 0) : cell.padEnd(widths[at] ?? 0),
    );
    print(padded.join('  ').trimEnd());
  }
}

function printCsv<Row>(columns: Columns<Row>, rows: readonly Row[]): void {
  print(csvLine(columns.map(([heading]) => heading)).trimEnd());
  for (const row of rows) print(csvLine(columns.map(([, cell]) => cell(row))).trimEnd());
}

/** Prints an answer: whole with `--json`, else the rows, as a table or with `--csv`. */
export function show<Row>(
  { json, csv }: { readonly json?: true; readonly csv?: true },
  answer: unknown,
  columns: Columns<Row>,
  rows: readonly Row[],
): void {
  if (json) printJson(answer);
  else if (csv) printCsv(columns, rows);
  else printTable(columns, rows);
}

const CELL = 20;

/** Truncates a name to the cell width on a terminal; in a pipe, and with `--json`, it is whole. */
export function shortCell(text: string): string {
  if (!io().stdout.isTTY) return text;
  const characters = [...text];
  return characters.length > CELL ? `${characters.slice(0, CELL - 1).join('')}…` : text;
}

/** Formats credits from the API's JSON number with six decimals. */
export function exactCredits(credits: number): string {
  const amount = microFromCredits(credits);
  return amount === undefined ? String(credits) : creditsString(amount);
}

/** A unit's price in a table: `2.000000`, `2.000000 (above 272000: 4.000000)` or `0.040000 (1024x1024), 0.080000 (high)`. */
export function unitText(written: WrittenUnit): string {
  if (typeof written === 'string') return written;
  if (isByVariant(written))
    return Object.entries(written)
      .map(([variant, price]) => `${price} (${variant})`)
      .join(', ');
  const [base, ...above] = written;
  return `${base?.price} (${above.map((step) => `above ${step.above}: ${step.price}`).join(', ')})`;
}

/** Prices of all units in a cell; `free` without any. */
export function pricesText(price: Readonly<Record<string, WrittenUnit>>): string {
  const units = Object.entries(price).map(([unit, written]) => `${unit} ${unitText(written)}`);
  return units.join(', ') || 'free';
}
