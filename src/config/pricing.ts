import { dirname, resolve } from 'node:path';
import type { Model } from '../domain/catalog.ts';
import { FREE_PRICE, TIMES_ONE } from '../domain/price.ts';
import type { Faults } from '../domain/shape.ts';
import type { ListProvider } from './price-list/list-data.ts';
import { type ListedModel, likeModels, listedModel, unknownProvider } from './price-list/listed-model.ts';
import { listOfFile, type PriceList, packagedList } from './price-list/price-list.ts';
import { NotAList } from './price-list/read-list.ts';
import {
  type configFile,
  type ModelSettings,
  NEITHER_PRICED_NOR_FREE,
  type TargetSettings,
} from './schema.ts';

/** Ends a message about a missing price with an alternative for upstreams without a provider. */
export const NO_PROVIDER =
  ', or its upstream must name the provider in the price list, such as provider: openai';

type Settings = NonNullable<ReturnType<typeof configFile>>;

/** Prices of a model with their source, and other facts from the list. */
export type ModelPricing = Pick<Model, 'price' | 'cost' | 'priceSource' | 'contextWindow'>;

/** Prices of all models in a config file. */
export interface Pricing {
  /** By target of each model, in file order. */
  readonly models: ReadonlyMap<string, readonly ModelPricing[]>;
  /** List version; undefined: no list needed. */
  readonly version: string | undefined;
  /** One line per model whose list price may belong to another one. */
  readonly warnings: readonly string[];
}

/** Path of the list that a config file names, relative to the file's folder. */
export function listPath(list: string | undefined, configPath: string): string | undefined {
  return list === undefined ? undefined : resolve(dirname(configPath), list);
}

/** Opens the list of a configuration. Throws NotAList. */
export function openList(path: string | undefined): PriceList {
  return path === undefined ? packagedList() : listOfFile(path);
}

/**
 * Finds the price of each model: the one in the file, or else the list price of its upstream's provider (specification
 * section 10), as of `now`. A price that can't be found or charged exactly is a fault. The list is loaded only if an
 * upstream names a provider or `pricing.list` a file.
 */
export function pricesOf(
  settings: Settings,
  { configPath, now }: { readonly configPath: string; readonly now: Date },
  faults: Faults,
): Pricing {
  const list = neededList(settings, configPath, faults);
  const providers = list ? providersOf(settings, list, faults) : new Map<string, ListProvider>();
  const models = new Map<string, readonly ModelPricing[]>();
  const warnings: string[] = [];
  // Without its list or provider, already faults, a model would get a second, redundant fault.
  const isChecked = (upstream: string) =>
    providers.has(upstream) || settings.upstreams.get(upstream)?.provider === undefined;
  for (const [slug, model] of settings.models) {
    const listed = model.targets.map((target) => {
      const lookup: Lookup = {
        name: target.upstreamModel ?? model.upstreamModel ?? slug,
        model,
        list,
        provider: providers.get(target.upstream),
      };
      return { target, lookup, found: lookUp(lookup, settings.pricing, now) };
    });
    const own = listed.map(({ target, found }) => pricingOf(model, target, found));
    // A target inherits missing settings from the model, whose list price is that of its first target with one.
    const ofModel = own.find((pricing) => pricing !== undefined);
    const priced: ModelPricing[] = [];
    for (const [index, { target, lookup, found }] of listed.entries()) {
      const pricing = own[index] ?? ofModel;
      if (pricing) {
        priced.push({ ...pricing, contextWindow: model.contextWindow ?? found?.contextWindow });
        if (own[index]?.priceSource === 'list' && found?.isGuess) warnings.push(guessed(slug, found, lookup));
      } else if (isChecked(target.upstream)) {
        faults.add(`models.${slug}.price`, `${NEITHER_PRICED_NOR_FREE}${whyUnlisted(lookup, found)}`);
        break;
      }
    }
    models.set(slug, priced);
  }
  return { models, version: list?.version, warnings: [...warnings, ...withoutMarkup(settings, models)] };
}

