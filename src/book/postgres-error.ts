import pg from 'pg';
import { BookUnavailable } from './book.ts';

/**
 * SQLSTATEs of a server that cannot serve now: connection exceptions, resources exhausted (disk, memory, connections),
 * operator intervention (shutdown, start-up, statement timeout), system errors, a lock or idle timeout, and a standby
 * that a failover left behind the address (read only).
 */
const UNAVAILABLE = /^(08|53|57|58)|^(25P03|25006|55P03)$/;

/** True where the connection itself is of no more use, as it ended or a query on it still waits for an answer. */
export function isBroken(error: unknown): boolean {
  return !(error instanceof pg.DatabaseError);
}

/**
 * True where no answer came in time, not even that the statement took too long: the server, or the way to it, is gone.
 */
export function isSilence(error: unknown): boolean {
  return error instanceof Error && error.message === 'Query read timeout';
}

/** The error of a query, as the book reports it. `where` names the server without user or password. */
export function queryError(error: unknown, where: string): unknown {
  if (error instanceof pg.DatabaseError) {
    return UNAVAILABLE.test(error.code ?? '') ? unavailable(error, where) : error;
  }
  // Anything else that is not a mistake of ours (a value that cannot be written or read) is the network's doing.
  return error instanceof TypeError || error instanceof RangeError ? error : unavailable(error, where);
}

/** The error of a connection that could not be made: faults of network, server and login all leave the book out of reach. */
export function unavailable(error: unknown, where: string): BookUnavailable {
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

function reason(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown reason';
  const known = 'code' in error && typeof error.code === 'string' ? REASONS[error.code] : undefined;
  if (known) return known;
  if (/timeout/i.test(error.message)) return 'it did not answer in time';
  return error.message.replace(/\.$/, '');
}
