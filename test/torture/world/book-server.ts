import pg from 'pg';
import { type PostgresServer, startPostgres } from '../../helper/start/postgres-server.ts';
import type { Scope } from '../../helper/start/scope.ts';

/** A PostgreSQL with the database of one history. */
export interface BookServer {
  readonly port: number;
  /** URL of the database through the given port, such as that of a wire. */
  url(port: number): string;
  halt(): Promise<void>;
  resume(): Promise<void>;
}

/** The PostgreSQL of a run of histories, with an empty database for each. */
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
      // Without fsync, because the server is stopped and started, but never killed.
      this.#server = startPostgres({ fsync: 'off' });
      this.#scope.teardown(async () => (await this.#server)?.stop());
    }
    return this.#server;
  }
}
