import { readFileSync } from 'node:fs';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { MAX_CREDITS, microFromCredits } from '../domain/credits.ts';
import { Failure } from './failure.ts';

const STDIN = 0;

/** Readers of arguments: what they refuse is a fault of usage, and exit code 2. */

/** Credits, as a number that is exact. */
export function credits(text: string): number {
  const amount = Number(text);
  if (!/^-?\d+(\.\d+)?$/.test(text) || microFromCredits(amount) === undefined) {
    throw new InvalidArgumentError(
      `It must be a number of credits with at most six decimals, up to ${MAX_CREDITS}.`,
    );
  }
  return amount;
}

/** The id of an account or a key. */
export function id(text: string): number {
  if (!/^[1-9]\d{0,15}$/.test(text))
    throw new InvalidArgumentError('It must be an id: a whole number from 1.');
  return Number(text);
}

export function list(text: string): string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

function gatewayUrl(text: string): string {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) {
    throw new InvalidArgumentError('It must be the http:// or https:// address of a gateway.');
  }
  return text.replace(/\/+$/, '');
}

/** How the gateway that a command talks to is found, and how its answer is printed. */
export interface RemoteOptions {
  readonly url: string;
  readonly adminToken?: string;
  readonly json?: true;
}

export function remote(command: Command): Command {
  return command
    .addOption(
      new Option('--url <url>', 'address of the running gateway')
        .argParser(gatewayUrl)
        .default(`http://127.0.0.1:${process.env.PORT || 8080}`),
    )
    .addOption(
      new Option('--admin-token <token>', 'operator token of that gateway; - reads it from stdin').env(
        'ADMIN_TOKEN',
      ),
    )
    .option('--json', 'print JSON');
}

/** A command on one account of a running gateway. */
export function withAccountId(command: Command): Command {
  return remote(command).argument('<id>', 'id of the account', id);
}

/** The secret itself; `-` stands for the first line of stdin, so that it need not stand in the list of processes. */
export function secret(given: string | undefined, missing: string): string {
  const value = given === '-' ? (readFileSync(STDIN, 'utf8').split('\n', 1)[0] ?? '').trim() : given;
  if (!value) throw new Failure(missing, { isUsage: true });
  return value;
}
