import { Command, CommanderError } from 'commander';
import { VERSION } from '../config/version.ts';
import { accountCommands } from './account-commands.ts';
import { Failure } from './arguments.ts';
import { configCommands } from './config-commands.ts';
import { keyCommands } from './key-commands.ts';
import { pricesCommand } from './prices-command.ts';
import { reconcileCommand } from './reconcile-command.ts';
import { startCommand } from './start-command.ts';

const FAILURE = 1;
const USAGE = 2;

/** Runs a command of the command line `tollgate` and sets the exit code: 0 done, 1 failure, 2 used wrongly. */
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
  reconcileCommand(program);
  configCommands(program);
  pricesCommand(program);
  return program;
}

/** The exit code of an error. commander has printed its own errors; all others are printed here, in one line. */
function exitCodeOf(error: Error): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE;
  process.stderr.write(`tollgate: ${error.message}\n`);
  return error instanceof Failure && error.isUsage ? USAGE : FAILURE;
}
