import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';

/** Address of a book; without a database URL, it is SQLite in the data folder. */
export interface BookAddress {
  readonly databaseUrl?: string | undefined;
  readonly dataDir: string;
}

/** Runs a query and resolves with its rows, integers as bigint, so that nothing is rounded. */
export type Rows = <Row>(sql: string) => Promise<Row[]>;

const INT8_OID = 20;
const INT4_OID = 23;
const NUMERIC_OID = 1700;

/** Reads the book over a separate connection, without the gateway's code. */
export async function readBook<T>(address: BookAddress, read: (rows: Rows) => Promise<T>): Promise<T> {
  return address.databaseUrl === undefined
    ? await readSqlite(join(address.dataDir, 'book.sqlite'), read)
    : await readPostgres(address.databaseUrl, read);
}

async function readSqlite<T>(file: string, read: (rows: Rows) => Promise<T>): Promise<T> {
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    return await read(async <Row>(sql: string) => {
      const statement = db.prepare(sql);
      statement.setReadBigInts(true);
      return statement.all() as Row[];
    });
  } finally {
    db.close();
  }
}

async function readPostgres<T>(databaseUrl: string, read: (rows: Rows) => Promise<T>): Promise<T> {
  const isInteger = (oid: number) => oid === INT8_OID || oid === INT4_OID || oid === NUMERIC_OID;
  const getTypeParser = (oid: number) => (isInteger(oid) ? BigInt : pg.types.getTypeParser(oid, 'text'));
  const client = new pg.Client({ connectionString: databaseUrl, types: { getTypeParser } });
  await client.connect();
  try {
    return await read(async <Row>(sql: string) => (await client.query(sql)).rows as Row[]);
  } finally {
    await client.end();
  }
}
