import { CATEGORIES } from '../domain/key.ts';
import { isPriced, TIMES_ONE } from '../domain/price.ts';
import {
  entries,
  Faults,
  type Field,
  type JsonSchema,
  list,
  optional,
  type Reader,
  reader,
  required,
  section,
  text,
} from '../domain/shape.ts';
import { mailSection, peopleSection } from './people.ts';
import { creditsPerUsdReader, markupReader, priceReader, serviceTiersReader } from './price-schema.ts';
import { boolean, matching, nonEmptyList, number, oneOf } from './references.ts';
import { accountsSection, alertsSection, callsSection, limitsSection, serverSection } from './sections.ts';
import { upstream } from './upstream-schema.ts';

const day = text('must be a date, such as 2026-11-21', (value) => {
  const time = Date.parse(`${value}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(value) ? value : undefined;
});
const targetSection = section({
  upstream: required(matching(/./, 'must be the name of an upstream'), 'Name of an upstream'),
  upstreamModel: optional(
    matching(/^\S+$/, "must be the model's name at the upstream"),
    undefined,
    "The upstream's name for the model. Default: that of the model",
  ),
  weight: optional(
    number(0.001, 1_000_000, 'decimal'),
    1,
    'Share of the calls among the targets of one priority',
  ),
  priority: optional(
    number(0, 1_000_000),
    1,
    'Calls go to the lowest number first, and to the next if those targets fail',
  ),
  price: optional(priceReader, undefined, "Price of the calls that it answers. Default: the model's"),
  cost: optional(priceReader, undefined, "What the provider takes for them. Default: the model's"),
});

export type TargetSettings = NonNullable<ReturnType<typeof targetSection>>;

const NO_ALIASES: string[] = [];

const modelSection = section({
  upstream: optional(
    matching(/./, 'must be the name of an upstream'),
    undefined,
    'Name of an upstream; required without `targets`',
  ),
  targets: optional(
    nonEmptyList(targetSection, 'must be a list of targets'),
    undefined,
    'Several targets instead',
  ),
  upstreamModel: optional(
    matching(/^\S+$/, "must be the model's name at the upstream"),
    undefined,
    "The upstream's name for the model. Default: the slug",
  ),
  aliases: optional(
    list(matching(/^\S+$/, 'must be a name of the model without spaces')),
    NO_ALIASES,
    'Other names that clients can send',
  ),
  category: required(oneOf(...CATEGORIES), 'Decides the routes it can be called at'),
  maxOutputTokens: optional(
    number(1, 100_000_000),
    undefined,
    'Longest answer in tokens (of an image model priced by token: one picture), for requests that set no maximum. Default: 16384, with a warning if `output` has a price',
  ),
  contextWindow: optional(
    number(1, 100_000_000),
    undefined,
    "Tokens it can read in one pass. Default: the list's, else `limits.contextTokens`",
  ),
  imageTokens: optional(
    number(1, 10_000_000),
    undefined,
    'Maximum tokens of one picture. Default: `limits.imageTokens`',
  ),
  price: optional(priceReader, undefined, "Credits by unit, with at most six decimals. Default: the list's"),
  cost: optional(
    priceReader,
    undefined,
    "What the provider takes, in the units of `price`, for reports of the margin. Default: the list's",
  ),
  sizes: optional(
    oneOf('any'),
    undefined,
    "A plain price of images or video applies to every size and quality. Default: to the vendor's default only; others are refused",
  ),
  markup: optional(markupReader, undefined, 'Factor on its list price. Default: `pricing.markup`'),
  serviceTiers: optional(
    serviceTiersReader,
    undefined,
    'Factors on the price, without fees: { flex: 0.5 }. Requests for other tiers are refused',
  ),
  priceUntil: optional(
    day,
    undefined,
    "Last day (UTC) of the provider's promised price; then `tollgate prices` reports it, and nothing changes",
  ),
  reasons: optional(boolean, true, 'false: estimates count no hidden reasoning'),
  free: optional(boolean, false, 'true, instead of a price: the model costs nothing'),
});

/** A model from the file; a single `upstream` is its only target. */
export type ModelSettings = Omit<NonNullable<ReturnType<typeof modelSection>>, 'upstream' | 'targets'> & {
  readonly targets: readonly TargetSettings[];
};

const ONE_PLACE_OR_SEVERAL = [
  { required: ['upstream'], properties: { targets: false } },
  { required: ['targets'], properties: { upstream: false } },
];

/** A model with a price, either explicit or from the list, or with `free: true`. */
const PRICED_OR_FREE = [
  { properties: { free: { const: false } } },
  { required: ['free'], properties: { free: { const: true }, price: false } },
];

/** Ends every fault of a model without a price: a typo must not give anything away. */
export const NEITHER_PRICED_NOR_FREE = 'must set a price above 0, or the model must set free: true';

const NO_MARKUP = 'has no effect on a written price: leave out one of them';

const model: Reader<ModelSettings> = reader(
  { ...modelSection.schema, anyOf: PRICED_OR_FREE, oneOf: ONE_PLACE_OR_SEVERAL },
  (value, path, faults) => {
    const read = modelSection(value, path, faults);
    if (!read) return undefined;
    const priced = read.price !== undefined && isPriced(read.price);
    if (priced && read.free) return faults.add(`${path}.free`, 'must not be combined with a price');
    if (read.price && !priced && !read.free) return faults.add(`${path}.price`, NEITHER_PRICED_NOR_FREE);
    const prices = read.targets?.map((target) => target.price) ?? [];
    const isWritten = read.price !== undefined || (prices.length > 0 && prices.every(Boolean));
    if (read.markup !== undefined && (isWritten || read.free)) return faults.add(`${path}.markup`, NO_MARKUP);
    const { upstream: only, targets, ...rest } = read;
    if (only !== undefined && targets)
      return faults.add(`${path}.targets`, 'must not be combined with upstream');
    if (targets) return checkedTargets({ ...rest, targets }, path, faults);
    if (only === undefined) return faults.add(`${path}.upstream`, 'is missing; or set targets');
    return {
      ...rest,
      targets: [
        {
          upstream: only,
          upstreamModel: undefined,
          weight: 1,
          priority: 1,
          price: undefined,
          cost: undefined,
        },
      ],
    };
  },
);

function checkedTargets(read: ModelSettings, path: string, faults: Faults): ModelSettings | undefined {
  const seen = new Set<string>();
  for (const [index, { upstream: name, upstreamModel, price }] of read.targets.entries()) {
    const at = `${path}.targets[${index}]`;
    const place = `${name} ${upstreamModel ?? read.upstreamModel ?? ''}`;
    if (seen.has(place)) return faults.add(at, 'must not name the same place twice');
    seen.add(place);
    if (price && read.free) return faults.add(`${at}.price`, 'must not be combined with free');
    if (price && !isPriced(price)) return faults.add(`${at}.price`, NEITHER_PRICED_NOR_FREE);
  }
  return read;
}

const originsSection = section({
  allowMissing: optional(
    boolean,
    false,
    'true: keys with `allowed_origins` work without `Origin` and `Referer`',
  ),
});
const pricingSection = section({
  creditsPerUsd: optional(creditsPerUsdReader, TIMES_ONE, 'Credits per US dollar of the price list', 1),
  markup: optional(markupReader, TIMES_ONE, 'Factor on list prices: 1.2 adds a fifth', 1),
  list: optional(
    matching(/./, 'must be the path of a price list'),
    undefined,
    'A newer copy of the price list, relative to the config file. Default: that of the release',
  ),
  unpriced: optional(
    oneOf('refuse', 'pass'),
    'refuse' as const,
    'pass: requests for something without a price go through at the plain price',
  ),
});

/** A section whose fields all have defaults may be omitted; it is then read as empty. */
function optionalSection<T>(read: Reader<T>, description: string): Field<T> {
  return { read, description, orElse: () => read(new Map(), '', new Faults()) as T };
}

/** The whole config file (specification section 1); config/gateway.yaml has examples. */
export const configFile = section({
  server: optionalSection(serverSection, 'Where the gateway listens'),
  alerts: optionalSection(alertsSection, 'Delivery of low-credits alerts'),
  accounts: optionalSection(accountsSection, 'Limits of accounts'),
  calls: optionalSection(callsSection, 'The record of refused calls'),
  origins: optionalSection(originsSection, 'The check of browser origins'),
  limits: optionalSection(limitsSection, 'Limits of model calls'),
  people: optionalSection(peopleSection, 'How people sign in'),
  mail: optional(mailSection, undefined, 'Mail server for invitations and resets. Default: none'),
  pricing: optionalSection(pricingSection, 'Source of prices that are not written at a model'),
  upstreams: required(entries(upstream), 'Providers of models, by a name that you choose'),
  models: required(
    entries(model),
    'Models that clients can call, by the name that they send and that `allowed_models` lists',
  ),
});

export const CONFIG_FILE_SCHEMA: JsonSchema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'Configuration of Tollgate',
  ...configFile.schema,
};

/** Text of config/gateway.schema.json, which `tollgate config schema` prints. */
export function configSchemaText(): string {
  return `${JSON.stringify(CONFIG_FILE_SCHEMA, null, 2)}\n`;
}
