import type { FastifyPluginAsync, FastifySchema } from 'fastify';
import { type Catalog, type Model, modelOf, type Price, placesOf, targetName } from '../../domain/catalog.ts';
import { GatewayError, invalidField } from '../../domain/errors.ts';
import { modelRefusalOf } from '../../domain/rules.ts';
import { maybe, type Parsed, readQuery, section } from '../../domain/shape.ts';
import type { Unit } from '../../domain/units.ts';
import { isByVariant, type WrittenUnit, writtenPrice, writtenTiers } from '../../domain/written-price.ts';
import { ENDPOINTS, serves } from '../../gateway/endpoints.ts';
import type { Gatekeeper } from '../../gateway/gatekeeper.ts';
import { didYouMean } from '../../gateway/request/model-not-found.ts';
import { spelledFreely } from '../../gateway/spellings.ts';
import { type CallerParts, callerOf } from '../http/callers.ts';
import { speakJson } from '../http/json-routes.ts';
import { anyText, PAGE_LIMIT } from '../openapi/fields.ts';
import { Type } from '../openapi/json-type.ts';
import { BY_ACCOUNT, BY_KEY, KEY_REFUSALS, OWNER_REFUSALS } from '../openapi/operation.ts';
import {
  ALWAYS_PRICED,
  MODEL_EXAMPLE,
  ModelList,
  type ModelListView,
  ModelSchema,
  type ModelView,
  OPENROUTER_PRICES,
  type OpenRouterPrice,
  type OperatorModelListView,
  type OperatorModelView,
  type UnitPriceView,
} from './model-view.ts';

/** At most `limit` models, directly after or before one. */
const ModelsQuery = section({
  limit: maybe(PAGE_LIMIT, 'Maximum number of models. Default: all.'),
  after_id: maybe(anyText(), 'Starts after this model: `last_id` of the previous page.'),
  before_id: maybe(anyText(), 'Ends before this model: `first_id` of the next page.'),
});

const LIST: FastifySchema = {
  tags: ['Models'],
  security: BY_KEY,
  operationId: 'listModels',
  summary: 'List models',
  description:
    "Returns the models that the key can use, with the fields of OpenAI's and Anthropic's lists. With the header " +
    "`anthropic-version`, errors have Anthropic's shape.",
  querystring: ModelsQuery.schema,
  response: { 200: ModelList },
  'x-docs': {
    refusals: [...KEY_REFUSALS, 'invalid_field'],
    answer: {
      object: 'list',
      data: [MODEL_EXAMPLE],
      has_more: false,
      first_id: MODEL_EXAMPLE.id,
      last_id: MODEL_EXAMPLE.id,
    },
  },
};

const READ: FastifySchema = {
  tags: ['Models'],
  security: BY_KEY,
  operationId: 'readModel',
  summary: 'Read a model',
  params: Type.Object({
    id: Type.String({
      description: 'Name of the model, or an alias. It can contain slashes.',
      examples: [MODEL_EXAMPLE.id],
    }),
  }),
  response: { 200: ModelSchema },
  'x-docs': { refusals: [...KEY_REFUSALS, 'model_not_found'], answer: MODEL_EXAMPLE },
};

/** Routes `GET /v1/models` and `/v1/models/{id}`: the models that the calling key may use, for clients of OpenAI and of Anthropic. */
export function modelsRoute(parts: { gatekeeper: Gatekeeper; catalog: () => Catalog }): FastifyPluginAsync {
  return async (app) => {
    spelledFreely(app);
    app.get('/v1/models', { schema: LIST }, async (request): Promise<ModelListView> => {
      const compiled = await parts.gatekeeper.authorize(request);
      const usable = [...parts.catalog().values()].filter((model) => !modelRefusalOf(compiled, model));
      // Clients add parameters of their own, such as their version.
      const { limit, after_id, before_id } = request.query as Partial<Record<string, string>>;
      return modelListView(usable, readQuery(ModelsQuery, { limit, after_id, before_id }));
    });
    app.get<{ Params: { '*': string } }>('/v1/models/*', { schema: READ }, async (request) => {
      const compiled = await parts.gatekeeper.authorize(request);
      const model = modelOf(parts.catalog(), request.params['*']);
      if (!model || modelRefusalOf(compiled, model)) {
        const near = didYouMean(request.params['*'], parts.catalog(), compiled);
        throw new GatewayError(
          'model_not_found',
          `This key can call no model with this name.${near}`,
          'model',
        );
      }
      return modelView(model);
    });
  };
}

const OF_ACCOUNT: FastifySchema = {
  tags: ['Account'],
  security: BY_ACCOUNT,
  operationId: 'listModelsOfAccount',
  summary: 'List models and their prices',
  description:
    'Returns the models that the caller can use, as `GET /v1/models` does: with a key or its session those of the key, ' +
    'with the session of a person all.',
  querystring: ModelsQuery.schema,
  response: { 200: ModelList },
  'x-docs': {
    may: ['read models'],
    refusals: OWNER_REFUSALS,
    answer: LIST['x-docs']?.answer,
  },
};

/** Route `GET /api/account/models/`: the list for sessions, which `/v1` doesn't take. */
export function accountModelsRoute(parts: CallerParts & { catalog: () => Catalog }): FastifyPluginAsync {
  return async (app) => {
    speakJson(app);
    app.get('/api/account/models/', { schema: OF_ACCOUNT }, async (request): Promise<ModelListView> => {
      const { compiled } = await callerOf(parts, request, 'read models');
      const models = [...parts.catalog().values()];
      const usable = compiled ? models.filter((model) => !modelRefusalOf(compiled, model)) : models;
      return modelListView(usable, readQuery(ModelsQuery, request.query));
    });
  };
}

/** Throws `invalid_field` for a cursor that is not in the list. */
function modelListView(
  models: readonly Model[],
  { limit, afterId, beforeId }: Parsed<typeof ModelsQuery>,
): ModelListView {
  const from = afterId === undefined ? 0 : placeOf(models, 'after_id', afterId) + 1;
  const to = beforeId === undefined ? models.length : placeOf(models, 'before_id', beforeId);
  const range = models.slice(from, Math.max(from, to));
  // Anthropic's clients page backwards with `before_id`.
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

/** Models are immutable, and clients often list all of them. */
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
    aliases: model.aliases ?? [],
    endpoints: ENDPOINTS.filter((endpoint) => serves(endpoint, model)).map(({ path }) => path),
    price: priceView(model.price),
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

/** A price by unit, in credits. */
function priceView(price: Price): ModelView['price'] {
  const written = Object.entries(writtenPrice(price)).map(([unit, given]) => [unit, unitView(given)]);
  return Object.fromEntries(written);
}

function unitView(written: WrittenUnit): UnitPriceView {
  if (typeof written === 'string') return Number(written);
  if (!isByVariant(written)) return written.map((step) => ({ ...step, price: Number(step.price) }));
  return Object.fromEntries(Object.entries(written).map(([variant, price]) => [variant, Number(price)]));
}

/** Every model of the catalog, in its order. */
export function operatorModelListView(catalog: Catalog): OperatorModelListView {
  return { models: [...catalog.values()].map(operatorModelView) };
}

function operatorModelView(model: Model): OperatorModelView {
  const places = placesOf(new Map([[model.slug, model]]));
  return {
    ...modelView(model),
    source: model.priceSource,
    list_price: model.cost ? priceView(model.cost) : null,
    targets: [...new Set([...places].map(({ upstream }) => targetName(upstream)))],
    price_until: model.priceUntil ?? null,
  };
}
