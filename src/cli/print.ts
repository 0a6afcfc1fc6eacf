import { creditsString, microFromCredits } from '../domain/credits.ts';
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

/** Prints a table with aligned columns. */
export function printTable(head: readonly string[], given: readonly (readonly string[])[]): void {
  const rows = given.map((row) => row.map(withoutInvisible));
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => (row[column] ?? '').length)),
  );
  for (const row of [head, ...rows]) {
    print(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    );
  }
}

const CELL = 20;

/** Truncates a name to the cell width; `--json` prints it in full. */
export function shortCell(text: string): string {
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
