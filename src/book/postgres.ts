import {
  type PostgresCursor,
  PostgresDialect,
  type PostgresPool,
  type PostgresPoolClient,
  type PostgresQueryResult,
} from 'kysely';
import pg from 'pg';
import { BookUnavailable, CannotOpenBook } from './store.ts';

interface PostgresLimits {
  /** Statement timeout, lock waits included; 0: none. */
  readonly statementTimeoutMs: number;
  readonly readOnly: boolean;
  readonly maxConnections: number;
  /** At start and for reports, which block no call: whether to wait longer for a connection. */
  readonly isPatient?: boolean;
}

const CONNECT_TIMEOUT_MS = 5000;
/** Under a load of 50 on two cores, loopback took over 5 s. */
const PATIENT_CONNECT_TIMEOUT_MS = 15_000;
/** Wait after the server's statement timeout before the server counts as gone. */
const GRACE_MS = 1000;
/** Longest time that a gateway holds row locks after its host vanished mid-transaction. */
const IDLE_TRANSACTION_TIMEOUT_MS = 10_000;
/** Its bound for a command that waits for a file or another database. */
const PATIENT_IDLE_TIMEOUT_MS = 600_000;

const READ_ONLY = '-c default_transaction_read_only=on';
/**
 * Connection settings. Queries while serving take a few milliseconds, and longer if the server starts parallel workers:
 * on a ledger of 10 million rows, a year's usage by key then took 14.5 ms instead of 6.9.
 */
const SERVING = '-c max_parallel_workers_per_gather=0';

/**
 * Dialect for the server at `databaseUrl` (`postgres://…`); connects on first use. Queries reject with BookUnavailable
 * if the server is unreachable. Throws CannotOpenBook for an invalid URL.
 */
export function postgresDialect(databaseUrl: string, limits: PostgresLimits): PostgresDialect {
  const where = describe(databaseUrl);
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: limits.maxConnections,
    connectionTimeoutMillis: limits.isPatient ? PATIENT_CONNECT_TIMEOUT_MS : CONNECT_TIMEOUT_MS,
    ...(limits.statementTimeoutMs > 0 && {
      statement_timeout: limits.statementTimeoutMs,
      query_timeout: limits.statementTimeoutMs + GRACE_MS,
    }),
    idle_in_transaction_session_timeout:
      limits.statementTimeoutMs > 0 ? IDLE_TRANSACTION_TIMEOUT_MS : PATIENT_IDLE_TIMEOUT_MS,
    keepAlive: true,
    application_name: 'tollgate',
    types: { getTypeParser: exactIntegers },
    options: limits.readOnly ? READ_ONLY : SERVING,
  });
  // Without a listener, a failing connection would end the process. The current or next query reports the failure.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  return new PostgresDialect({ pool: new LeasingPool(pool, where) });
}

/** `host:port/database`, for messages. The URL parser's error would repeat the password. */
function describe(databaseUrl: string): string {
  try {
    if (!/^postgres(ql)?:\/\//.test(databaseUrl)) throw new TypeError('another scheme');
    const { host, port, database } = new pg.Client({ connectionString: databaseUrl });
    return `${host}:${port}/${database ?? ''}`;
  } catch {
    throw new CannotOpenBook(
      'DATABASE_URL is not a PostgreSQL URL. ' +
        'Use postgres://user:password@host:5432/database, with special characters percent-encoded.',
    );
  }
}

const INT8_OID = 20;
const NUMERIC_OID = 1700;

/** Parses amounts (int8) and their sums (numeric) as numbers. Throws if a number can't hold one exactly. */
function exactIntegers(oid: number, format?: 'text' | 'binary'): unknown {
  if (oid === INT8_OID || oid === NUMERIC_OID) return exactInteger;
  return format === 'binary' ? pg.types.getTypeParser(oid, 'binary') : pg.types.getTypeParser(oid, 'text');
}

function exactInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`not an integer below 2^53: ${text}`);
  return value;
}

/**
 * Kysely's pool, with the book's errors.
 *
 * A fault that loses one query's answer has most likely hit all connections open at the time, so all are discarded.
 * Otherwise each would cost a query its whole timeout, one after the other: 6 s were measured twice.
 */
class LeasingPool implements PostgresPool {
  readonly options = {};
  readonly #pool: pg.Pool;
  readonly #where: string;
  /** Number of times a connection stopped answering. */
  #era = 0;
  readonly #madeIn = new WeakMap<pg.PoolClient, number>();

