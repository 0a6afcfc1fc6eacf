import { resolve } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import type { CallLimitsView } from '../api/keys/key-view.ts';
import { CALL_LIMIT_FIELDS, type CallLimits, MAX_CALL_LIMIT } from '../domain/call-limits.ts';
import { MAX_CREDITS, microFromCredits } from '../domain/credits.ts';
import { KEY_FIELDS } from '../domain/key-fields.ts';
import { MOST_GRACE_S } from '../domain/rotation.ts';
import type { WireLimit } from '../domain/spending-limits.ts';
import { limitsText, readLimits } from '../domain/spending-limits-text.ts';
import { io } from './io.ts';

/** Error that ends a command. Its message tells the user the problem and the fix. */
export class Failure extends Error {
  /** True for wrong usage: exit code 2 instead of 1. */
  readonly isUsage: boolean;

  constructor(message: string, options: ErrorOptions & { isUsage?: boolean } = {}) {
    super(message, options);
    this.name = 'Failure';
    this.isUsage = options.isUsage ?? false;
  }
}

/** The gateway refused the command; nothing changed. */
export class Refused extends Failure {}

// Argument parsers. They throw commander's error for wrong usage: exit code 2.

/** Parses an amount of credits with at most six decimals. */
export function credits(text: string): number {
  const amount = Number(text);
  if (!/^-?\d+(\.\d+)?$/.test(text) || microFromCredits(amount) === undefined) {
    throw new InvalidArgumentError(
      `It must be a number of credits with at most six decimals, up to ${MAX_CREDITS}.`,
    );
  }
  return amount;
}

/** Parses the id of an account or a key. */
export function id(text: string): number {
  if (!/^[1-9]\d{0,15}$/.test(text))
    throw new InvalidArgumentError('It must be an id, a whole number from 1.');
  return Number(text);
}

const UNIT_S = { s: 1, m: 60, h: 3_600, d: 86_400 } as const;

/** Longest grace of a rotation, as typed. */
export const MAX_GRACE = `${MOST_GRACE_S / UNIT_S.d}d`;

/** Parses the grace of a rotation into whole seconds; accepts plain seconds or a unit: 90s, 30m, 12h, 7d. */
export function grace(text: string): number {
  const [, count, unit = 's'] = /^(\d{1,9})([smhd])?$/.exec(text) ?? [];
  if (count === undefined) {
    throw new InvalidArgumentError('It must be a number of seconds, or a time such as 90s, 30m, 12h or 7d.');
  }
  const seconds = Number(count) * UNIT_S[unit as keyof typeof UNIT_S];
  if (seconds > MOST_GRACE_S) throw new InvalidArgumentError(`It must be at most ${MAX_GRACE}.`);
  return seconds;
}

