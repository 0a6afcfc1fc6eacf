import { CompiledQuery, type Expression, type RawBuilder, sql } from 'kysely';
import type { BookSchema } from './schema.ts';
import type { Store, Trx } from './store.ts';

/**
 * Statements over many rows with a text independent of their number. Listing the rows as parameters took 46 µs of the
 * gateway's thread per entry, mostly to build the text, and SQLite prepared every batch; this takes 12 µs (profiled).
 * PostgreSQL gets the rows as one JSON parameter; SQLite runs one prepared statement per row, all in one message to its
 * thread.
 */

/** Rows for a statement that runs once per row, as JSON, which crosses to the thread faster than arrays. */
export class EachRow {
  readonly json: string;

  constructor(rows: readonly (readonly unknown[])[]) {
    this.json = JSON.stringify(rows);
  }
}

type Table = keyof BookSchema;
type Column<T extends Table> = keyof BookSchema[T] & string;
type Rows<T extends Table> = readonly Readonly<Partial<Record<Column<T>, number | string | null>>>[];

/**
 * Inserts rows, which all have the columns of the first, and returns the number written. `onConflict` is the clause for
 * existing rows.
 */
export async function insertRows<T extends Table>(
  store: Store,
  trx: Trx,
  table: T,
  rows: Rows<T>,
  onConflict: string,
): Promise<number> {
  if (rows.length === 0) return 0;
  const columns = columnsOf(rows);
  const into = `insert into ${table} (${columns.join(', ')})`;
  if (store.engine === 'postgres') {
    const from = `select ${columns.join(', ')} from json_populate_recordset(null::${table}, $1)`;
    return await run(trx, `${into} ${from} ${onConflict}`, JSON.stringify(rows));
  }
  const values = `values (${columns.map(() => '?').join(', ')})`;
  return await run(trx, `${into} ${values} ${onConflict}`, new EachRow(cellsOf(rows, columns)));
}

/** Updates the columns of each row, all those of the first, that matches by `key`. */
export async function updateRows<T extends Table>(
  store: Store,
  trx: Trx,
  table: T,
  key: Column<T>,
  rows: Rows<T>,
): Promise<void> {
  if (rows.length === 0) return;
  const columns = columnsOf(rows).filter((column) => column !== key);
  if (store.engine === 'postgres') {
    const set = columns.map((column) => `${column} = moved.${column}`).join(', ');
    const from = `json_populate_recordset(null::${table}, $1) as moved`;
    const where = `${table}.${key} = moved.${key}`;
    await run(trx, `update ${table} set ${set} from ${from} where ${where}`, JSON.stringify(rows));
    return;
  }
  const set = columns.map((column) => `${column} = ?`).join(', ');
  const cells = cellsOf(rows, [...columns, key]);
  await run(trx, `update ${table} set ${set} where ${key} = ?`, new EachRow(cells));
}

async function run(trx: Trx, sql: string, rows: string | EachRow): Promise<number> {
  const { numAffectedRows } = await trx.executeQuery(CompiledQuery.raw(sql, [rows]));
  return Number(numAffectedRows ?? 0);
}

function columnsOf<T extends Table>([first]: Rows<T>): Column<T>[] {
  return Object.keys(first ?? {}) as Column<T>[];
}

function cellsOf<T extends Table>(rows: Rows<T>, columns: readonly Column<T>[]): unknown[][] {
  return rows.map((row) => columns.map((column) => row[column] ?? null));
}

/**
 * `values (…), (…)` for a common table expression, so one statement changes many rows, each differently. PostgreSQL
 * needs the cast to type a bare parameter; it doesn't harm SQLite.
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

/** Most rows per statement. SQLite takes 32,766 parameters, PostgreSQL 65,535; the widest table here has 19 columns. */
const MAX_ROWS = 1000;

/** Splits rows into lists of at most MAX_ROWS, one per statement. */
export function chunks<T>(rows: readonly T[]): T[][] {
  const count = Math.ceil(rows.length / MAX_ROWS);
  return Array.from({ length: count }, (_, index) => rows.slice(index * MAX_ROWS, (index + 1) * MAX_ROWS));
}

/** A sum, capped at the highest exact number: no spending limit is higher (lua/post.inc.lua). */
export function exactOrMost(sum: Expression<unknown>) {
  const most = sql.lit(Number.MAX_SAFE_INTEGER);
  return sql<number | null>`case when ${sum} > ${most} then ${most} else ${sum} end`;
}
