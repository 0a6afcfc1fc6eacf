import type { Config, Waiting } from './config.ts';
import type { configFile, ModelSettings } from './config-schema.ts';
import type { Unset } from './config-substitute.ts';
import type { Model, Upstream } from './domain/catalog.ts';
import { FREE_PRICE } from './domain/price.ts';

/** Stands in for a missing maxOutputTokens, where output has a price. */
const DEFAULT_OUTPUT_TOKENS = 16_384;

/**
 * What can be called now: upstreams whose variables are set, with their models; what waits for a variable; and one
 * warning for each upstream that is left out and for each bound that had to be assumed.
 */
export function offerOf(
  settings: NonNullable<ReturnType<typeof configFile>>,
  unset: readonly Unset[],
): Pick<Config, 'upstreams' | 'catalog' | 'waiting' | 'warnings'> {
  const upstreams = new Map<string, Upstream>();
  const catalog = new Map<string, Model>();
  const waiting: Waiting[] = [];
  const warnings: string[] = [];
  for (const [name, upstream] of settings.upstreams) {
    const used = { name, ...upstream };
    const own = [...settings.models].filter(([, model]) => model.upstream === name);
    const models = own.map(([slug, model]) => catalogModel(slug, model, used));
    const missing = unset.filter(({ at }) => at[0] === 'upstreams' && at[1] === name);
    if (missing.length > 0) {
      const left = { upstream: name, variables: [...new Set(missing.map((one) => one.name))], models };
      waiting.push(left);
      warnings.push(leftOut(left));
      continue;
    }
    upstreams.set(name, used);
    for (const model of models) catalog.set(model.slug, model);
    warnings.push(...own.filter(isUnbounded).map(([slug]) => assumedBound(slug)));
  }
  return { upstreams, catalog, waiting, warnings };
}

function catalogModel(slug: string, model: ModelSettings, upstream: Upstream): Model {
  return {
    slug,
    upstream,
    upstreamModel: model.upstreamModel ?? slug,
    category: model.category,
    maxOutputTokens: model.maxOutputTokens ?? (model.price?.output ? DEFAULT_OUTPUT_TOKENS : 0),
    price: model.price ?? FREE_PRICE,
  };
}

function leftOut({ upstream, variables, models }: Waiting): string {
  const verb = variables.length > 1 ? 'are' : 'is';
  const slugs = models.map(({ slug }) => slug).join(', ') || 'none';
  return `upstream ${upstream} is left out: ${variables.join(' and ')} ${verb} not set; models left out with it: ${slugs}`;
}

function isUnbounded([, model]: [string, ModelSettings]): boolean {
  return Boolean(model.price?.output) && model.maxOutputTokens === undefined;
}

function assumedBound(slug: string): string {
  return `models.${slug}.maxOutputTokens is not set: ${DEFAULT_OUTPUT_TOKENS} is held for requests that name no maximum; longer answers can overdraw`;
}

/** Models that are live, and those that wait: lines of the log, with their facts. */
export function describeOffer(offer: Pick<Config, 'catalog' | 'waiting'>): { facts: object; text: string }[] {
  const byUpstream = Map.groupBy(offer.catalog.values(), ({ upstream }) => upstream.name);
  const live = [...byUpstream].map(([name, models]) => [name, models.map(({ slug }) => slug)] as const);
  const counts = live.map(([name, slugs]) => `${name} ${slugs.length}`).join(', ') || 'none';
  const lines = [
    { facts: { live: Object.fromEntries(live) }, text: `${offer.catalog.size} models are live: ${counts}` },
  ];
  const text = waitingText(offer);
  return text ? [...lines, { facts: {}, text: `models wait for a credential: ${text}` }] : lines;
}

/** What waits for which variable, as `OPENAI_API_KEY (openai: 33 models)`; empty where nothing waits. */
export function waitingText({ waiting }: Pick<Config, 'waiting'>): string {
  return waiting
    .filter(({ models }) => models.length > 0)
    .map((left) => `${left.variables.join(' and ')} (${left.upstream}: ${left.models.length} models)`)
    .join(', ');
}
