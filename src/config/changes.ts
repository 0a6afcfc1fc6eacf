import { isDeepStrictEqual } from 'node:util';
import {
  type Catalog,
  type Model,
  type Price,
  targetName,
  type UnitPrices,
  type Upstream,
} from '../domain/catalog.ts';
import { priceInCredits, TIMES_ONE } from '../domain/price.ts';
import { UNIT_NAMES, type Unit } from '../domain/units.ts';
import { variantKey } from '../domain/written-price.ts';
import type { Config } from './config.ts';

/** Differences of a new configuration: in callable models, and in settings that need a restart. */
export interface ConfigChanges {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Changed models: one line per value, such as `price.input: 2.500000 -> 3.000000`. */
  readonly changed: Readonly<Record<string, readonly string[]>>;
  /** Change of price list, such as `@pydantic/genai-prices 0.1.8 -> prices.json of 2026-12-01`. */
  readonly priceList?: string;
  /** Field names of changed upstreams. Values are hidden, since one of them is a secret. */
  readonly upstreams: Readonly<Record<string, readonly string[]>>;
  /** Paths of changed settings that are read only at startup. */
  readonly needRestart: readonly string[];
}

/** Sections read once: listeners, timers and bounds are built from them. */
const AT_START_ONLY = [
  'server',
  'accounts',
  'calls',
  'alerts',
  'origins',
  'limits',
  'people',
  'mail',
] as const;

/** Compares two loaded configurations. */
export function configChanges(before: Config, after: Config): ConfigChanges {
  return {
    added: keysWithout(after.catalog, before.catalog),
    removed: keysWithout(before.catalog, after.catalog),
    changed: modelChanges(before.catalog, after.catalog),
    ...listChange(before.pricing.version ?? 'none', after.pricing.version ?? 'none'),
    upstreams: upstreamChanges(before.upstreams, after.upstreams),
    needRestart: AT_START_ONLY.flatMap((section) => {
      const fields = differing<object>(before[section] ?? {}, after[section] ?? {});
      return fields.map((field) => `${section}.${field === 'bodyLimitBytes' ? 'bodyLimitMb' : field}`);
    }),
  };
}

/** Whether the changes affect the running gateway's catalog or its connection to an upstream. */
export function changesCatalog({ added, removed, changed, upstreams }: ConfigChanges): boolean {
  return [added, removed, Object.keys(changed), Object.keys(upstreams)].some((some) => some.length > 0);
}

function listChange(was: string, is: string): Pick<ConfigChanges, 'priceList'> {
  return was === is ? {} : { priceList: `${was} -> ${is}` };
}

function keysWithout(some: ReadonlyMap<string, unknown>, others: ReadonlyMap<string, unknown>): string[] {
  return [...some.keys()].filter((key) => !others.has(key));
}

function modelChanges(before: Catalog, after: Catalog): Record<string, string[]> {
  const changed = new Map<string, string[]>();
  for (const [slug, model] of after) {
    const old = before.get(slug);
    const lines = old
      ? [
          ...fieldChanges(old, model),
          ...priceChanges(old.price, model.price),
          ...costChanges(old, model),
          ...targetPriceChanges(old, model),
        ]
      : [];
    if (lines.length > 0) changed.set(slug, lines);
  }
  return Object.fromEntries(changed);
}

function fieldChanges(old: Model, model: Model): string[] {
  const shown = (of: Model) =>
    ({
      upstream: of.upstream.name,
      targets: targetsShown(of),
      aliases: of.aliases?.join(', ') ?? 'none',
      upstreamModel: of.upstreamModel,
      category: of.category,
      maxOutputTokens: of.maxOutputTokens,
      contextWindow: of.contextWindow ?? 'none',
      imageTokens: of.imageTokens ?? 'none',
      priceSource: of.priceSource,
      unpriced: of.unpriced,
      sizes: of.sizes ?? 'none',
    }) as const;
  const [was, is] = [shown(old), shown(model)];
  return differing(was, is).map((field) => `${field}: ${was[field]} -> ${is[field]}`);
}

function targetsShown({ targets = [], byFormat }: Model): string {
  const shown = targets.map(({ model, weight, priority }) => {
    const format = byFormat ? `${model.upstream.format}, ` : '';
    return `${placeOf(model)} (${format}weight ${weight}, priority ${priority})`;
  });
  return shown.join(', ') || 'none';
}

/** Price changes of targets present in both; those of the first target are the model's. */
function targetPriceChanges(old: Model, model: Model): string[] {
  const pricesOf = ({ targets = [] }: Model) =>
    new Map(targets.map((target) => [placeOf(target.model), target.model]));
  const before = pricesOf(old);
  const after = pricesOf(model);
  after.delete(placeOf(model));
  return [...after].flatMap(([place, { upstream, price }]) => {
    const was = before.get(place);
    return was ? priceChanges(was.price, price, `${targetName(upstream)} price`) : [];
  });
}

function placeOf({ upstream, upstreamModel }: Model): string {
  return `${targetName(upstream)}/${upstreamModel}`;
}

function priceChanges(was: Price, is: Price, name = 'price'): string[] {
  const [before, after] = [priceLines(was, name), priceLines(is, name)];
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter((name) => before.get(name) !== after.get(name))
    .map((name) => `${name}: ${before.get(name) ?? 'none'} -> ${after.get(name) ?? 'none'}`);
}

/** Changes of the provider cost, if it differs from the price. */
function costChanges(old: Model, model: Model): string[] {
  const isApart = old.cost?.units !== old.price.units || model.cost?.units !== model.price.units;
  return isApart && old.cost && model.cost ? priceChanges(old.cost, model.cost, 'cost') : [];
}

/** Every price and multiplier by name. */
function priceLines({ units, tiers, variants = {}, serviceTiers }: Price, name: string): Map<string, string> {
  const unitLines = (prices: UnitPrices, path: (unit: Unit) => string): [string, string][] =>
    UNIT_NAMES.map((unit) => [path(unit), priceInCredits(unit, prices[unit])]);
  return new Map([
    ...unitLines(units, (unit) => `${name}.${unit}`),
    ...tiers.flatMap((tier) => unitLines(tier.units, (unit) => `${name}.${unit} above ${tier.above} tokens`)),
    ...UNIT_NAMES.flatMap((unit) =>
      (variants[unit] ?? []).map((variant): [string, string] => [
        `${name}.${unit} ${variantKey(variant)}`,
        priceInCredits(unit, variant.price),
      ]),
    ),
    ...[...serviceTiers].map(([tier, times]): [string, string] => [
      `serviceTiers.${tier}`,
      String(times / TIMES_ONE),
    ]),
  ]);
}

function upstreamChanges(
  before: ReadonlyMap<string, Upstream>,
  after: ReadonlyMap<string, Upstream>,
): Record<string, string[]> {
  const changed = new Map<string, string[]>();
  for (const [name, upstream] of after) {
    const old = before.get(name);
    const fields = old ? differing(old, upstream) : [];
    if (fields.length > 0) changed.set(name, fields);
  }
  return Object.fromEntries(changed);
}

/** Unequal fields of two objects of the same shape; lists and objects are compared by content. */
function differing<T extends object>(was: T, is: T): (keyof T & string)[] {
  const fields = [...new Set([...Object.keys(was), ...Object.keys(is)])] as (keyof T & string)[];
  return fields.filter((field) => !isDeepStrictEqual(was[field], is[field]));
}
