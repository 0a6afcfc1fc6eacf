import { creditsString, microFromCredits } from '../domain/credits.ts';

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
