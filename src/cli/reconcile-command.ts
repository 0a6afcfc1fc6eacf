import type { Command } from 'commander';
import { loadConfig } from '../config/load.ts';
import { creditsString, micro } from '../domain/credits.ts';
import { print, printJson } from './print.ts';
import { type Difference, differenceText, type Listener, reconcileAccounts } from './reconcile-accounts.ts';

/** Least time between two lines of progress. */
const TELL_EVERY_MS = 500;

/** Command `tollgate reconcile`, which `npm run reconcile` runs too. Exit code 1 where there is a difference. */
export function reconcileCommand(program: Command): void {
  program
    .command('reconcile')
    .description('prove for every account that balance = ledger; takes the environment of the gateway')
    .option('--json', 'print JSON')
    .option(
      '--progress',
      'say on stderr how far it is (default: where stderr is a terminal)',
      process.stderr.isTTY,
    )
    .action(reconcile);
}

async function reconcile({ json, progress }: { json?: true; progress?: boolean }): Promise<void> {
  const config = loadConfig({ env: process.env });
  const found: Difference[] = [];
  const summary = await reconcileAccounts(config, {
    difference: (one) => (json ? found.push(one) : print(differenceText(one))),
    ...(progress ? { checked: progressTeller() } : {}),
  });
  if (json) printJson({ ...summary, differences: found.map(differenceView) });
  else {
    if (!summary.live)
      print('No gateway runs on this data folder: the book was checked, and no live balance.');
    print(`accounts checked: ${summary.accounts}, differences: ${summary.differences}`);
  }
  process.exitCode = summary.differences === 0 ? 0 : 1;
}

function progressTeller(): NonNullable<Listener['checked']> {
  let toldAt = performance.now();
  return (accounts) => {
    if (performance.now() - toldAt < TELL_EVERY_MS) return;
    toldAt = performance.now();
    process.stderr.write(`tollgate: accounts checked so far: ${accounts}\n`);
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
