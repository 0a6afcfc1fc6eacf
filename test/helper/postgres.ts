import pg from 'pg';
import { t } from 'tap';
import { type PostgresServer, startPostgres } from './postgres-server.ts';

/** The server of this test process, started when it is first needed. */
let server: Promise<PostgresServer> | undefined;
let databases = 0;

/** Creates an empty database on this test process' PostgreSQL and resolves with its `postgres://` URL. */
export async function createDatabase(): Promise<string> {
  // Without fsync, because no data has to outlive the test.
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
