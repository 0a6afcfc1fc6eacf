import type { Category } from './key.ts';
import type { Unit } from './units.ts';

/**
 * Prices of one of each unit, as exact integers: pico-credits (10^-12 credit) per token, character, image, second,
 * search or request. A config price of 0.15 credits per 1,000,000 tokens is 150,000. A unit without its own price has
 * the price of the unit that it refines.
 */
export type UnitPrices = Readonly<Record<Unit, bigint>>;

/** Prices of an entire request with an input of more than `above` tokens. */
export interface LengthTier {
  readonly above: number;
  readonly units: UnitPrices;
}

/** Attributes of a picture or video that set its price. Absent: unknown or irrelevant. */
export interface Variant {
  readonly size?: string;
  readonly quality?: string;
}

/** The price of one variant, in pico-credits. */
export interface VariantPrice extends Variant {
  readonly price: bigint;
}

/** The prices of one model (specification section 10). */
export interface Price {
  readonly units: UnitPrices;
  /** Tiers by ascending `above`; most models have none. */
  readonly tiers: readonly LengthTier[];
  /** Units with their own price. A request for another one is refused, or charged as the unit that it refines. */
  readonly named: ReadonlySet<Unit>;
  /** Prices by size and quality; `units` then has the highest. Absent: every output costs the same. */
  readonly variants?: Readonly<Partial<Record<Unit, readonly VariantPrice[]>>>;
  /** Multipliers of all prices but fees, in millionths, by the names of the service tiers. */
  readonly serviceTiers: ReadonlyMap<string, number>;
}

export type WireFormat = 'openai' | 'anthropic';

/**
 * How a request carries the provider's credential: as `Authorization: Bearer`, in another header, as a Google token
 * fetched with the environment's credentials, or as an AWS signature.
 */
export const AUTHS = ['bearer', 'x-api-key', 'api-key', 'google', 'aws'] as const;
export type Auth = (typeof AUTHS)[number];

/** Whether calls with a stream are made to ask for its usage by `stream_options`, if the client does not. */
export const STREAM_USAGES = ['ask', 'leave'] as const;
export type StreamUsageSetting = (typeof STREAM_USAGES)[number];

/** One credential at a provider's address. */
export interface Upstream {
  /** Its name in the configuration. */
  readonly name: string;
  /** The name of this credential: `name`, and `name#2` for the second of an upstream. Absent: `name`. */
  readonly target?: string;
  /** Address without a trailing slash; it may have a path. */
  readonly url: string;
  /**
   * Path that replaces `/v1` in the paths of calls, without a trailing slash; `{model}` is the model's name there. A
   * query may follow it. Absent: `/v1`.
   */
  readonly path?: string | undefined;
  /** Paths of single endpoints at the upstream, by their path here. */
  readonly paths?: Readonly<Record<string, string>> | undefined;
  /** Absent: by the format. */
  readonly auth?: Auth | undefined;
  /** Absent: `ask`. */
  readonly streamUsage?: StreamUsageSetting;
  /** PEM certificates that may have signed its certificate, in place of the usual authorities'. */
  readonly ca?: string | undefined;
  /** URL of the HTTP proxy through which it is reached; with its password. */
  readonly proxy?: string | undefined;
  /** Credential; empty if the upstream requires none. */
  readonly apiKey: string;
  readonly format: WireFormat;
  /** How it serves Anthropic's format too, with the same credential. Absent: in `format` only. */
  readonly messages?: Pick<Upstream, 'url' | 'path' | 'auth'> | undefined;
  /** The upstream in Anthropic's format, at another address than in its first one. */
  readonly isApart?: true;
  /** Lower-case names of request headers that pass to it, in addition to those that pass to every upstream. */
  readonly passHeaders?: readonly string[] | undefined;
  /** Lower-case names of its response headers that pass to clients, in addition to those that every upstream's do. */
  readonly passResponseHeaders?: readonly string[] | undefined;
  /**
   * Provider whose prices its models have, by the id of the price list; undefined: their prices are written in the
   * configuration.
   */
  readonly provider?: string | undefined;
}

