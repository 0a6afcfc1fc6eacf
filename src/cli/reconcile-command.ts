import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import type { Book } from '../book/book.ts';
import { openBook } from '../book/open-book.ts';
import type { Config } from '../config/config.ts';
import { loadConfig } from '../config/load.ts';
import { parseRedisUrl, type RedisAddress } from '../config/redis-url.ts';
import { creditsString, type Micro, micro } from '../domain/credits.ts';
import { parseDay } from '../domain/period.ts';
import { LiveBalances } from '../ledger/live-balance.ts';
import { askRedis, socketPathFor } from '../redis-server/socket.ts';
import { Failure, id } from './arguments.ts';
import { print, printJson } from './print.ts';
import { type ChargeDifference, chargeDifferenceText, reconcileCharges } from './reconcile-charges.ts';

/** Minimum time between progress lines. */
const PROGRESS_EVERY_MS = 500;

interface Options {
  readonly json?: true;
  readonly progress?: boolean;
  readonly charges?: true;
  readonly from?: number;
  readonly to?: number;
  readonly account?: number;
}

/** `tollgate reconcile`, also `npm run reconcile`. Exits with 1 if it finds a difference. */
export function reconcileCommand(program: Command): void {
  program
    .command('reconcile')
    .description("check for every account that balance = ledger; run it with the gateway's environment")
    .option('--charges', 'recompute every charge from the usage, prices and multiplier in its row instead')
    .option('--from <day>', 'with --charges: first UTC day, such as 2026-11-01', day)
    .option('--to <day>', 'with --charges: last UTC day', day)
    .option('--account <id>', 'with --charges: only this account', id)
    .option('--json', 'print JSON')
    .option('--progress', 'show progress on stderr (default: if stderr is a terminal)', process.stderr.isTTY)
    .action(reconcile);
}

function day(text: string): number {
  const days = parseDay(text);
  if (days === undefined) throw new InvalidArgumentError('It must be a UTC day, such as 2026-11-01.');
  return days;
}

async function reconcile(options: Options): Promise<void> {
  const { from, to, account } = options;
  if (options.charges) return await charges(options);
  if (from !== undefined || to !== undefined || account !== undefined) {
    throw new Failure('--from, --to and --account require --charges, because balances are checked whole.', {
      isUsage: true,
    });
  }
  await balances(options);
}

async function balances({ json, progress }: Options): Promise<void> {
  const config = loadConfig({ env: process.env });
  const found: Difference[] = [];
  const summary = await reconcileAccounts(config, {
    difference: (one) => (json ? found.push(one) : print(differenceText(one))),
    ...(progress ? { checked: progressReporter('accounts') } : {}),
  });
  if (json) printJson({ ...summary, differences: found.map(differenceView) });
  else {
    if (!summary.live)
      print(
        'No gateway is running on this data folder, so only the book was checked, not the live balances.',
      );
    print(`accounts checked: ${summary.accounts}, differences: ${summary.differences}`);
  }
  process.exitCode = summary.differences === 0 ? 0 : 1;
}

async function charges({ json, progress, from, to, account }: Options): Promise<void> {
  if (from !== undefined && to !== undefined && from > to) {
    throw new Failure('--from must not be later than --to.', { isUsage: true });
  }
  const config = loadConfig({ env: process.env });
  const found: ChargeDifference[] = [];
  const span = { fromDay: from, toDay: to, accountId: account };
  const summary = await reconcileCharges(config, span, {
    difference: (one) => (json ? found.push(one) : print(chargeDifferenceText(one))),
    ...(progress ? { checked: progressReporter('charges') } : {}),
  });
  if (json) printJson({ ...summary, differences: found.map(chargeView) });
  else print(`charges checked: ${summary.charges}, differences: ${summary.differences}`);
  process.exitCode = summary.differences === 0 ? 0 : 1;
}