  constructor(pool: pg.Pool, where: string) {
    this.#pool = pool;
    this.#where = where;
    pool.on('connect', (client) => this.#madeIn.set(client, this.#era));
  }

  async connect(): Promise<PostgresPoolClient> {
    try {
      for (;;) {
        const client = await this.#pool.connect();
        if (this.#isOfNow(client)) return new Lease(client, this.#where, () => this.#hasFallenSilent(client));
        client.release(true);
      }
    } catch (error) {
      throw unavailable(error, this.#where);
    }
  }

  #isOfNow(client: pg.PoolClient): boolean {
    return this.#madeIn.get(client) === this.#era;
  }

  #hasFallenSilent(client: pg.PoolClient): void {
    if (this.#isOfNow(client)) this.#era++;
  }

  async end(): Promise<void> {
    await this.#pool.end();
  }
}

/**
 * One loan of a connection. After a query timeout, pg returns the connection to the pool with that query still at the
 * head of its queue. A lease discards the connection and runs no further query on it.
 */
class Lease implements PostgresPoolClient {
  readonly #client: pg.PoolClient;
  readonly #where: string;
  readonly #onSilence: () => void;
  #broken: Error | undefined;

  constructor(client: pg.PoolClient, where: string, onSilence: () => void) {
    this.#client = client;
    this.#where = where;
    this.#onSilence = onSilence;
  }

  query<R>(sql: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<R>>;
  query<R>(cursor: PostgresCursor<R>): PostgresCursor<R>;
  query<R>(
    sql: string | PostgresCursor<R>,
    parameters: readonly unknown[] = [],
  ): Promise<PostgresQueryResult<R>> | PostgresCursor<R> {
    if (typeof sql !== 'string') throw new Error('The book is read in pages, not in streams.');
    return this.#run(sql, parameters);
  }

  async #run<R>(sql: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<R>> {
    if (this.#broken) throw this.#broken;
    try {
      return (await this.#client.query(sql, [...parameters])) as unknown as PostgresQueryResult<R>;
    } catch (error) {
      const reported = queryError(error, this.#where);
      if (isSilence(error)) this.#onSilence();
      if (isBroken(error) && reported instanceof Error) this.#broken = reported;
      throw reported;
    }
  }

  release(destroy?: boolean): void {
    this.#client.release(destroy || this.#broken !== undefined);
  }
}

/**
 * SQLSTATEs of a server that can't serve now: connection exceptions, exhausted resources (disk, memory, connections),
 * operator intervention (shutdown, startup, statement timeout), system errors, a lock or idle timeout, and a standby
 * that a failover left at the address (read only).
 */
const UNAVAILABLE = /^(08|53|57|58)|^(25P03|25006|55P03)$/;

/** Whether the connection is unusable: it ended, or a query on it still waits for an answer. */
function isBroken(error: unknown): boolean {
  return !(error instanceof pg.DatabaseError);
}

/** Whether no answer arrived in time, not even a statement timeout: the server, or the path to it, is gone. */
function isSilence(error: unknown): boolean {
  return error instanceof Error && error.message === 'Query read timeout';
}

/** Converts a query error to the book's error. `where` names the server without user or password. */
function queryError(error: unknown, where: string): unknown {
  if (error instanceof pg.DatabaseError) {
    return UNAVAILABLE.test(error.code ?? '') ? unavailable(error, where) : error;
  }
  // All other errors except programming errors (a value that can't be written or read) come from the network.
  return error instanceof TypeError || error instanceof RangeError ? error : unavailable(error, where);
}

/** Error of a failed connection: network, server and login faults all make the book unreachable. */
function unavailable(error: unknown, where: string): BookUnavailable {
  return new BookUnavailable(`The database ${where} can't be reached: ${reason(error)}.`, { cause: error });
}

const REASONS: Record<string, string> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was cut off',
  ENOTFOUND: 'the host does not exist',
  EAI_AGAIN: 'its host name could not be looked up',
  ETIMEDOUT: 'it does not answer',
  EHOSTUNREACH: 'there is no route to the host',
  ENOENT: 'the socket does not exist',
};

/** SQLSTATE of a statement that the server ended, after its timeout. */
const CANCELED = '57014';

/** Whether the book is unreachable only because the server took too long. */
export function tookTooLong(error: unknown): boolean {
  return error instanceof BookUnavailable && isLate(error.cause);
}

/** The server's messages name settings that contain the word; pg's own say that something took too long. */
function isLate(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return error.code === CANCELED;
  return error instanceof Error && /timeout/i.test(error.message);
}

function reason(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown reason';
  const known = 'code' in error && typeof error.code === 'string' ? REASONS[error.code] : undefined;
  if (known) return known;
  if (isLate(error)) return 'it did not answer in time';
  return error.message.replace(/\.$/, '');
}
