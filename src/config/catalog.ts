import {
  inEachFormat,
  type Model,
  type Price,
  type Target,
  targetName,
  type Upstream,
} from '../domain/catalog.ts';
import type { Config, UnconfiguredUpstream } from './config.ts';
import { isPublic } from './presets.ts';
import type { ModelPricing, Pricing } from './pricing.ts';
import type { Unset } from './references.ts';
import type { configFile, ModelSettings, TargetSettings } from './schema.ts';
import type { UpstreamSettings } from './upstream-schema.ts';

/** Output tokens assumed without maxOutputTokens if output has a price. */
const DEFAULT_OUTPUT_TOKENS = 16_384;
const UNPRICED_PASS =
  'pricing.unpriced is pass: requests for a feature that their model has no price for are charged at the plain ' +
  'price; you pay the difference to the provider';
const NO_TIERS: ReadonlyMap<string, number> = new Map();

/**
 * Catalog of a configuration: upstreams whose variables are set, with their models; upstreams with missing variables;
 * and warnings for each upstream left out and each assumed bound. A model is live if any of its targets is.
 */
export function catalogOf(
  settings: NonNullable<ReturnType<typeof configFile>>,
  unset: readonly Unset[],
  pricing: Pricing,
): Pick<Config, 'upstreams' | 'catalog' | 'unconfigured' | 'warnings'> {
  const { unpriced } = settings.pricing;
  const credentials = new Map(
    [...settings.upstreams].map(([name, read]) => [name, credentialsOf(name, read)]),
  );
  const inFormats = new Map([...credentials].map(([name, all]) => [name, all.flatMap(inEachFormat)]));
  const missing = new Map([...credentials].map(([name, all]) => [name, missingOf(name, all, unset)]));
  const upstreams = new Map<string, Upstream>();
  const catalog = new Map<string, Model>();
  const warnings: string[] = [];
  for (const [name, [first]] of credentials) {
    if (first && missing.get(name)?.whole.length === 0) upstreams.set(name, first);
  }
  const waiting = new Map<string, Model[]>();
  for (const [slug, model] of settings.models) {
    const all = model.targets.flatMap((target, index): Target[] => {
      const priced = pricing.models.get(slug)?.[index];
      if (!priced) return [];
      return usedBy(model, inFormats.get(target.upstream) ?? []).map((upstream) => ({
        model: catalogModel(slug, model, { target, upstream, priced, unpriced }),
        weight: target.weight,
        priority: target.priority,
      }));
    });
    const places = all.filter(
      ({ model: { upstream } }) => !missing.get(upstream.name)?.targets.has(targetName(upstream)),
    );
    const [first] = places;
    if (!first) {
      const [left] = all;
      if (left) {
        const { name } = left.model.upstream;
        waiting.set(name, [...(waiting.get(name) ?? []), modelAt(all)]);
      }
      continue;
    }
    catalog.set(slug, modelAt(places));
    if (hasPricedOutput(first.model.price) && model.maxOutputTokens === undefined)
      warnings.push(assumedBound(slug));
  }
  const unconfigured: UnconfiguredUpstream[] = [];
  for (const [name, { whole, ofCredentials }] of missing) {
    if (whole.length > 0) {
      const left = { upstream: name, variables: whole, models: waiting.get(name) ?? [] };
      unconfigured.push(left);
      warnings.push(leftOut(left));
    } else if (ofCredentials.length > 0) {
      warnings.push(`upstream ${name} has fewer credentials: ${ofCredentials.join(' and ')} not set`);
    }
  }
  for (const [name, { url, apiKeys }] of settings.upstreams)
    if (isPublic(url) && apiKeys.includes('')) warnings.push(withoutCredential(name));
  if (unpriced === 'pass') warnings.push(UNPRICED_PASS);
  return { upstreams, catalog, unconfigured, warnings: [...warnings, ...pricing.warnings] };
}

/** The formats of an upstream that the model needs: Anthropic's has endpoints for text only. */
function usedBy({ category }: ModelSettings, upstreams: readonly Upstream[]): readonly Upstream[] {
  const [first] = upstreams;
  return category === 'text' ? upstreams : upstreams.filter(({ format }) => format === first?.format);
}

/** The model at its places, divided by format here so that no call has to. */
function modelAt(places: readonly Target[]): Model {
  const byFormat = Map.groupBy(places, ({ model }) => model.upstream.format);
  const [openai, anthropic] = [byFormat.get('openai'), byFormat.get('anthropic')];
  const all = withTargets(places);
  return openai && anthropic
    ? { ...all, byFormat: { openai: withTargets(openai), anthropic: withTargets(anthropic) } }
    : all;
}

function withTargets(places: readonly Target[]): Model {
  const { model } = places[0] as Target;
  return places.length === 1 ? model : { ...model, targets: places };
}

