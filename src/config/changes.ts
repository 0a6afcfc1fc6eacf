import type { Catalog, Model, Price, UnitPrices, Upstream } from '../domain/catalog.ts';
import { priceInCredits, TIMES_ONE } from '../domain/price.ts';
import { UNIT_NAMES, type Unit } from '../domain/price-units.ts';
import type { Config } from './config.ts';

/** What a new configuration changes of what can be called, and what of it the running gateway cannot take up. */
export interface ConfigChanges {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Changed models: a line for each value, as `price.input: 2.500000 -> 3.000000`. */
  readonly changed: Readonly<Record<string, readonly string[]>>;
  /** Changed upstreams: the names of their fields. Values are not shown, as one of them is a secret. */
  readonly upstreams: Readonly<Record<string, readonly string[]>>;
  /** Paths of settings that differ and are read at a start only. */
  readonly needRestart: readonly string[];
}

/** Read once: listeners, timers and bounds are made from them. */
const AT_START_ONLY = ['server', 'accounts', 'alerts', 'origins', 'limits'] as const;

/** What differs between two configurations as they were loaded. */
export function configChanges(before: Config, after: Config): ConfigChanges {
  return {
    added: keysWithout(after.catalog, before.catalog),
    removed: keysWithout(before.catalog, after.catalog),
    changed: modelChanges(before.catalog, after.catalog),
    upstreams: upstreamChanges(before.upstreams, after.upstreams),
    needRestart: AT_START_ONLY.flatMap((section) => {
      const fields = differing<object>(before[section], after[section]);
      return fields.map((field) => `${section}.${field === 'bodyLimitBytes' ? 'bodyLimitMb' : field}`);
    }),
  };
}

/** Whether the running gateway would serve anything else. */
export function changesOffer({ added, removed, changed, upstreams }: ConfigChanges): boolean {
  return [added, removed, Object.keys(changed), Object.keys(upstreams)].some((some) => some.length > 0);
}

function keysWithout(some: ReadonlyMap<string, unknown>, others: ReadonlyMap<string, unknown>): string[] {
  return [...some.keys()].filter((key) => !others.has(key));
}

function modelChanges(before: Catalog, after: Catalog): Record<string, string[]> {
  const changed = new Map<string, string[]>();
  for (const [slug, model] of after) {
    const old = before.get(slug);
    const lines = old ? [...fieldChanges(old, model), ...priceChanges(old.price, model.price)] : [];
    if (lines.length > 0) changed.set(slug, lines);
  }
  return Object.fromEntries(changed);
}

function fieldChanges(old: Model, model: Model): string[] {
  const shown = ({ upstream, upstreamModel, category, maxOutputTokens }: Model) =>
    ({ upstream: upstream.name, upstreamModel, category, maxOutputTokens }) as const;
  const [was, is] = [shown(old), shown(model)];
  return differing(was, is).map((field) => `${field}: ${was[field]} -> ${is[field]}`);
}

function priceChanges(was: Price, is: Price): string[] {
  const [before, after] = [priceLines(was), priceLines(is)];
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter((name) => before.get(name) !== after.get(name))
    .map((name) => `${name}: ${before.get(name) ?? 'none'} -> ${after.get(name) ?? 'none'}`);
}

/** Every price and multiplier by its name. */
function priceLines({ units, tiers, serviceTiers }: Price): Map<string, string> {
  const unitLines = (prices: UnitPrices, name: (unit: Unit) => string): [string, string][] =>
    UNIT_NAMES.map((unit) => [name(unit), priceInCredits(unit, prices[unit])]);
  return new Map([
    ...unitLines(units, (unit) => `price.${unit}`),
    ...tiers.flatMap((tier) => unitLines(tier.units, (unit) => `price.${unit} above ${tier.above} tokens`)),
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

/** Fields of two objects of the same shape that are not equal; lists are compared by their items. */
function differing<T extends object>(was: T, is: T): (keyof T & string)[] {
  const fields = Object.keys(was) as (keyof T & string)[];
  return fields.filter((field) => String(was[field]) !== String(is[field]));
}
