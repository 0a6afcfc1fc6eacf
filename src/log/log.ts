import type { FastifyBaseLogger } from 'fastify';
import { type Logger, type LoggerOptions, pino } from 'pino';
import { escapeInvisible } from '../domain/invisible.ts';
import { maskKeys } from '../domain/mask-keys.ts';

/** The methods of a pino logger that the program uses. Fastify's logger has them too. */
export interface Log {
  debug(obj: object, msg: string): void;
  info(obj: object, msg: string): void;
  warn(obj: object, msg: string): void;
  error(obj: object, msg: string): void;
}

/**
 * Opens the program's log on stdout: JSON lines, or colored text if stdout is a terminal (NO_COLOR turns the colors
 * off). pino-pretty is loaded only for a terminal. No line has a key value that begins with `keyPrefix`. Lines of a worker
 * have its number.
 */
export async function openLog(level: string, keyPrefix: string, worker?: number): Promise<Logger> {
  const options = logOptions(level, keyPrefix, worker);
  if (!process.stdout.isTTY) return pino(options);
  const { default: pretty } = await import('pino-pretty');
  return pino(
    options,
    pretty({
      // An exit loses no lines; a terminal needs no speed.
      sync: true,
      destination: 1,
      singleLine: true,
      // Not `error`, which is a text here and would get a line of its own.
      errorLikeObjectKeys: ['err'],
      translateTime: 'SYS:HH:MM:ss.l',
    }),
  );
}

/** Options of a log whose lines have no key values, and nothing that a terminal obeys. */
export function logOptions(level: string, keyPrefix: string, worker?: number): LoggerOptions {
  const streamWrite = (line: string) => escapeInvisible(maskKeys(line, keyPrefix));
  return { level, base: worker === undefined ? null : { worker }, hooks: { streamWrite } };
}

type Bindings = Parameters<FastifyBaseLogger['child']>[0];

/**
 * Logger of one request. Adds the request's id (`reqId`) to each line, including those of Fastify and its plugins. It
 * creates the child logger with the first line, because few requests log anything and creating one costs more CPU than
 * checking a request.
 */
export class RequestLog implements FastifyBaseLogger {
  readonly #log: FastifyBaseLogger;
  readonly #bindings: Bindings;
  #made: FastifyBaseLogger | undefined;

  constructor(log: FastifyBaseLogger, bindings: Bindings) {
    this.#log = log;
    this.#bindings = bindings;
  }

  get level(): string {
    return this.#log.level;
  }

  fatal(...line: unknown[]): void {
    this.#write('fatal', line);
  }

  error(...line: unknown[]): void {
    this.#write('error', line);
  }

  warn(...line: unknown[]): void {
    this.#write('warn', line);
  }

  info(...line: unknown[]): void {
    this.#write('info', line);
  }

  debug(...line: unknown[]): void {
    this.#write('debug', line);
  }

  trace(...line: unknown[]): void {
    this.#write('trace', line);
  }

  silent(): void {}

  child(...made: Parameters<FastifyBaseLogger['child']>): FastifyBaseLogger {
    return this.#child().child(...made);
  }

  #write(level: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace', line: unknown[]): void {
    const log = this.#child();
    Reflect.apply(log[level], log, line);
  }

  #child(): FastifyBaseLogger {
    this.#made ??= this.#log.child(this.#bindings);
    return this.#made;
  }
}
