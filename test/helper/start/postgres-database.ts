import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { t } from 'tap';
import { openBook } from '../../../src/book/open-book.ts';
import { addressOf, type PostgresServer, startPostgres } from './postgres-server.ts';

/** The server that all files of test/run.ts share, which saves 1.5 s of processor time per file. */
const { TEST_POSTGRES_PORT } = process.env;

/** Database with an empty book. A copy of it costs a third of a migration. */
const TEMPLATE = 'book_template';

/** Without a shared server: one per test process, started on first use. */
let server: Promise<PostgresServer> | undefined;
const databases: string[] = [];

/** Starts a server with the template of `createDatabase`. */
export async function startBookServer(settings: Record<string, string> = {}): Promise<PostgresServer> {
  // Nothing outlives the tests, so nothing needs to reach the disk.
  const started = await startPostgres({ fsync: 'off', ...settings });
  await execute(started.url('postgres'), `create database ${TEMPLATE}`);
  const book = await openBook({ databaseUrl: started.url(TEMPLATE), dataDir: '' });
  await book.close();
  return started;
}

/**
 * Creates a database and returns its `postgres://` URL. It has an empty book, or with `isEmpty` no tables at all. It
 * lasts as long as the test process.
 */
export async function createDatabase({ isEmpty = false } = {}): Promise<string> {
  const url = await findServer();
  const name = `book_${process.pid}_${databases.length + 1}`;
  databases.push(name);
  if (isEmpty) {
    await execute(url('postgres'), `create database ${name}`);
  } else {
    await execute(url('postgres'), `create database ${name} template ${TEMPLATE}`);
    // A book's id prefixes its Redis keys.
    await execute(url(name), `update identity set id = '${randomBytes(6).toString('base64url')}'`);
  }
  return url(name);
}

async function findServer(): Promise<(database: string) => string> {
  if (TEST_POSTGRES_PORT) return (database) => addressOf(Number(TEST_POSTGRES_PORT), database);
  server ??= startBookServer();
  return (await server).url;
}

/** Runs SQL on a separate connection. */
export async function execute(databaseUrl: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

t.teardown(async () => {
  if (server) return await (await server).stop();
  for (const name of databases) {
    await execute((await findServer())('postgres'), `drop database if exists ${name} with (force)`);
  }
});
