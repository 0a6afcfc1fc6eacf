import type { Category } from './key.ts';

/**
 * Prices of one model as exact integers: pico-credits (10^-12 credit) per unit, where the unit is one token,
 * character, image, second or request. A config price of 0.15 credits per 1,000,000 tokens is 150,000.
 */
export interface Price {
  readonly input: bigint;
  readonly output: bigint;
  readonly cachedInput: bigint;
  readonly cacheWrite: bigint;
  readonly character: bigint;
  readonly image: bigint;
  readonly audioSecond: bigint;
  readonly videoSecond: bigint;
  readonly request: bigint;
}

export type WireFormat = 'openai' | 'anthropic';

export interface Upstream {
  readonly name: string;
  /** Without a trailing slash; may hold a path prefix. */
  readonly url: string;
  /** Empty: the upstream asks for none, and none is sent. */
  readonly apiKey: string;
  readonly format: WireFormat;
}

export interface Model {
  /** What clients send as `model` and `allowed_models` lists. */
  readonly slug: string;
  readonly upstream: Upstream;
  /** The name that the upstream knows it by; mostly the slug. */
  readonly upstreamModel: string;
  readonly category: Category;
  /** Bound of a hold where the request names no maximum, in tokens. */
  readonly maxOutputTokens: number;
  readonly price: Price;
}

/** The models that can be called now, by slug. */
export type Catalog = ReadonlyMap<string, Model>;
