import { Command, CommanderError } from 'commander';
import type { MarginSumsView } from '../api/operator/margin-view.ts';
import type { ProviderListView } from '../api/operator/providers-view.ts';
import { DEFAULT_MARGIN_GROUP, MARGIN_GROUPS } from '../api/usage/usage-view.ts';
import { VERSION } from '../config/version.ts';
import { accountCommands } from './account-commands.ts';
import { showUsage, type UsageOptions, withUsageOptions } from './account-views.ts';
import { Failure, fromCaller, type RemoteOptions, remote } from './arguments.ts';
import { attentionCommand } from './attention-command.ts';
import { bookCommands } from './book-commands.ts';
import { callsCommand } from './calls-command.ts';
import { configCommands } from './config-commands.ts';
import { operatorApi } from './gateway-api.ts';
import { type Io, io, withIo } from './io.ts';
import { keyCommands } from './key-commands.ts';
import { personCommands } from './person-commands.ts';
import { pricesCommand } from './prices-command.ts';
import { print, show } from './print.ts';
import { reconcileCommand } from './reconcile-command.ts';

const FAILURE = 1;
const USAGE = 2;

/** Runs a command of `tollgate`. Resolves with the exit code: 0 for success, 1 for failure, 2 for wrong usage. */
export async function runCommand(args: readonly string[], given: Io): Promise<number> {
  return await withIo(given, async () => {
    try {
      await commandLine().parseAsync(args, { from: 'user' });
      return 0;
    } catch (error) {
      return exitCodeOf(error as Error);
    }
  });
}

function commandLine(): Command {
  const program = new Command('tollgate')
    .description('Tollgate: a credit-metered gateway for AI APIs')
    .version(VERSION)
    .showHelpAfterError('Add --help to see the usage.')
    .configureOutput({
      writeOut: (text) => io().stdout.write(text),
      writeErr: (text) => io().stderr.write(text),
    })
    .exitOverride();
  startCommand(program);
  accountCommands(program);
  keyCommands(program);
  personCommands(program);
  usageCommand(program);
  reconcileCommand(program);
  bookCommands(program);
  configCommands(program);
  pricesCommand(program);
  providersCommand(program);
  callsCommand(program);
  attentionCommand(program);
  return program;
}

/** Returns the exit code for an error and prints it in one line, unless it was printed before. */
function exitCodeOf(error: Error): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE;
  if (error.message !== '') io().stderr.write(`tollgate: ${error.message}\n`);
  return error instanceof Failure && error.isUsage ? USAGE : FAILURE;
}

/** `tollgate usage`: the operator's usage report of a running gateway. */
function usageCommand(program: Command): void {
  withUsageOptions(remote(program.command('usage')), MARGIN_GROUPS, DEFAULT_MARGIN_GROUP)
    .description(
      'report the usage of all accounts over whole UTC days: charges, cost by the price list, margin',
    )
    .action(usage);
}

async function usage(options: UsageOptions): Promise<void> {
  await showUsage<MarginSumsView>('/api/admin/usage/', options, [
    ['CALLS', ({ calls }) => calls, 'right'],
    ['CHARGED', ({ charged }) => charged, 'right'],
    ['OF THAT WITH COST', ({ charged_with_cost }) => charged_with_cost, 'right'],
    ['COST', ({ cost }) => cost ?? 'unknown', 'right'],
    ['MARGIN', ({ margin }) => margin ?? 'unknown', 'right'],
  ]);
}

/** `tollgate providers`: the providers of a running gateway, and the health of their targets. */
function providersCommand(program: Command): void {
  remote(program.command('providers'))
    .description('list the providers, the models that run there, and their health')
    .action(providers);
}

async function providers(options: RemoteOptions): Promise<void> {
  const list = await operatorApi(options).call<ProviderListView>('GET', '/api/admin/providers/');
  const targets = list.providers.flatMap(({ targets: of }) => of);
  show<(typeof targets)[number]>(
    options,
    list,
    [
      ['TARGET', ({ target }) => target],
      ['FORMAT', ({ formats }) => formats.join(', ')],
      ['MODEL', ({ model }) => model],
      ['STATE', stateOf],
      ['LATENCY', ({ latency_ms }) => (latency_ms === null ? null : `${latency_ms} ms`), 'right'],
      ['CALLS', ({ calls }) => calls, 'right'],
      ['LAST ERROR', ({ last_error, last_error_at }) => last_error && `${last_error_at}: ${last_error}`],
    ],
    targets,
  );
  if (options.json) return;
  const out = targets.filter(({ state }) => state === 'out').length;
  print('');
  print(`${targets.length} targets: ${targets.length - out} up, ${out} out.`);
}

/** `out until 2026-11-21T08:00:08.000Z (anthropic)`: with the format if the other one is up. */
function stateOf({
  state,
  out_until: until,
  formats,
  formats_out: out,
}: ProviderListView['providers'][number]['targets'][number]): string {
  const which = out.length < formats.length ? ` (${out.join(', ')})` : '';
  return until === null ? state : `${state} until ${until}${which}`;
}

interface StartOptions {
  readonly config?: string;
  readonly data?: string;
  readonly host?: string;
  readonly port?: string;
  readonly demo?: true;
}

/** `tollgate start`: runs the gateway like `node dist/main.js`. Options set environment variables. */
function startCommand(program: Command): void {
  program
    .command('start')
    .description('start the gateway with the settings of the environment and the configuration file')
    .option('--config <file>', 'configuration file; overrides TOLLGATE_CONFIG')
    .option('--data <folder>', 'data folder; overrides TOLLGATE_DATA')
    .option('--host <address>', 'address to listen on; overrides HOST')
    .option('--port <port>', 'port to listen on; overrides PORT; 0 picks a free one')
    .option('--demo', 'create a demo account on the first start and print its key, like npm start')
    .action(start);
}

async function start({ config, data, host, port, demo }: StartOptions): Promise<void> {
  const given = {
    TOLLGATE_CONFIG: config && fromCaller(config),
    TOLLGATE_DATA: data && fromCaller(data),
    HOST: host,
    PORT: port,
    TOLLGATE_DEMO: demo && 'true',
  };
  for (const [name, value] of Object.entries(given)) if (value !== undefined) process.env[name] = value;
  await import('../main.ts');
}
