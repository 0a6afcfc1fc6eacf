import type { Category } from './key.ts';
import type { Unit } from './units.ts';

/**
 * Prices of one of each unit, as exact integers: pico-credits (10^-12 credit) per token, character, image, second,
 * search or request. A config price of 0.15 credits per 1,000,000 tokens is 150,000. Units without a price of their own
 * have that of the unit which they refine.
 */
export type UnitPrices = Readonly<Record<Unit, bigint>>;

/** Prices of the whole of a request whose input is longer than `above` tokens. */
export interface LengthTier {
  readonly above: number;
  readonly units: UnitPrices;
}

/** Size, quality and the like of a picture or video, which set its price. Absent: unknown, or irrelevant. */
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
  /** Units with a price of their own. A request that asks for another one is refused, or charged as the unit it refines. */
  readonly named: ReadonlySet<Unit>;
  /** Prices by size and quality; `units` then has the highest. Absent: every output costs the same. */
  readonly variants?: Readonly<Partial<Record<Unit, readonly VariantPrice[]>>>;
  /** Multipliers of all prices but fees, in millionths, by the names of the service tiers. */
  readonly serviceTiers: ReadonlyMap<string, number>;
}

export type WireFormat = 'openai' | 'anthropic';

/**
 * How a provider is shown its credential: as `Authorization: Bearer`, in another header, as a token of Google's that is
 * fetched with the credentials of the environment, or as a signature of AWS.
 */
export const AUTHS = ['bearer', 'x-api-key', 'api-key', 'google', 'aws'] as const;
export type Auth = (typeof AUTHS)[number];

/** One credential at a provider's address. */
export interface Upstream {
  /** Its name in the configuration. */
  readonly name: string;
  /** The name of this credential: `name`, and `name#2` for the second of an upstream. Absent: `name`. */
  readonly target?: string;
  /** Address without a trailing slash; it may have a path. */
  readonly url: string;
  /**
   * Path that replaces `/v1` in the paths of calls, without a trailing slash; `{model}` is the model's name there. A query
   * may follow it. Absent: `/v1`.
   */
  readonly path?: string | undefined;
  /** Paths of single endpoints at the upstream, by their path here. */
  readonly paths?: Readonly<Record<string, string>> | undefined;
  /** Absent: by the format. */
  readonly auth?: Auth | undefined;
  /** Its streams report their usage unasked, and a request to report it is an unknown field there. */
  readonly reportsUnasked?: boolean;
  /** Credential; empty if the upstream asks for none, and none is sent. */
  readonly apiKey: string;
  readonly format: WireFormat;
  /** Names, in lower case, of request headers that pass to it besides those that pass to every upstream. */
  readonly passHeaders?: readonly string[] | undefined;
  /**
   * Provider whose prices its models have, by the id of the price list; undefined: their prices are written in the
   * configuration.
   */
  readonly provider?: string | undefined;
}

/** One of the places that a model can run at (specification section 12). */
export interface Target {
  /** The model as it runs here: with this target's upstream, its name there, and its prices. */
  readonly model: Model;
  /** Share of the calls among the targets of one priority. */
  readonly weight: number;
  /** Targets with the lowest number are asked first. */
  readonly priority: number;
}

export interface Model {
  /** Name that clients send as `model`, and that `allowed_models` lists. */
  readonly slug: string;
  /** Other names that clients may send for it. Ledger, keys and lists have the slug. */
  readonly aliases?: readonly string[];
  /** Where it runs; of a model with several targets the first one's. */
  readonly upstream: Upstream;
  /** Absent where it runs at one place only. The model itself has the fields of the first one. */
  readonly targets?: readonly Target[] | undefined;
  /** The name that the upstream knows it by; mostly the slug. */
  readonly upstreamModel: string;
  readonly category: Category;
  /** Output tokens that a hold counts if the request names no maximum. */
  readonly maxOutputTokens: number;
  /** Tokens that it can read in one pass; undefined: `limits.contextTokens` bounds them. */
  readonly contextWindow?: number | undefined;
  /** Most tokens of one picture that it reads; undefined: `limits.imageTokens` bounds them. */
  readonly imageTokens?: number | undefined;
  readonly price: Price;
  /** Whether a plain price of a picture or second is that of any size and quality; absent: of the vendor's default alone. */
  readonly sizes?: 'any' | undefined;
  /** Where `price` comes from: written in the configuration, the list (then `cost` is there as well), or nothing costs. */
  readonly priceSource: 'config' | 'list' | 'free';
  /** The last day (YYYY-MM-DD, UTC) for which the provider promised its price, if the configuration names one. */
  readonly priceUntil?: string;
  /** Price that the provider takes, by the list: `price` at markup 1, with the multipliers of `price`. */
  readonly cost?: Price | undefined;
  /** Treatment of a request that asks for something that `price` does not name (specification section 10). */
  readonly unpriced?: 'refuse' | 'pass';
  /** False: it has no hidden reasoning, so estimates count none. Default: true. */
  readonly reasons?: boolean;
}

/** The models that can be called now, by slug. */
export type Catalog = ReadonlyMap<string, Model>;

/** Models of a catalog by their aliases; made once for each catalog. */
const BY_ALIAS = new WeakMap<Catalog, ReadonlyMap<string, Model>>();

/** The model that a client names by its slug or one of its aliases. */
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

/** The name of an upstream's credential, as `attempts`, health and metrics have it. */
export function targetName({ target, name }: Pick<Upstream, 'target' | 'name'>): string {
  return target ?? name;
}

/** Every place where a model of the catalog runs: the model itself, or as it is at each of its targets. */
export function* placesOf(catalog: Catalog): Iterable<Model> {
  for (const model of catalog.values()) {
    if (!model.targets) yield model;
    else for (const target of model.targets) yield target.model;
  }
}
