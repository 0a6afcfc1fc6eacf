import type { Command } from 'commander';
import type { Config } from '../config/config.ts';
import { ConfigError, loadConfig } from '../config/load.ts';
import { configSchemaText } from '../config/schema.ts';
import { type Model, targetName } from '../domain/catalog.ts';
import { isPriced } from '../domain/price.ts';
import { writtenPrice } from '../domain/written-price.ts';
import { Failure, fromCaller } from './arguments.ts';
import { io } from './io.ts';
import { askProviders, type LiveAnswer } from './live-check.ts';
import { pricesText, print, printJson, printTable } from './print.ts';

/** `tollgate config …`: reads the config file; needs no running gateway. */
export function configCommands(program: Command): void {
  const config = program.command('config').description('the configuration file');
  config
    .command('check')
    .description('check the file and the environment: list every error, unset variables, and every price')
    .argument('[file]', 'file to check (default: TOLLGATE_CONFIG, else config/gateway.yaml)')
    .option('--live', 'ask each provider for its models with each credential')
    .option('--json', 'print JSON')
    .action(check);
  config
    .command('schema')
    .description('print the JSON Schema of the file, for editors')
    .action(() => {
      io().stdout.write(configSchemaText());
    });
}

interface CheckOptions {
  readonly json?: true;
  readonly live?: true;
}

async function check(file: string | undefined, { json, live }: CheckOptions): Promise<void> {
  try {
    const config = loadConfig({
      env: io().env,
      ...(file === undefined ? {} : { file: fromCaller(file) }),
    });
    const answers = live ? await askProviders(config) : undefined;
    const isOk = answers === undefined || answers.every(({ ok }) => ok);
    if (json) printJson({ ok: isOk, faults: [], ...facts(config), ...(answers ? { live: answers } : {}) });
    else show(config, answers);
    if (!isOk) throw new Failure('a provider did not answer as it should');
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    if (json) printJson({ ok: false, faults: error.faults.map(parted) });
    else for (const fault of error.faults) print(fault);
    const count = error.faults.length;
    throw new Failure(`${error.origin} is invalid: ${count} ${count === 1 ? 'error' : 'errors'}`);
  }
}

/** Splits a fault of the form `path: what would be right`. */
function parted(fault: string): { path: string; message: string } {
  const colon = fault.indexOf(': ');
  return { path: fault.slice(0, Math.max(0, colon)), message: fault.slice(colon < 0 ? 0 : colon + 2) };
}

interface Row {
  readonly model: Model;
  /** Missing environment variables of the upstream; empty if it is live. */
  readonly waitsFor: readonly string[];
}

function rowsOf({ catalog, unconfigured }: Config): Row[] {
  return [
    ...[...catalog.values()].map((model) => ({ model, waitsFor: [] })),
    ...unconfigured.flatMap(({ models, variables }) =>
      models.map((model) => ({ model, waitsFor: variables })),
    ),
  ];
}

function facts(config: Config) {
  return {
    models: rowsOf(config).map(({ model, waitsFor }) => ({
      model: model.slug,
      category: model.category,
      upstream: model.upstream.name,
      targets: targetsOf(model),
      formats: formatsOf(model),
      live: waitsFor.length === 0,
      waits_for: waitsFor,
      free: !isPriced(model.price),
      price_source: model.priceSource,
      price: writtenPrice(model.price),
    })),
    unset: config.unconfigured.map(({ upstream, variables }) => ({ upstream, variables })),
    warnings: config.warnings,
  };
}

/** Target names of a model, or its single upstream. */
function targetsOf({ upstream, targets }: Model): string[] {
  const names = targets?.map((target) => targetName(target.model.upstream)) ?? [targetName(upstream)];
  return [...new Set(names)];
}

/** The formats that a model is served in. */
function formatsOf({ byFormat, upstream }: Model): string[] {
  return byFormat ? Object.keys(byFormat) : [upstream.format];
}

function showAnswers(answers: readonly LiveAnswer[]): void {
  print('');
  if (answers.length === 0) print('No provider to ask: none but the demo is live.');
  else
    printTable<LiveAnswer>(
      [
        ['PROVIDER', ({ target }) => target],
        ['STATUS', ({ status }) => status ?? 'none'],
        ['TIME', ({ ms }) => `${ms} ms`, 'right'],
        ['ANSWER', ({ answer }) => answer],
      ],
      answers,
    );
}

function show(config: Config, answers: readonly LiveAnswer[] | undefined): void {
  const rows = rowsOf(config);
  printTable<Row>(
    [
      ['MODEL', ({ model }) => model.slug],
      ['CATEGORY', ({ model }) => model.category],
      ['UPSTREAM', ({ model }) => targetsOf(model).join(', ')],
      ['STATE', ({ waitsFor }) => (waitsFor.length > 0 ? `waits for ${waitsFor.join(', ')}` : 'live')],
      ['PRICE IN CREDITS', ({ model }) => pricesText(writtenPrice(model.price))],
    ],
    rows,
  );
  print('');
  const both = rows.filter(({ model }) => model.byFormat).map(({ model }) => model.slug);
  if (both.length > 0) print(`In the formats of OpenAI and of Anthropic: ${both.join(', ')}.`);
  for (const warning of config.warnings) print(`Warning: ${warning}`);
  const priced = rows.filter(({ model }) => isPriced(model.price)).length;
  print(
    `No errors. Models: ${rows.length} (${config.catalog.size} live, ${priced} priced, ${rows.length - priced} free).`,
  );
  if (answers) showAnswers(answers);
}
