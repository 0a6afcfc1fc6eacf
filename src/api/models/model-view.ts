import { CATEGORIES } from '../../domain/key.ts';
import { UNIT_NAMES, type Unit } from '../../domain/units.ts';
import { orNull, words } from '../openapi/fields.ts';
import { type Schema, type Static, Type } from '../openapi/json-type.ts';

/**
 * A unit's price in credits: a number, or by input length, shortest first, or by the output's size and quality.
 */
export type UnitPriceView =
  | number
  | readonly { readonly above?: number; readonly price: number }[]
  | Readonly<Record<string, number>>;

const AMOUNT = Type.Number({ minimum: 0 });
const AMOUNTS: Schema<Readonly<Record<string, number>>> = { type: 'object', additionalProperties: AMOUNT };

const UnitPrice: Schema<UnitPriceView> = {
  title: 'UnitPrice',
  description:
    'Credits per 1,000,000 tokens or characters, 1,000 searches, or one image, second or request. A list if the length of ' +
    'the input decides: the last entry whose `above` all input tokens of the request exceed prices the whole request. An ' +
    'object if size and quality of a picture or video decide.',
  oneOf: [
    AMOUNT,
    { ...AMOUNTS, minProperties: 1 },
    Type.Array(
      Type.Object({
        above: Type.Optional(Type.Integer({ minimum: 0, description: 'Absent in the first entry.' })),
        price: AMOUNT,
      }),
      { minItems: 2 },
    ),
  ],
};

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

const ModelPrice: Schema<Readonly<Partial<Record<Unit, UnitPriceView>>>> = {
  title: 'ModelPrice',
  type: 'object',
  description:
    'Price by unit. An absent unit costs as much as the unit it refines (`cachedInput` as `input`), else nothing.',
  properties: Object.fromEntries(UNIT_NAMES.map((unit) => [unit, UnitPrice])),
};

const ModelPricing: Schema<Readonly<Partial<Record<OpenRouterPrice, string>>>> = {
  title: 'ModelPricing',
  type: 'object',
  description:
    "Prices in OpenRouter's form: credits for one token, image, search or request, as text. Has the first price by length " +
    'and the highest by size and quality.',
  required: [...ALWAYS_PRICED],
  properties: Object.fromEntries(
    Object.entries(OPENROUTER_PRICES).map(([name, unit]) => [
      name,
      Type.String({
        pattern: String.raw`^\d+(\.\d+)?$`,
        description: `The price of one ${unit}, in credits.`,
      }),
    ]),
  ),
};

const REQUIRED = { description: 'For clients that require it.' };

/** A model of `GET /v1/models` with the fields of OpenAI and of Anthropic, its category and prices. */
export const ModelSchema = Type.Object(
  {
    id: Type.String({ description: 'Name for `model` in calls and for `allowed_models`.' }),
    object: Type.Literal('model', REQUIRED),
    // The catalog has no dates; 0 stands for that.
    created: Type.Integer({ const: 0, ...REQUIRED }),
    type: Type.Literal('model', { description: "Anthropic's name for `object`." }),
    display_name: Type.String({ description: 'Same as `id`.' }),
    created_at: Type.String({ const: '1970-01-01T00:00:00Z', ...REQUIRED }),
    context_length: orNull(Type.Integer({ minimum: 1 }), 'Tokens it can read in one pass; null if unknown.'),
    max_output_tokens: orNull(
      Type.Integer({ minimum: 1 }),
      'Longest answer in tokens; null if it does not count.',
    ),
    owned_by: Type.String({ description: 'Name of the upstream in the configuration.' }),
    category: words(CATEGORIES, 'What `allowed_categories` lists.'),
    aliases: Type.Array(Type.String(), { description: 'Other names that calls can use.' }),
    endpoints: Type.Array(Type.String(), { description: 'Paths that serve it.' }),
    price: ModelPrice,
    pricing: ModelPricing,
    service_tiers: {
      ...AMOUNTS,
      description: 'Factors of service tiers on the price; requests for other tiers are refused.',
    },
  },
  { title: 'Model' },
);

export type ModelView = Static<typeof ModelSchema>;

export const ModelList = Type.Object(
  {
    object: Type.Literal('list', REQUIRED),
    data: Type.Array(ModelSchema),
    has_more: Type.Boolean({ description: 'Whether there are more models.' }),
    first_id: orNull(Type.String(), 'The first of `data`; null if it is empty.'),
    last_id: orNull(Type.String(), 'The last of `data`; null if it is empty.'),
  },
  { title: 'ModelList' },
);

export type ModelListView = Static<typeof ModelList>;

/** A model for the operator: with its price's source, its provider's price, and its targets. */
const OperatorModel = Type.Object(
  {
    ...ModelSchema.properties,
    source: Type.Enum(['config', 'list', 'free'], {
      description: 'Source of its price: the configuration, the price list, or free.',
    }),
    list_price: orNull(ModelPrice, 'List price of the provider, in credits at markup 1; null: unknown.'),
    targets: Type.Array(Type.String(), {
      description: 'The upstreams that serve it; `name#2` is a second credential.',
    }),
    price_until: orNull(
      Type.String({ format: 'date' }),
      'Last day of the price that the provider promised; null: the configuration names none.',
    ),
  },
  { title: 'OperatorModel', description: 'A model with the source of its price and where it runs.' },
);

export type OperatorModelView = Static<typeof OperatorModel>;

/** The answer of `GET /api/admin/models/`. */
export const OperatorModelList = Type.Object({ models: Type.Array(OperatorModel) });

export type OperatorModelListView = Static<typeof OperatorModelList>;

/** The demo model of a first start. */
export const MODEL_EXAMPLE: ModelView = {
  id: 'demo-chat',
  object: 'model',
  created: 0,
  type: 'model',
  display_name: 'demo-chat',
  created_at: '1970-01-01T00:00:00Z',
  context_length: null,
  max_output_tokens: 1024,
  owned_by: 'demo',
  category: 'text',
  aliases: [],
  endpoints: ['/v1/chat/completions', '/v1/completions', '/v1/responses', '/v1/responses/compact'],
  price: { input: 1, output: 2, request: 0.01 },
  pricing: { prompt: '0.000001', completion: '0.000002', request: '0.01' },
  service_tiers: {},
};
