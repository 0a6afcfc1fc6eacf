import type { Category } from '../../domain/key.ts';
import type { Unit } from '../../domain/units.ts';

/**
 * A unit's price in credits: a number, or by the length of the input, the shortest first, or by the size and quality of what is
 * made.
 */
export type UnitPriceView =
  | number
  | readonly { readonly above?: number; readonly price: number }[]
  | Readonly<Record<string, number>>;

/**
 * Prices by OpenRouter's names, as texts: credits for one token, image, search or request. Clients that show prices read these.
 * Of prices by length they have the shortest, of prices by size and quality the highest.
 */
export const OPENROUTER_PRICES = {
  prompt: 'input',
  completion: 'output',
  request: 'request',
  image_output: 'image',
  image_token: 'inputImage',
  audio: 'inputAudio',
  audio_output: 'outputAudio',
  input_audio_cache: 'cachedInputAudio',
  web_search: 'webSearch',
  input_cache_read: 'cachedInput',
  input_cache_write: 'cacheWrite',
  input_cache_write_1h: 'cacheWrite1h',
} as const satisfies Record<string, Unit>;

export type OpenRouterPrice = keyof typeof OPENROUTER_PRICES;
/** Fields that OpenRouter's clients require. */
export const ALWAYS_PRICED: readonly OpenRouterPrice[] = ['prompt', 'completion'];

/**
 * A model of `GET /v1/models` with the fields of OpenAI and of Anthropic, its category and prices. Written by hand, because the
 * schemas of /v1 (openapi/model-list.ts) are plain JSON.
 */
export interface ModelView {
  readonly id: string;
  readonly object: 'model';
  /** Always 0, because OpenAI's clients require the field and the catalog has no dates. */
  readonly created: number;
  /** Anthropic's fields; the catalog has no dates, and an epoch value says so. */
  readonly type: 'model';
  readonly display_name: string;
  readonly created_at: string;
  /** Tokens that it can read in one pass, and longest answer; null if the configuration does not say. */
  readonly context_length: number | null;
  readonly max_output_tokens: number | null;
  /** Name of the upstream in the configuration. */
  readonly owned_by: string;
  readonly category: Category;
  /** Other names that calls may give it. */
  readonly aliases: readonly string[];
  /** Paths that take calls of it. */
  readonly endpoints: readonly string[];
  /** Credits by unit, as in the configuration; {} if nothing costs. */
  readonly price: Readonly<Partial<Record<Unit, UnitPriceView>>>;
  readonly pricing: Readonly<Partial<Record<OpenRouterPrice, string>>>;
  /** Multipliers of the price by service tier. */
  readonly service_tiers: Readonly<Record<string, number>>;
}

export interface ModelListView {
  readonly object: 'list';
  readonly data: readonly ModelView[];
  /** Anthropic's fields of a page. */
  readonly has_more: boolean;
  readonly first_id: string | null;
  readonly last_id: string | null;
}

/** A model as the operator sees it: with the source of its price, what its provider takes, and where it runs. */
export type OperatorModelView = ModelView & {
  readonly source: 'config' | 'list' | 'free';
  /** Price of the provider in the list, in credits at markup 1; null if the list does not say. */
  readonly list_price: ModelView['price'] | null;
  /** Names of the targets where it runs. */
  readonly targets: readonly string[];
  /** The last day for which the provider promised its price, if the configuration names one. */
  readonly price_until: string | null;
};

/** The answer of `GET /api/admin/models/`. */
export interface OperatorModelListView {
  readonly models: readonly OperatorModelView[];
}
