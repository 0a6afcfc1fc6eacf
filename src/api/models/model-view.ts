import type { Model } from '../../domain/catalog.ts';
import { invalidField } from '../../domain/errors.ts';
import type { Category } from '../../domain/key.ts';
import type { Unit } from '../../domain/units.ts';
import { isByVariant, type WrittenUnit, writtenPrice, writtenTiers } from '../../domain/written-price.ts';

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

type OpenRouterPrice = keyof typeof OPENROUTER_PRICES;
/** Fields that OpenRouter's clients require. */
export const ALWAYS_PRICED: readonly OpenRouterPrice[] = ['prompt', 'completion'];

/**
 * A model of `GET /v1/models` with the fields of OpenAI and of Anthropic, its category and prices. Written by hand, because the
 * schemas of /v1 (docs/model-list.ts) are plain JSON.
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
  /** Tokens that it can read in one pass, and longest answer; null where the configuration does not say. */
  readonly context_length: number | null;
  readonly max_output_tokens: number | null;
  /** Name of the upstream in the configuration. */
  readonly owned_by: string;
  readonly category: Category;
  /** Credits by unit, as in the configuration; {} where nothing costs. */
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

/** A page of the list: at most `limit` models, those right after one or right before one. */
export interface ModelPage {
  readonly limit: number | undefined;
  readonly afterId: string | undefined;
  readonly beforeId: string | undefined;
}

/** Throws `invalid_field` for a cursor that is no model of the list. */
export function modelListView(
  models: readonly Model[],
  { limit, afterId, beforeId }: ModelPage,
): ModelListView {
  const from = afterId === undefined ? 0 : placeOf(models, 'after_id', afterId) + 1;
  const to = beforeId === undefined ? models.length : placeOf(models, 'before_id', beforeId);
  const range = models.slice(from, Math.max(from, to));
  // Anthropic's clients go backwards where they name the model that they come from.
  const isBackwards = beforeId !== undefined && limit !== undefined;
  const page = isBackwards ? range.slice(-limit) : range.slice(0, limit);
  return {
    object: 'list',
    data: page.map(modelView),
    has_more: page.length < range.length,
    first_id: page[0]?.slug ?? null,
    last_id: page.at(-1)?.slug ?? null,
  };
}

function placeOf(models: readonly Model[], name: string, id: string): number {
  const at = models.findIndex(({ slug }) => slug === id);
  if (at < 0) throw invalidField(name, `${name} must be the id of a model of this list.`);
  return at;
}

/** Models do not change, and a list of all of them is asked for often. */
const VIEWS = new WeakMap<Model, ModelView>();

export function modelView(model: Model): ModelView {
  const known = VIEWS.get(model);
  if (known) return known;
  const view: ModelView = {
    id: model.slug,
    object: 'model',
    created: 0,
    type: 'model',
    display_name: model.slug,
    created_at: EPOCH,
    context_length: model.contextWindow ?? null,
    max_output_tokens: model.maxOutputTokens || null,
    owned_by: model.upstream.name,
    category: model.category,
    price: priceView(model),
    pricing: pricingView(model),
    service_tiers: writtenTiers(model.price),
  };
  VIEWS.set(model, view);
  return view;
}

const EPOCH = '1970-01-01T00:00:00Z';
const PICO_DIGITS = 12;

function pricingView({ price: { units, named } }: Model): ModelView['pricing'] {
  const shown = Object.entries(OPENROUTER_PRICES) as [OpenRouterPrice, Unit][];
  return Object.fromEntries(
    shown
      .filter(([name, unit]) => ALWAYS_PRICED.includes(name) || named.has(unit))
      .map(([name, unit]) => [name, creditsOf(units[unit])]),
  );
}

/** Pico-credits as credits, exact. */
function creditsOf(pico: bigint): string {
  const digits = String(pico).padStart(PICO_DIGITS + 1, '0');
  const text = `${digits.slice(0, -PICO_DIGITS)}.${digits.slice(-PICO_DIGITS)}`;
  return text.replace(/\.?0+$/, '');
}

function priceView({ price }: Model): ModelView['price'] {
  const written = Object.entries(writtenPrice(price)).map(([unit, given]) => [unit, unitView(given)]);
  return Object.fromEntries(written);
}

function unitView(written: WrittenUnit): UnitPriceView {
  if (typeof written === 'string') return Number(written);
  if (!isByVariant(written)) return written.map((step) => ({ ...step, price: Number(step.price) }));
  return Object.fromEntries(Object.entries(written).map(([variant, price]) => [variant, Number(price)]));
}
