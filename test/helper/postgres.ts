import pg from 'pg';
import { t } from 'tap';
import { type PostgresServer, startPostgres } from './postgres-server.ts';

/** One a test process, started when it is first asked for. */
let server: Promise<PostgresServer> | undefined;
let databases = 0;

/** A fresh, empty database on this test process's PostgreSQL; its `postgres://` address. */
export async function createDatabase(): Promise<string> {
  // Nothing is to outlive the test, so nothing need reach the disk.
  server ??= startPostgres({ fsync: 'off' });
  const { url } = await server;
  const name = `book_${++databases}`;
  await execute(url('postgres'), `create database ${name}`);
  return url(name);
}

/** Runs SQL on a connection of its own. */
export async function execute(databaseUrl: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

t.teardown(async () => (await server)?.stop());
