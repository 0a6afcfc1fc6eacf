import { creditsString, microFromCredits } from '../domain/credits.ts';
import { isByVariant, type WrittenUnit } from '../domain/written-price.ts';

/** Prints lines for people on stdout. */
export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Prints a JSON document for programs on stdout. */
export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}

/** Prints a table with its columns aligned; cells hold no line breaks. */
export function printTable(head: readonly string[], rows: readonly (readonly string[])[]): void {
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

/** A name cut to the width of a table's cell; `--json` prints it whole. */
export function shortCell(text: string): string {
  const characters = [...text];
  return characters.length > CELL ? `${characters.slice(0, CELL - 1).join('')}…` : text;
}

/** Credits, as a JSON number of the API, as text with six decimals. */
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
