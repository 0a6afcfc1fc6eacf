import type { Command } from 'commander';
import type { Config } from '../config/config.ts';
import { loadConfig } from '../config/load.ts';
import { type ListedModel, listedModel } from '../config/price-list/listed-model.ts';
import type { PriceList } from '../config/price-list/price-list.ts';
import { openList } from '../config/pricing.ts';
import { type Model, targetName } from '../domain/catalog.ts';
import { UNIT_NAMES, type Unit } from '../domain/units.ts';
import { type WrittenUnit, writtenPrice, writtenTiers } from '../domain/written-price.ts';
import { fromCaller } from './arguments.ts';
import { io } from './io.ts';
import { pricesText, print, printJson, printTable, unitText } from './print.ts';

/** `tollgate prices`: every price with its source, and how written prices differ from the list. */
export function pricesCommand(program: Command): void {
  program
    .command('prices')
    .description('list the prices of every model and their source')
    .argument('[file]', 'configuration to read (default: TOLLGATE_CONFIG, else config/gateway.yaml)')
    .option('--diff', 'compare written prices with the price list')
    .option('--json', 'print JSON')
    .action(prices);
}

interface Row {
  readonly model: Model;
  /** Target name, if the model has several; each has its own price. */
  readonly target: string | undefined;
  /** The model's current list entry; undefined if its upstream names no provider or the list lacks it. */
  readonly listed: ListedModel | undefined;
}

function prices(file: string | undefined, { diff, json }: { diff?: true; json?: true }): void {
  const now = new Date();
  const config = loadConfig({
    env: io().env,
    now,
    ...(file === undefined ? {} : { file: fromCaller(file) }),
  });
  const rows = rowsOf(config, now);
  if (diff) showDifferences(config, rows, json);
  else if (json) printJson({ ...headOf(config), models: rows.map((row) => priceJson(row, now)) });
  else showPrices(config, rows, now);
}

function rowsOf({ pricing, ...config }: Config, now: Date): Row[] {
  const list = pricing.version === undefined ? undefined : openList(pricing.list);
  const rows = everyModel(config).flatMap((model): Omit<Row, 'listed'>[] => {
    const { targets } = model;
    if (!targets) return [{ model, target: undefined }];
    return targets.map((target) => ({ model: target.model, target: targetName(target.model.upstream) }));
  });
  return rows.map(({ model, target }) => ({
    model,
    target,
    listed: list && look(list, model, { creditsPerUsd: pricing.creditsPerUsd, markup: pricing.markup }, now),
  }));
}

/** A model's list entry at the global markup: its price if none were written. */
function look(list: PriceList, { upstream, upstreamModel }: Model, exchange: Exchange, now: Date) {
  const provider = upstream.provider === undefined ? undefined : list.provider(upstream.provider);
  return provider && listedModel(list, provider, upstreamModel, { exchange, now });
}

type Exchange = Pick<Config['pricing'], 'creditsPerUsd' | 'markup'>;

function headOf({ pricing }: Config) {
  const { creditsPerUsd, markup, version } = pricing;
  return {
    list: version ?? null,
    credits_per_usd: creditsPerUsd / 1_000_000,
    markup: markup / 1_000_000,
  };
}

function nameInList({ upstream }: Model, listed: ListedModel | undefined): string | null {
  return listed ? `${upstream.provider}/${listed.id}` : null;
}

function priceJson({ model, target, listed }: Row, now: Date) {
  return {
    model: model.slug,
    target: target ?? null,
    source: model.priceSource,
    list_model: nameInList(model, listed),
    price: writtenPrice(model.price),
    service_tiers: writtenTiers(model.price),
    context_window: model.contextWindow ?? null,
    changes_on: model.priceSource === 'list' ? (listed?.changesOn ?? null) : null,
    promised_until: model.priceUntil ?? null,
    promise_passed: hasPassed(model, now),
  };
}

/** True after the last day of the provider's promised price. */
function hasPassed({ priceUntil }: Model, now: Date): boolean {
  return priceUntil !== undefined && now.toISOString().slice(0, 10) > priceUntil;
}

function showPrices(config: Config, rows: readonly Row[], now: Date): void {
  printTable<Row>(
    [
      ['MODEL', ({ model, target }) => (target === undefined ? model.slug : `${model.slug} at ${target}`)],
      ['SOURCE', ({ model }) => model.priceSource],
      ['NAME IN THE LIST', ({ model, listed }) => nameInList(model, listed)],
      ['SERVICE TIERS', ({ model }) => tiersText(model)],
      // The longest cell comes last, so that it widens no other.
      ['CREDITS', ({ model }) => pricesText(writtenPrice(model.price))],
    ],
    rows,
  );
  print('');
  print(listLine(config));
  for (const { model, listed } of rows) {
    if (model.priceSource === 'list' && listed?.changesOn)
      print(`The prices of ${model.slug} change on ${listed.changesOn} (UTC): send SIGHUP then, or restart.`);
    if (hasPassed(model, now))
      print(
        `${model.slug} has a price that its provider promised until ${model.priceUntil}, which has passed: ` +
          "check the provider's page.",
      );
  }
}

