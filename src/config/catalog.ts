import type { Model, Price, Upstream } from '../domain/catalog.ts';
import type { Config, UnconfiguredUpstream } from './config.ts';
import type { ModelPricing, Pricing } from './pricing.ts';
import type { Unset } from './reader.ts';
import type { configFile, ModelSettings } from './schema.ts';

/** Output tokens that are assumed where maxOutputTokens is missing and output has a price. */
const DEFAULT_OUTPUT_TOKENS = 16_384;
const UNPRICED_PASS =
  'pricing.unpriced is pass: requests for a feature that their model has no price for are charged at the plain ' +
  'price; you pay the difference to the provider';
const NO_TIERS: ReadonlyMap<string, number> = new Map();

/**
 * The catalog of a configuration: the upstreams whose variables are set, with their models; those that wait for a
 * variable; and a warning for each upstream that is left out, and for each bound that had to be assumed.
 */
export function catalogOf(
  settings: NonNullable<ReturnType<typeof configFile>>,
  unset: readonly Unset[],
  pricing: Pricing,
): Pick<Config, 'upstreams' | 'catalog' | 'unconfigured' | 'warnings'> {
  const { unpriced } = settings.pricing;
  const upstreams = new Map<string, Upstream>();
  const catalog = new Map<string, Model>();
  const unconfigured: UnconfiguredUpstream[] = [];
  const warnings: string[] = [];
  for (const [name, upstream] of settings.upstreams) {
    const used = { name, ...upstream };
    const models = [...settings.models].flatMap(([slug, model]) => {
      const priced = model.upstream === name && pricing.models.get(slug);
      return priced ? [catalogModel(slug, model, { upstream: used, priced, unpriced })] : [];
    });
    const missing = unset.filter(({ at }) => at[0] === 'upstreams' && at[1] === name);
    if (missing.length > 0) {
      const left = { upstream: name, variables: [...new Set(missing.map((one) => one.name))], models };
      unconfigured.push(left);
      warnings.push(leftOut(left));
      continue;
    }
    upstreams.set(name, used);
    for (const model of models) catalog.set(model.slug, model);
    const own = models.map((model) => [model, settings.models.get(model.slug)] as const);
    warnings.push(...own.filter(isUnbounded).map(([{ slug }]) => assumedBound(slug)));
  }
  if (unpriced === 'pass') warnings.push(UNPRICED_PASS);
  return { upstreams, catalog, unconfigured, warnings: [...warnings, ...pricing.warnings] };
}

function catalogModel(
  slug: string,
  model: ModelSettings,
  more: {
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
    upstreamModel: model.upstreamModel ?? slug,
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

function isUnbounded([{ price }, settings]: readonly [Model, ModelSettings | undefined]): boolean {
  return hasPricedOutput(price) && settings?.maxOutputTokens === undefined;
}

function assumedBound(slug: string): string {
  return `models.${slug}.maxOutputTokens is not set: ${DEFAULT_OUTPUT_TOKENS} is held for requests that set no maximum; longer responses can overdraw`;
}

/** Models that are live, by upstream: a line of the log. */
export function liveLine({ catalog }: Pick<Config, 'catalog'>): string {
  const byUpstream = Map.groupBy(catalog.values(), ({ upstream }) => upstream.name);
  const counts = [...byUpstream].map(([name, models]) => `${name} ${models.length}`).join(', ') || 'none';
  return `${catalog.size} models are live: ${counts}`;
}

/** The warnings of a start: one short line for all that waits, as a first start has dozens of models that do. */
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
