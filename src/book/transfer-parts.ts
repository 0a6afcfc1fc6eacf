import { hash } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import type { BookSchema, Engine } from './schema.ts';
import type { Trx } from './store.ts';

/**
 * A whole book as a sequence of parts, the same for both engines: the head; for each table its columns, its rows in
 * pages, and its end; then `complete`. Each part is JSON, and one line of a backup.
 */
export type BookPart =
  | BookHead
  | { readonly table: Table; readonly columns: readonly string[] }
  | { readonly rows: readonly Row[] }
  | { readonly end: Table; readonly sum: TableSum; readonly lastId: number | null }
  | { readonly complete: true };

export interface BookHead {
  readonly format: typeof BOOK_FORMAT;
  /** Version of Tollgate. */
  readonly version: string;
  /** ISO 8601. */
  readonly madeAt: string;
  readonly migrations: readonly string[];
}

export const BOOK_FORMAT = 'tollgate-book-1';

/** Integers are text, because a sum may exceed 2^53. */
export type Row = readonly (string | number | null)[];

/** Number of rows, and a digest of them that does not depend on their order: the engines order text differently. */
export interface TableSum {
  readonly rows: number;
  readonly digest: string;
}

/** All tables but `gateways`, which is about running programs. */
export type Table = Exclude<keyof BookSchema, 'gateways'>;

/** The primary key of each table. A table comes after those that it refers to. */
const PRIMARY_KEYS: { readonly [T in Table]: readonly (keyof BookSchema[T] & string)[] } = {
  identity: ['id'],
  accounts: ['id'],
  persons: ['id'],
  keys: ['id'],
  grants: ['id'],
  ledger: ['account_id', 'seq'],
  refusals: ['n'],
  call_messages: ['id'],
  rates: ['account_id', 'kind'],
  spend_days: ['account_id', 'key_id', 'model', 'day', 'upstream'],
  spend_hours: ['account_id', 'hour', 'key_id', 'model', 'upstream'],
  spend_model_days: ['account_id', 'day', 'model', 'upstream'],
  spend_key_months: ['account_id', 'month', 'key_id'],
  spend_five_hours: ['account_id', 'key_id'],
  alerts: ['id'],
  deliveries: ['id'],
  resources: ['account_id', 'upstream', 'id'],
  identities: ['id'],
  memberships: ['id'],
  invitations: ['id'],
  sessions: ['id'],
  one_time_links: ['secret_hash'],
  known_addresses: ['person_id', 'ip'],
  audit: ['id'],
};

export const TABLES = Object.keys(PRIMARY_KEYS) as Table[];

/** Rows per page: few enough that a page of long rows has some MB. */
const PAGE = 500;

/** Yields a table of the book in the transaction. */
export async function* tableParts(trx: Trx, engine: Engine, table: Table): AsyncGenerator<BookPart> {
  const columns = await columnsOf(trx, engine, table);
  yield { table, columns: columns.map(({ name }) => name) };
  let rows = 0;
  let digest = 0n;
  for await (const page of pages(trx, table, columns)) {
    rows += page.length;
    for (const row of page) digest += digestOf(row);
    yield { rows: page };
  }
  const sum = { rows, digest: BigInt.asUintN(64, digest).toString(16) };
  yield { end: table, sum, lastId: await lastIdOf(trx, engine, table) };
}

interface Column {
  readonly name: string;
  readonly isInteger: boolean;
}

/** Columns by name, because their order depends on the age of the table; none: there is no such table. */
export async function columnsOf(trx: Trx, engine: Engine, table: Table): Promise<readonly Column[]> {
  const query =
    engine === 'sqlite'
      ? sql<ColumnRow>`select name, lower(type) as type from pragma_table_info(${table}) order by name`
      : sql<ColumnRow>`select attname as name, format_type(atttypid, null) as type from pg_attribute
          where attrelid = to_regclass(${table}) and attnum > 0 and not attisdropped order by attname collate "C"`;
  const { rows } = await query.execute(trx);
  return rows.map(({ name, type }) => ({ name, isInteger: type === 'bigint' || type === 'integer' }));
}

interface ColumnRow {
  readonly name: string;
  readonly type: string;
}

/** Pages in the order of the primary key. Every column is qualified: a bare one would name the selected text. */
async function* pages(trx: Trx, table: Table, columns: readonly Column[]): AsyncGenerator<Row[]> {
  const names = columns.map(({ name }) => name);
  const key = PRIMARY_KEYS[table].map((name) => ({
    column: sql.ref(`${table}.${name}`),
    at: names.indexOf(name),
  }));
  const selected = sql.join(columns.map((column) => selectedAs(table, column)));
  const place = sql.join(key.map(({ column }) => column));
  for (let last: Row | undefined; ; ) {
    const cells = key.map(({ at }) =>
      columns[at]?.isInteger ? sql`cast(${last?.[at]} as bigint)` : sql`${last?.[at]}`,
    );
    const { rows } = await sql<Readonly<Record<string, Row[number]>>>`
      select ${selected} from ${sql.table(table)}
      ${last ? sql`where (${place}) > (${sql.join(cells)})` : sql``}
      order by ${place} limit ${sql.lit(PAGE)}`.execute(trx);
    const page = rows.map((row) => names.map((name) => row[name] ?? null));
    if (page.length > 0) yield page;
    if (page.length < PAGE) return;
    last = page.at(-1);
  }
}

function selectedAs(table: Table, { name, isInteger }: Column): RawBuilder<unknown> {
  const column = sql.ref(`${table}.${name}`);
  return isInteger ? sql`cast(${column} as text) as ${sql.ref(name)}` : sql`${column}`;
}

function digestOf(row: Row): bigint {
  return hash('sha256', JSON.stringify(row), 'buffer').readBigUInt64BE();
}

/**
 * The highest id that a table has given out, also to rows that are gone; null: none, or its ids are not counted. SQLite
 * notes 0 after an insert of no rows, such as the deliveries of an alert without receivers; PostgreSQL refuses a 0.
 */
async function lastIdOf(trx: Trx, engine: Engine, table: Table): Promise<number | null> {
  const query =
    engine === 'sqlite'
      ? sql<{ last: number | null }>`select nullif(seq, 0) as last from sqlite_sequence where name = ${table}`
      : sql<{ last: number | null }>`select pg_sequence_last_value(${sequenceOf(table)}) as last`;
  const { rows } = await query.execute(trx);
  return rows[0]?.last ?? null;
}

/** Lets a table's ids go on after `lastId`. */
export async function setLastId(trx: Trx, engine: Engine, table: Table, lastId: number): Promise<void> {
  if (engine === 'postgres') {
    await sql`select setval(${sequenceOf(table)}, ${lastId})`.execute(trx);
    return;
  }
  await sql`delete from sqlite_sequence where name = ${table}`.execute(trx);
  await sql`insert into sqlite_sequence (name, seq) values (${table}, ${lastId})`.execute(trx);
}

/** Null for tables whose ids PostgreSQL does not count. */
function sequenceOf(table: Table): RawBuilder<unknown> {
  return sql`pg_get_serial_sequence(${table}, ${PRIMARY_KEYS[table][0]})::regclass`;
}