/** Expands an upstream into one per credential. */
function credentialsOf(name: string, { apiKeys, ...settings }: UpstreamSettings): Upstream[] {
  return apiKeys.map((apiKey, index) => ({
    name,
    ...withoutUnset(settings),
    apiKey,
    ...(index === 0 ? {} : { target: `${name}#${index + 1}` }),
  }));
}

function withoutUnset<T extends object>(settings: T): T {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined)) as T;
}

/** Missing variables of an upstream. */
interface Missing {
  /** Variables required by the whole upstream. */
  readonly whole: readonly string[];
  /** Variables of single credentials. */
  readonly ofCredentials: readonly string[];
  /** Unusable credentials, by target name. */
  readonly targets: ReadonlySet<string>;
}

function missingOf(name: string, credentials: readonly Upstream[], unset: readonly Unset[]): Missing {
  const own = unset.filter(({ at }) => at[0] === 'upstreams' && at[1] === name);
  const positions = new Set(own.filter(({ at }) => at[2] === 'apiKeys').map(({ at }) => Number(at[3])));
  const without = credentials.filter((_, index) => positions.has(index));
  const isKeyless = without.length === credentials.length;
  const names = (some: readonly Unset[]) => [...new Set(some.map((one) => one.name))];
  const whole = names(isKeyless ? own : own.filter(({ at }) => at[2] !== 'apiKeys'));
  return {
    whole,
    ofCredentials: names(own),
    targets: new Set((whole.length > 0 ? credentials : without).map(targetName)),
  };
}

function catalogModel(
  slug: string,
  model: ModelSettings,
  more: {
    readonly target: TargetSettings;
    readonly upstream: Upstream;
    readonly priced: ModelPricing;
    readonly unpriced: 'refuse' | 'pass';
  },
): Model {
  const { price, cost, priceSource, contextWindow } = more.priced;
  const serviceTiers = model.serviceTiers ?? NO_TIERS;
  return {
    slug,
    upstream: more.upstream,
    ...(model.aliases.length === 0 ? {} : { aliases: model.aliases }),
    upstreamModel: more.target.upstreamModel ?? model.upstreamModel ?? slug,
    category: model.category,
    maxOutputTokens: model.maxOutputTokens ?? (hasPricedOutput(price) ? DEFAULT_OUTPUT_TOKENS : 0),
    contextWindow,
    imageTokens: model.imageTokens,
    price: { ...price, serviceTiers },
    ...(model.sizes === undefined ? {} : { sizes: model.sizes }),
    priceSource,
    ...(model.priceUntil === undefined ? {} : { priceUntil: model.priceUntil }),
    ...(cost === undefined ? {} : { cost: { ...cost, serviceTiers } }),
    unpriced: more.unpriced,
    reasons: model.reasons,
  };
}

function hasPricedOutput({ units, tiers }: Price): boolean {
  return [units, ...tiers.map((tier) => tier.units)].some(({ output }) => output > 0n);
}

function leftOut({ upstream, variables, models }: UnconfiguredUpstream): string {
  const verb = variables.length > 1 ? 'are' : 'is';
  const slugs = models.map(({ slug }) => slug).join(', ') || 'none';
  return `upstream ${upstream} is left out: ${variables.join(' and ')} ${verb} not set; models left out with it: ${slugs}`;
}

function withoutCredential(upstream: string): string {
  return `upstreams.${upstream} has no apiKey: its provider will refuse every call`;
}

function assumedBound(slug: string): string {
  return `models.${slug}.maxOutputTokens is not set: ${DEFAULT_OUTPUT_TOKENS} is held for requests that set no maximum; longer responses can overdraw`;
}

/** Log line of live models by upstream; a model counts at each of its upstreams. */
export function liveLine({ catalog }: Pick<Config, 'catalog'>): string {
  const counts = new Map<string, number>();
  for (const { upstream, targets } of catalog.values())
    for (const name of new Set(targets?.map(({ model }) => model.upstream.name) ?? [upstream.name]))
      counts.set(name, (counts.get(name) ?? 0) + 1);
  const words = [...counts].map(([name, count]) => `${name} ${count}`).join(', ') || 'none';
  return `${catalog.size} models are live: ${words}`;
}

/**
 * Startup warnings. Everything that lacks a variable shares one short line, as a first start has dozens of such models.
 */
export function startWarnings({
  unconfigured,
  warnings,
}: Pick<Config, 'unconfigured' | 'warnings'>): string[] {
  const each = new Set(unconfigured.map(leftOut));
  const others = warnings.filter((warning) => !each.has(warning));
  if (unconfigured.length === 0) return others;
  const what = unconfigured.map(
    ({ upstream, variables, models }) =>
      `${variables.join(' and ')} (${upstream}, ${models.length} ${models.length === 1 ? 'model' : 'models'})`,
  );
  return [`left out until they are set: ${what.join(', ')}. Models: see tollgate config check`, ...others];
}
