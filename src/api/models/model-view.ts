import type { Model } from '../../domain/catalog.ts';
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
 * A model of `GET /v1/models`, in OpenAI's shape, its category and prices. Written by hand, because the schemas of /v1
 * (docs/model-list.ts) are plain JSON.
 */
export interface ModelView {
  readonly id: string;
  readonly object: 'model';
  /** Always 0, because OpenAI's clients require the field and the catalog has no dates. */
  readonly created: number;
  /** Name of the upstream in the configuration. */
  readonly owned_by: string;
  readonly category: Category;
  /** Credits by unit, as in the configuration; {} where nothing costs. */
  readonly price: Readonly<Partial<Record<Unit, UnitPriceView>>>;
  /** Multipliers of the price by service tier. */
  readonly service_tiers: Readonly<Record<string, number>>;
}

export interface ModelListView {
  readonly object: 'list';
  readonly data: readonly ModelView[];
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
    owned_by: model.upstream.name,
    category: model.category,
    price: priceView(model),
    service_tiers: writtenTiers(model.price),
  };
  VIEWS.set(model, view);
  return view;
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