function listLine(config: Config): string {
  const { list, credits_per_usd, markup } = headOf(config);
  return list === null
    ? 'No price list: no upstream names a provider.'
    : `Price list: ${list}. Credits for a US dollar: ${credits_per_usd}. Markup: ${markup}.`;
}

function tiersText({ price }: Model): string {
  const tiers = Object.entries(writtenTiers(price)).map(([tier, times]) => `${tier} ×${times}`);
  return tiers.join(', ') || '-';
}

interface Compared extends Row {
  /** The differences, or the reason why there is nothing to compare. */
  readonly found: readonly Difference[] | string;
}

function showDifferences(config: Config, rows: readonly Row[], json: true | undefined): void {
  const compared = rows
    .filter(({ model }) => model.priceSource === 'config')
    .map((row): Compared => ({ ...row, found: differences(row.model, row.listed) }));
  if (json) printJson({ ...headOf(config), ...differencesJson(compared) });
  else {
    showCompared(compared);
    print(listLine(config));
  }
}

function differing(compared: readonly Compared[]): (Omit<Row, 'target'> & Difference)[] {
  return compared.flatMap(({ model, listed, found }) =>
    typeof found === 'string' ? [] : found.map((one) => ({ model, listed, ...one })),
  );
}

function differencesJson(compared: readonly Compared[]) {
  return {
    differences: differing(compared).map(({ model, listed, unit, written, list }) => ({
      model: model.slug,
      list_model: nameInList(model, listed),
      may_be_another: listed?.isGuess ?? false,
      unit,
      written,
      list,
    })),
    not_compared: compared.flatMap(({ model, found }) =>
      typeof found === 'string' ? [{ model: model.slug, reason: found }] : [],
    ),
  };
}

function showCompared(compared: readonly Compared[]): void {
  const cell = (unit: WrittenUnit | null) => (unit === null ? 'none' : unitText(unit));
  const rows = differing(compared);
  if (rows.length > 0) {
    printTable<(typeof rows)[number]>(
      [
        ['MODEL', ({ model }) => model.slug],
        ['UNIT', ({ unit }) => unit],
        ['WRITTEN', ({ written }) => cell(written)],
        ['LIST', ({ list }) => cell(list)],
        [
          'NAME IN THE LIST',
          ({ model, listed }) =>
            `${nameInList(model, listed)}${listed?.isGuess ? ' (may be another model)' : ''}`,
        ],
      ],
      rows,
    );
    print('');
  }
  const reasons = Map.groupBy(compared, ({ found }) => (typeof found === 'string' ? found : ''));
  for (const [reason, of] of reasons)
    if (reason !== '') print(`Not compared, as ${reason}: ${of.map(({ model }) => model.slug).join(', ')}`);
  const agreeing = compared.filter(({ found }) => found.length === 0).length;
  print(`Written prices: ${compared.length}, of which ${agreeing} match the list.`);
}

/** A unit whose written price differs from the list; null: not in that source. */
interface Difference {
  readonly unit: Unit;
  readonly written: WrittenUnit | null;
  readonly list: WrittenUnit | null;
}

/** Differences between written and list price, or why they can't be compared. */
function differences(model: Model, listed: ListedModel | undefined): readonly Difference[] | string {
  if (model.upstream.provider === undefined) return 'their upstream names no provider';
  if (!listed) return `the list has no such model of ${model.upstream.provider}`;
  if ('why' in listed.priced) return `the list's price can't be used: ${listed.priced.why}`;
  const [is, list] = [writtenPrice(model.price), writtenPrice(listed.priced.price)];
  return UNIT_NAMES.flatMap((unit) => {
    const [one, other] = [is[unit] ?? null, list[unit] ?? null];
    return JSON.stringify(one) === JSON.stringify(other) ? [] : [{ unit, written: one, list: other }];
  });
}

/** Every model in the file, including those whose upstream lacks a variable. */
function everyModel({ catalog, unconfigured }: Pick<Config, 'catalog' | 'unconfigured'>): Model[] {
  return [...catalog.values(), ...unconfigured.flatMap(({ models }) => models)];
}
