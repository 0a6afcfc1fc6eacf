import { Command, CommanderError } from 'commander';
import type { MarginReportView, MarginSumsView } from '../api/operator/margin-view.ts';
import { DEFAULT_MARGIN_GROUP, MARGIN_GROUPS } from '../api/usage/usage-view.ts';
import { VERSION } from '../config/version.ts';
import { accountCommands } from './account-commands.ts';
import { groupByOption, groupCells, queryOf } from './account-views.ts';
import { Failure, type RemoteOptions, remote } from './arguments.ts';
import { callsCommand } from './calls-command.ts';
import { configCommands } from './config-commands.ts';
import { operatorApi } from './gateway-api.ts';
import { keyCommands } from './key-commands.ts';
import { pricesCommand } from './prices-command.ts';
import { printJson, printTable } from './print.ts';
import { providersCommand } from './providers-command.ts';
import { reconcileCommand } from './reconcile-command.ts';
import { startCommand } from './start-command.ts';

const FAILURE = 1;
const USAGE = 2;

/** Runs a command of `tollgate` and sets the exit code: 0 for success, 1 for failure, 2 for wrong usage. */
export async function runCommand(args: readonly string[]): Promise<void> {
  // `| head` closes the pipe when it has read enough, which is no fault.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit();
  });
  try {
    await commandLine().parseAsync(args, { from: 'user' });
  } catch (error) {
    process.exitCode = exitCodeOf(error as Error);
  }
}

function commandLine(): Command {
  const program = new Command('tollgate')
    .description('Tollgate: a credit-metered gateway for AI APIs')
    .version(VERSION)
    .showHelpAfterError('Add --help to see the usage.')
    .exitOverride();
  startCommand(program);
  accountCommands(program);
  keyCommands(program);
  usageCommand(program);
  reconcileCommand(program);
  configCommands(program);
  pricesCommand(program);
  providersCommand(program);
  callsCommand(program);
  return program;
}

/** Exit code for an error, which is printed in one line unless commander has printed it already. */
function exitCodeOf(error: Error): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE;
  process.stderr.write(`tollgate: ${error.message}\n`);
  return error instanceof Failure && error.isUsage ? USAGE : FAILURE;
}

interface UsageOptions extends RemoteOptions {
  readonly from?: string;
  readonly to?: string;
  readonly groupBy: readonly (typeof MARGIN_GROUPS)[number][];
}

/** `tollgate usage`: the operator's usage report of a running gateway. */
function usageCommand(program: Command): void {
  remote(program.command('usage'))
    .description(
      'report the usage of all accounts over whole UTC days: charges, cost by the price list, margin',
    )
    .option('--from <day>', 'first day, such as 2026-11-01')
    .option('--to <day>', 'last day')
    .addOption(groupByOption(MARGIN_GROUPS, DEFAULT_MARGIN_GROUP))
    .action(usage);
}

async function usage(options: UsageOptions): Promise<void> {
  const { from, to, groupBy } = options;
  const query = queryOf({ from, to, group_by: groupBy.join(',') });
  const report = await operatorApi(options).call<MarginReportView>('GET', `/api/admin/usage/${query}`);
  if (options.json) return printJson(report);
  printTable(
    [
      ...groupBy.map((group) => group.toUpperCase()),
      'CALLS',
      'CHARGED',
      'OF THAT WITH COST',
      'COST',
      'MARGIN',
    ],
    [
      ...report.rows.map((row) => [...groupCells(groupBy, row), ...sums(row)]),
      ['total', ...groupBy.slice(1).map(() => ''), ...sums(report.total)],
    ],
  );
}

function sums({ calls, charged, charged_with_cost, cost, margin }: MarginSumsView): string[] {
  return [String(calls), charged, charged_with_cost, cost ?? 'unknown', margin ?? 'unknown'];
}