function progressReporter(what: 'accounts' | 'charges'): (count: number) => void {
  let printedAt = performance.now();
  return (count) => {
    if (performance.now() - printedAt < PROGRESS_EVERY_MS) return;
    printedAt = performance.now();
    process.stderr.write(`tollgate: ${what} checked so far: ${count}\n`);
  };
}

function chargeView({ id, accountId, found, expected }: ChargeDifference) {
  return {
    id,
    account_id: accountId,
    charged: creditsString(found),
    expected: expected === undefined ? null : creditsString(expected),
    difference: expected === undefined ? null : creditsString(found - expected),
  };
}

function differenceView({ accountId, email, what, found, rule, expected }: Difference) {
  return {
    account_id: accountId,
    email,
    what,
    found: creditsString(found),
    rule,
    expected: creditsString(expected),
    difference: creditsString(micro(found - expected)),
  };
}

/** Two sums of an account that should match but don't. */
interface Difference {
  readonly accountId: number;
  readonly email: string;
  readonly what: string;
  readonly found: Micro;
  readonly rule: string;
  readonly expected: Micro;
}

/** Callbacks during the check. */
interface Listener {
  difference(found: Difference): void;
  /** Called after each account with the number of accounts checked so far. */
  checked?(accounts: number): void;
}

interface Summary {
  readonly accounts: number;
  readonly differences: number;
  /** False if no gateway runs on the data folder: there was no live balance to check. */
  readonly live: boolean;
}

/**
 * Checks that each account's ledger, stored balance and live balance in Redis agree (specification section 7,
 * "Reconcile"). Safe next to a running gateway. Rejects if the check can't be completed.
 */
async function reconcileAccounts(config: Config, listener: Listener): Promise<Summary> {
  const book = await openBook(config, { readOnly: true });
  try {
    const live = await openLive(config, book);
    try {
      return await goThrough(book, live, listener);
    } finally {
      live?.close();
    }
  } finally {
    await book.close();
  }
}

async function openLive(config: Config, book: Book): Promise<LiveBalances | undefined> {
  const address = await redisAddress(config);
  if (!address) return undefined;
  return await LiveBalances.open(address, book).catch((cause: unknown) => {
    throw new Error("Redis can't be reached. Check REDIS_URL and that the server is running.", { cause });
  });
}

/** Address of the gateway's Redis; undefined if it is the data folder's private Redis and not running. */
async function redisAddress(config: Config): Promise<RedisAddress | undefined> {
  if (config.redisUrl !== undefined) return parseRedisUrl(config.redisUrl);
  const folder = join(config.dataDir, 'redis');
  if (!existsSync(folder)) return undefined;
  const path = socketPathFor(folder);
  return (await askRedis(path, 'PING')) === '+PONG' ? { kind: 'socket', path } : undefined;
}

async function goThrough(book: Book, live: LiveBalances | undefined, listener: Listener): Promise<Summary> {
  let accounts = 0;
  let differences = 0;
  for await (const { accountId, email, balance, ledgerSum, lastBalanceAfter } of book.reconcile()) {
    const compare = (what: string, found: Micro, rule: string, expected: Micro) => {
      if (found === expected) return;
      differences++;
      listener.difference({ accountId, email, what, found, rule, expected });
    };
    compare('the stored balance', balance, 'the sum of its ledger', ledgerSum);
    compare('the balance after its last ledger entry', lastBalanceAfter ?? micro(0), 'the sum', ledgerSum);
    const found = await live?.check(accountId);
    if (found) compare('the live balance', found.live, 'the book plus pending entries', found.expected);
    accounts++;
    listener.checked?.(accounts);
  }
  return { accounts, differences, live: live !== undefined };
}

/** Formats a difference as one line, in credits. */
function differenceText({ accountId, email, what, found, rule, expected }: Difference): string {
  const by = creditsString(micro(found - expected));
  return `account ${accountId} (${email}): ${what} is ${creditsString(found)} credits, but ${rule} is ${creditsString(expected)}: difference ${by}`;
}
