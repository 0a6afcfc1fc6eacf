import { type Command, InvalidArgumentError } from 'commander';
import { loadConfig } from '../config/load.ts';
import { creditsString, micro } from '../domain/credits.ts';
import { parseDay } from '../domain/period.ts';
import { Failure, id } from './arguments.ts';
import { io } from './io.ts';
import { print, printJson } from './print.ts';
import { type AccountDifference, accountDifferenceText, reconcileAccounts } from './reconcile-accounts.ts';
import { type ChargeDifference, chargeDifferenceText, reconcileCharges } from './reconcile-charges.ts';

/** Message of a failure whose reasons are printed. */
const PRINTED = '';
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
    .option('--progress', 'show progress on stderr (default: if stderr is a terminal)', io().stderr.isTTY)
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
  const config = loadConfig({ env: io().env });
  const found: AccountDifference[] = [];
  const summary = await reconcileAccounts(config, {
    difference: (one) => (json ? found.push(one) : print(accountDifferenceText(one))),
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
  if (summary.differences > 0) throw new Failure(PRINTED);
}

async function charges({ json, progress, from, to, account }: Options): Promise<void> {
  if (from !== undefined && to !== undefined && from > to) {
    throw new Failure('--from must not be later than --to.', { isUsage: true });
  }
  const config = loadConfig({ env: io().env });
  const found: ChargeDifference[] = [];
  const span = { fromDay: from, toDay: to, accountId: account };
  const summary = await reconcileCharges(config, span, {
    difference: (one) => (json ? found.push(one) : print(chargeDifferenceText(one))),
    ...(progress ? { checked: progressReporter('charges') } : {}),
  });
  if (json) printJson({ ...summary, differences: found.map(chargeView) });
  else print(`charges checked: ${summary.charges}, differences: ${summary.differences}`);
  if (summary.differences > 0) throw new Failure(PRINTED);
}

function progressReporter(what: 'accounts' | 'charges'): (count: number) => void {
  let printedAt = performance.now();
  return (count) => {
    if (performance.now() - printedAt < PROGRESS_EVERY_MS) return;
    printedAt = performance.now();
    io().stderr.write(`tollgate: ${what} checked so far: ${count}\n`);
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

function differenceView({ accountId, email, what, found, rule, expected }: AccountDifference) {
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
