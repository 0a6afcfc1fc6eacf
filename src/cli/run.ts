import { Command, CommanderError } from 'commander';
import { VERSION } from '../config/version.ts';
import { accountCommands } from './account-commands.ts';
import { Failure } from './arguments.ts';
import { configCommands } from './config-commands.ts';
import { keyCommands } from './key-commands.ts';
import { pricesCommand } from './prices-command.ts';
import { reconcileCommand } from './reconcile-command.ts';
import { startCommand } from './start-command.ts';
import { usageCommand } from './usage-command.ts';

const FAILURE = 1;
const USAGE = 2;

/** Runs a command of `tollgate` and sets the exit code: 0 for success, 1 for failure, 2 for wrong usage. */
export async function runCommand(args: readonly string[]): Promise<void> {
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
    .showHelpAfterError('Add --help to see how it is used.')
    .exitOverride();
  startCommand(program);
  accountCommands(program);
  keyCommands(program);
  usageCommand(program);
  reconcileCommand(program);
  configCommands(program);
  pricesCommand(program);
  return program;
}

/** Exit code for an error, which is printed in one line unless commander has printed it already. */
function exitCodeOf(error: Error): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE;
  process.stderr.write(`tollgate: ${error.message}\n`);
  return error instanceof Failure && error.isUsage ? USAGE : FAILURE;
}
