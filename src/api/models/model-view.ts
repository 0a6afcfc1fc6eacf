import type { Category } from '../../domain/key.ts';
import type { Unit } from '../../domain/units.ts';

/**
 * A unit's price in credits: a number, or by input length, shortest first, or by the output's size and quality.
 */
export type UnitPriceView =
  | number
  | readonly { readonly above?: number; readonly price: number }[]
  | Readonly<Record<string, number>>;

/**
 * Prices under OpenRouter's names, as strings: credits for one token, image, search or request. Clients read these to
 * show prices. Prices by length give the one for the shortest; prices by size and quality give the highest.
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
 * A model of `GET /v1/models` with the fields of OpenAI and of Anthropic, its category and prices. Written by hand,
 * because the schemas of /v1 (openapi/model-list.ts) are plain JSON.
 */
export interface ModelView {
  readonly id: string;
  readonly object: 'model';
  /** Always 0, because OpenAI's clients require the field and the catalog has no dates. */
  readonly created: number;
  /** Anthropic's fields. The catalog has no dates; the epoch stands for that. */
  readonly type: 'model';
  readonly display_name: string;
  readonly created_at: string;
  /** Context window and longest answer, in tokens; null if not configured. */
  readonly context_length: number | null;
  readonly max_output_tokens: number | null;
  /** Name of the upstream in the configuration. */
  readonly owned_by: string;
  readonly category: Category;
  /** Other names that calls may use. */
  readonly aliases: readonly string[];
  /** Paths that accept calls of the model. */
  readonly endpoints: readonly string[];
  /** Credits by unit, as configured; {} if free. */
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

/** A model for the operator: with its price's source, its provider's price, and its targets. */
export type OperatorModelView = ModelView & {
  readonly source: 'config' | 'list' | 'free';
  /** Provider's price in the list, in credits at markup 1; null if not listed. */
  readonly list_price: ModelView['price'] | null;
  /** Names of its targets. */
  readonly targets: readonly string[];
  /** Last day of the provider's promised price, if configured. */
  readonly price_until: string | null;
};

/** The answer of `GET /api/admin/models/`. */
export interface OperatorModelListView {
  readonly models: readonly OperatorModelView[];
}