/** One of the places where a model can run (specification section 12). */
export interface Target {
  /** The model with this target's upstream, upstream name and prices. */
  readonly model: Model;
  /** Share of the calls among targets of the same priority. */
  readonly weight: number;
  /** The lowest number is tried first. */
  readonly priority: number;
}

export interface Model {
  /** Name that clients send as `model`, and that `allowed_models` lists. */
  readonly slug: string;
  /** Other names that clients may send for it. Ledger, keys and lists have the slug. */
  readonly aliases?: readonly string[];
  /** With several targets, that of the first. */
  readonly upstream: Upstream;
  /** Absent with a single target. The model itself has the fields of the first one. */
  readonly targets?: readonly Target[] | undefined;
  /** The model as calls in each format see it: with the targets of that format. Absent: all have one format. */
  readonly byFormat?: Readonly<Record<WireFormat, Model>> | undefined;
  /** The upstream's name for it; mostly the slug. */
  readonly upstreamModel: string;
  readonly category: Category;
  /** Output tokens of a hold if the request sets no maximum. */
  readonly maxOutputTokens: number;
  /** Context window in tokens; undefined: `limits.contextTokens` applies. */
  readonly contextWindow?: number | undefined;
  /** Most tokens of one input picture; undefined: `limits.imageTokens` applies. */
  readonly imageTokens?: number | undefined;
  readonly price: Price;
  /** Whether a plain price of a picture or second is that of any size and quality; absent: of the vendor's default alone. */
  readonly sizes?: 'any' | undefined;
  /** Where `price` comes from: written in the configuration, the list (then `cost` is there as well), or nothing costs. */
  readonly priceSource: 'config' | 'list' | 'free';
  /** The last day (YYYY-MM-DD, UTC) for which the provider promised its price, if the configuration names one. */
  readonly priceUntil?: string;
  /** The provider's price from the list: `price` at markup 1, with the same multipliers. */
  readonly cost?: Price | undefined;
  /** Treatment of a request for something without a price in `price` (specification section 10). */
  readonly unpriced?: 'refuse' | 'pass';
  /** False if it has no hidden reasoning, so estimates count none. Default: true. */
  readonly reasons?: boolean;
}

/** The callable models, by slug. */
export type Catalog = ReadonlyMap<string, Model>;

/** Models by alias, built once for each catalog. */
const BY_ALIAS = new WeakMap<Catalog, ReadonlyMap<string, Model>>();

/** Finds a model by its slug or an alias. */
export function modelOf(catalog: Catalog, name: string): Model | undefined {
  return catalog.get(name) ?? byAlias(catalog).get(name);
}

function byAlias(catalog: Catalog): ReadonlyMap<string, Model> {
  const known = BY_ALIAS.get(catalog);
  if (known) return known;
  const models = new Map(
    [...catalog.values()].flatMap((model) => (model.aliases ?? []).map((alias) => [alias, model])),
  );
  BY_ALIAS.set(catalog, models);
  return models;
}

/** The model with its targets in a format; undefined: it has none. */
export function modelIn(model: Model, format: WireFormat): Model | undefined {
  if (model.byFormat) return model.byFormat[format];
  return model.upstream.format === format ? model : undefined;
}

/** The upstream in each of its formats, the first one first. */
export function inEachFormat(upstream: Upstream): Upstream[] {
  const { messages, ...first } = upstream;
  if (!messages) return [upstream];
  const { path: _path, paths: _paths, auth: _auth, ...common } = first;
  const isApart = messages.url !== first.url && ({ isApart: true } as const);
  return [first, { ...common, ...messages, format: 'anthropic', ...isApart }];
}

/** Name of an upstream's credential in `attempts`, health and metrics. */
export function targetName({ target, name }: Pick<Upstream, 'target' | 'name'>): string {
  return target ?? name;
}

/** Every place where a model of the catalog runs: each of its targets, or the model itself if it has none. */
export function* placesOf(catalog: Catalog): Iterable<Model> {
  for (const model of catalog.values()) {
    if (!model.targets) yield model;
    else for (const target of model.targets) yield target.model;
  }
}
