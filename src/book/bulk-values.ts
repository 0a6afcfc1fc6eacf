import { type RawBuilder, sql } from 'kysely';

/**
 * `values (…), (…)` for a common table expression: one statement then changes many rows, each in its own way. The cast
 * tells PostgreSQL what a bare parameter is; SQLite does not need it and is not hurt by it.
 */
export function valueRows<Row>(rows: readonly (readonly (number | string)[])[]): RawBuilder<Row> {
  const cells = (row: readonly (number | string)[]) =>
    sql.join(
      row.map((cell) =>
        typeof cell === 'number' ? sql`cast(${cell} as bigint)` : sql`cast(${cell} as text)`,
      ),
    );
  return sql<Row>`(values ${sql.join(rows.map((row) => sql`(${cells(row)})`))})`;
}

/**
 * Largest number of rows in one statement. SQLite takes 32,766 parameters, PostgreSQL 65,535; the widest table here
 * has 19 columns.
 */
const MAX_ROWS = 1000;

/** Cuts rows into lists of at most MAX_ROWS, a statement each. */
export function chunks<T>(rows: readonly T[]): T[][] {
  const count = Math.ceil(rows.length / MAX_ROWS);
  return Array.from({ length: count }, (_, index) => rows.slice(index * MAX_ROWS, (index + 1) * MAX_ROWS));
}
