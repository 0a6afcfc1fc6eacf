import pg from 'pg';
import { type PostgresServer, startPostgres } from '../helper/postgres-server.ts';
import type { Scope } from '../helper/scope.ts';

/** A PostgreSQL with a database of one history's own. */
export interface BookServer {
  readonly port: number;
  /** The database's address, by way of the port. */
  url(port: number): string;
  halt(): Promise<void>;
  resume(): Promise<void>;
}

/** One server for all histories of a run; a fresh, empty database for each. */
export class BookServers {
  readonly #scope: Scope;
  #server: Promise<PostgresServer> | undefined;
  #databases = 0;

  constructor(scope: Scope) {
    this.#scope = scope;
  }

  async next(): Promise<BookServer> {
    const server = await this.#start();
    const name = `history_${++this.#databases}`;
    const client = new pg.Client({ connectionString: server.url('postgres') });
    await client.connect();
    await client.query(`create database ${name}`);
    await client.end();
    return {
      port: server.port,
      url: (port) => server.url(name).replace(`:${server.port}/`, `:${port}/`),
      halt: () => server.halt(),
      resume: () => server.resume(),
    };
  }

  #start(): Promise<PostgresServer> {
    if (!this.#server) {
      // It is stopped and started, never killed: nothing has to reach the disk.
      this.#server = startPostgres({ fsync: 'off' });
      this.#scope.teardown(async () => (await this.#server)?.stop());
    }
    return this.#server;
  }
}