/** Warns that the general markup leaves written prices as they are. */
function withoutMarkup(
  { pricing: { markup } }: Settings,
  models: ReadonlyMap<string, readonly ModelPricing[]>,
): string[] {
  const written = [...models].filter(([, all]) => all.some(({ priceSource }) => priceSource === 'config'));
  if (markup === TIMES_ONE || written.length === 0) return [];
  const names = written.map(([slug]) => slug).join(', ');
  return [`pricing.markup multiplies list prices only, not the prices written at: ${names}`];
}

/** Warns of models of text, in a valid file as written, whose price leaves output out, which is then given away. */
export function outputUnpriced(file: unknown): string[] {
  const models = (file as Tree).get('models') as ReadonlyMap<string, Tree>;
  const given = [...models].filter(([, model]) => {
    const prices = [model, ...((model.get('targets') ?? []) as Tree[])].map((place) => place.get('price'));
    const isOpen = prices.some((price) => price instanceof Map && price.has('input') && !price.has('output'));
    return isOpen && model.get('category') === 'text';
  });
  if (given.length === 0) return [];
  const names = given.map(([slug]) => slug).join(', ');
  return [`the price has no output, so answers cost nothing, at: ${names}. Set output: 0 if that is meant`];
}

type Tree = ReadonlyMap<string, unknown>;

/** A model and where to look up its price. */
interface Lookup {
  /** Name of the model at the upstream. */
  readonly name: string;
  readonly model: ModelSettings;
  readonly list: PriceList | undefined;
  readonly provider: ListProvider | undefined;
}

function neededList(settings: Settings, configPath: string, faults: Faults): PriceList | undefined {
  const path = listPath(settings.pricing.list, configPath);
  const isNeeded = [...settings.upstreams.values()].some(({ provider }) => provider !== undefined);
  if (path === undefined && !isNeeded) return undefined;
  try {
    return openList(path);
  } catch (error) {
    if (!(error instanceof NotAList)) throw error;
    return faults.add('pricing.list', `${path} can't be used: ${error.message}`);
  }
}

/** Provider of each upstream that names one, by upstream name. */
function providersOf(settings: Settings, list: PriceList, faults: Faults): Map<string, ListProvider> {
  const providers = new Map<string, ListProvider>();
  for (const [name, { provider: id }] of settings.upstreams) {
    if (id === undefined) continue;
    const provider = list.provider(id);
    if (provider) providers.set(name, provider);
    else faults.add(`upstreams.${name}.provider`, unknownProvider(list, id));
  }
  return providers;
}

function lookUp({ list, provider, name, model }: Lookup, pricing: Settings['pricing'], now: Date) {
  if (!list || !provider) return undefined;
  const { creditsPerUsd, markup } = pricing;
  return listedModel(list, provider, name, {
    exchange: { creditsPerUsd, markup: model.markup ?? markup },
    now,
  });
}

function pricingOf(
  model: ModelSettings,
  target: TargetSettings,
  listed: ListedModel | undefined,
): Omit<ModelPricing, 'contextWindow'> | undefined {
  const ownCost = target.cost ?? model.cost;
  const cost = ownCost && { cost: ownCost };
  if (model.free) return { price: FREE_PRICE, ...cost, priceSource: 'free' };
  const written = target.price ?? model.price;
  if (written) return { price: written, ...cost, priceSource: 'config' };
  if (!listed || 'why' in listed.priced) return undefined;
  return { ...listed.priced, ...cost, priceSource: 'list' };
}

function whyUnlisted({ list, provider, name }: Lookup, listed: ListedModel | undefined): string {
  if (!list || !provider) return NO_PROVIDER;
  const whose = `${provider.id} in the price list (${list.version})`;
  if (!listed) return `: ${whose} has no model with this name${likeModels(provider, name)}`;
  const why = 'why' in listed.priced ? listed.priced.why : '';
  return `: the price of ${listed.id} of ${whose} can't be used: ${why}`;
}

function guessed(slug: string, { id }: ListedModel, { name, list }: Lookup): string {
  return (
    `models.${slug} has the price of ${id}, with which its name ${name} begins: the price list ` +
    `(${list?.version}) may not have it yet. Check its price, and set price if it differs`
  );
}