export function callLimit(text: string): number {
  const limit = Number(text);
  if (!/^[1-9]\d*$/.test(text) || limit > MAX_CALL_LIMIT) {
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${MAX_CALL_LIMIT}.`);
  }
  return limit;
}

/** Parses a comma-separated list. */
export function list(text: string): string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

/** The spending limits that options set; absent: unchanged. */
export interface SpendingLimits {
  readonly spending_limit?: number | null;
  readonly spending_limits?: readonly WireLimit[];
}

/** What `--no-limit` sets. */
export const NO_SPENDING_LIMITS = { spending_limit: null, spending_limits: [] } as const;

/**
 * Parses `--limit` of a key, once for each limit: credits for the period of `--period`, or period=credits. After
 * `--no-limit`, which is false, the others are removed.
 */
export function spendingLimit(text: string, before: SpendingLimits | false = {}): SpendingLimits {
  const others = before || NO_SPENDING_LIMITS;
  if (!text.includes('=')) return { ...others, spending_limit: credits(text) };
  return { ...others, spending_limits: periodLimits(text, others.spending_limits) };
}

/** Parses period=credits, such as 5h=2, and adds it to the limits `before`; false: `--no-limit`. */
export function periodLimits(text: string, before: readonly WireLimit[] | false = []): readonly WireLimit[] {
  const { limits, fault } = readLimits(`${limitsText(before || [])},${text}`);
  if (fault !== undefined) throw new InvalidArgumentError(fault);
  return limits;
}

/** Table cell with the spending limits of a key or account. */
export function spendingLimitsCell({ limits }: { readonly limits: readonly WireLimit[] }): string {
  return limitsText(limits) || 'none';
}

function gatewayUrl(text: string): string {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) {
    throw new InvalidArgumentError('It must be the http:// or https:// address of a gateway.');
  }
  return text.replace(/(?<!\/)\/+$/, '');
}

/** Address of the running gateway. */
export function urlOf({ url }: RemoteOptions): string {
  const { TOLLGATE_URL, PORT } = io().env;
  if (url !== undefined || !TOLLGATE_URL) return url ?? `http://127.0.0.1:${PORT || 8080}`;
  try {
    return gatewayUrl(TOLLGATE_URL);
  } catch (cause) {
    throw new Failure(`TOLLGATE_URL is invalid. ${(cause as Error).message}`, { isUsage: true, cause });
  }
}

/** Options of every command on a running gateway: its address, the operator's token, the output format. */
export interface RemoteOptions {
  readonly url?: string;
  readonly adminToken?: string;
  readonly json?: true;
  readonly csv?: true;
}

/** Adds the option of commands that list rows. */
export function withCsv(command: Command): Command {
  return command.option('--csv', 'print CSV');
}

/** Adds the options of every command on a running gateway. */
export function remote(command: Command): Command {
  return command
    .option(
      '--url <url>',
      'address of the running gateway (default: TOLLGATE_URL, else http://127.0.0.1:PORT)',
      gatewayUrl,
    )
    .option(
      '--admin-token <token>',
      'operator token of the gateway; - reads it from stdin (default: ADMIN_TOKEN, ADMIN_TOKEN_FILE)',
    )
    .option('--json', 'print JSON');
}

/** Returns a secret; `-` reads the first line of stdin, which keeps it out of the process list. */
export function secret(given: string | undefined, missing: string): string {
  const value = given === '-' ? (io().readInput().split('\n', 1)[0] ?? '').trim() : given;
  if (!value) throw new Failure(missing, { isUsage: true });
  return value;
}

/** Call limits as options; false removes a limit. */
export type CallLimitOptions = { readonly [Limit in keyof CallLimits]?: number | false };

/** Adds the options that set and remove call limits (specification section 11). */
export function withCallLimits(command: Command): Command {
  for (const limit of LIMITS) {
    const { flag, value, help, lifted } = KEY_FIELDS[limit].option;
    command.option(`--${flag} <${value}>`, help, callLimit).option(`--no-${flag}`, lifted);
  }
  return command;
}

const LIMITS = Object.keys(CALL_LIMIT_FIELDS) as (keyof CallLimits)[];

/** Given limits under their API names; null removes a limit. */
export function callLimitFields(options: CallLimitOptions): Partial<CallLimitsView> {
  const given = LIMITS.filter((limit) => options[limit] !== undefined);
  return Object.fromEntries(given.map((limit) => [CALL_LIMIT_FIELDS[limit], options[limit] || null]));
}

/** Table cell with the limits of a key or account. */
export function callLimitsCell({ rpm_limit, tpm_limit, max_parallel_requests }: CallLimitsView): string {
  const limits = [
    ...(rpm_limit === null ? [] : [`${rpm_limit} rpm`]),
    ...(tpm_limit === null ? [] : [`${tpm_limit} tpm`]),
    ...(max_parallel_requests === null ? [] : [`${max_parallel_requests} at once`]),
  ];
  return limits.join(', ') || 'any';
}

/** Resolves a path from the user's folder, because npm runs commands in the package folder. */
export function fromCaller(file: string): string {
  return resolve(io().env.INIT_CWD ?? '.', file);
}
