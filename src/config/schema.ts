import { AUTHS, type Auth, type WireFormat } from '../domain/catalog.ts';
import { CATEGORIES } from '../domain/key.ts';
import { isPriced, TIMES_ONE } from '../domain/price.ts';
import { accountsSection } from './accounts-schema.ts';
import { callsSection } from './calls-schema.ts';
import { DEMO_URL } from './config.ts';
import { limitsSection } from './limits-schema.ts';
import { passHeader } from './pass-header.ts';
import { PRESETS, presetOf } from './presets.ts';
import { creditsPerUsdReader, markupReader, priceReader, serviceTiersReader } from './price-schema.ts';
import {
  boolean,
  entries,
  Faults,
  type Field,
  type JsonSchema,
  list,
  matching,
  number,
  oneOf,
  optional,
  type Reader,
  reader,
  required,
  section,
  text,
} from './reader.ts';
import { serverSection } from './server-schema.ts';

const day = text('must be a date, such as 2026-11-21', (value) => {
  const time = Date.parse(`${value}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(value) ? value : undefined;
});
export const credential = matching(
  /^[\x21-\x7e]+$/,
  'must be visible ASCII characters without spaces or line breaks',
);

/** Reads an http(s) URL that paths are appended to: without a query, and without a slash at its end. */
const upstreamUrl = text(
  `must be an http:// or https:// URL without credentials, query or fragment (or: ${DEMO_URL})`,
  (value) => {
    if (value === DEMO_URL) return value;
    const url = URL.canParse(value) ? new URL(value) : undefined;
    if (!url || !/^https?:$/.test(url.protocol)) return undefined;
    if (url.username || url.password || /[?#]/.test(value)) return undefined;
    return url.href.replace(/\/+$/, '');
  },
);

/** An upstream as its file says it, with its preset. */
export interface UpstreamSettings {
  readonly url: string;
  /** Its credentials, in the order of the file; one that is empty is not sent. */
  readonly apiKeys: readonly string[];
  readonly format: WireFormat;
  readonly path: string | undefined;
  readonly paths: Readonly<Record<string, string>> | undefined;
  readonly auth: Auth | undefined;
  readonly reportsUnasked: boolean;
  readonly passHeaders: readonly string[];
  /** Id of the provider in the price list. */
  readonly provider: string | undefined;
}

const NO_HEADERS: readonly string[] = [];
const USUAL_PATH = '/v1';

const upstreamSection = section({
  provider: optional(
    matching(/^\S+$/, 'must be the name of a provider, such as openai'),
    undefined,
    `The provider that it is: fills in url, format, path, auth and prices, each of which can be set instead. ${Object.keys(PRESETS).join(', ')}; another name is an id of the price list`,
  ),
  url: required(
    upstreamUrl,
    `Where it runs, without /v1 at its end: the path of the call is appended. "${DEMO_URL}" is the built-in provider`,
  ),
  apiKey: optional(
    credential,
    undefined,
    "The provider's credential, best by the name of an environment variable; absent: none is sent",
  ),
  apiKeys: optional(
    nonEmptyList(credential, 'must be a list of credentials'),
    undefined,
    'Several credentials instead of apiKey: each is a target of its own, so that calls go on with the others where one is refused or limited',
  ),
  format: required(
    oneOf('openai', 'anthropic'),
    'Whose API it speaks: how the credential is sent, and how usage is read',
  ),
  path: optional(
    matching(
      /^\/[\x21-\x7e]*$/,
      'must be a path, such as /openai/v1; {model} stands for the name of the model, and a query may follow',
    ),
    USUAL_PATH,
    'Path that replaces /v1 in the paths of calls; {model} is the name of the model there, and a query may follow: /openai/deployments/{model}?api-version=2024-10-21',
  ),
  auth: optional(
    oneOf(...AUTHS),
    undefined,
    'How the credential is sent: bearer (Authorization), x-api-key, api-key; google and aws sign with the credentials of the environment where apiKey is absent. Default: as usual in the format',
  ),
  prices: optional(
    matching(/^\S+$/, 'must be a provider id from the price list, such as openai'),
    undefined,
    'Whose prices its models have where none is written: the id of a provider of the price list (openai, anthropic, google, mistral, groq, …)',
  ),
  passHeaders: optional(
    list(passHeader),
    NO_HEADERS,
    "Names of clients' request headers that pass to it, besides those that pass to every upstream",
  ),
});

/** A list with at least one item. */
function nonEmptyList<T>(item: Reader<T>, right: string): Reader<T[]> {
  const all = list(item);
  return reader({ ...all.schema, minItems: 1 }, (value, path, faults) =>
    Array.isArray(value) && value.length === 0 ? faults.add(path, right) : all(value, path, faults),
  );
}

/** Schema of an upstream with an address and a format, its own or those of a preset. */
const ADDRESSED_OR_PRESET = {
  ...upstreamSection.schema,
  required: undefined,
  anyOf: [
    { required: ['url', 'format'] },
    { required: ['provider'], properties: { provider: { enum: Object.keys(PRESETS) } } },
  ],
};

const upstream: Reader<UpstreamSettings> = reader(ADDRESSED_OR_PRESET, (value, path, faults) => {
  const read = upstreamSection(value, path, faults);
  if (!read) return undefined;
  const { provider, apiKey, apiKeys, path: given, prices, ...rest } = read;
  if (apiKey !== undefined && apiKeys !== undefined)
    return faults.add(`${path}.apiKeys`, 'must not be combined with apiKey');
  const preset = presetOf(provider);
  return {
    ...rest,
    apiKeys: apiKeys ?? [apiKey ?? (read.url === DEMO_URL ? DEMO_URL : '')],
    path: given === USUAL_PATH ? undefined : given.replace(/\/+(?=\?|$)/, ''),
    paths: given === preset?.path ? preset.paths : undefined,
    reportsUnasked: preset?.reportsUnasked ?? false,
    provider: prices ?? (preset ? undefined : provider),
  };
});

const targetSection = section({
  upstream: required(
    matching(/./, 'must be the name of an upstream'),
    'Where it runs: the name of an entry of upstreams',
  ),
  upstreamModel: optional(
    matching(/^\S+$/, "must be the model's name at the upstream"),
    undefined,
    "What this upstream calls the model; default: the model's upstreamModel, else the entry's own name",
  ),
  weight: optional(
    number(0.001, 1_000_000, 'decimal'),
    1,
    'Its share of the calls among the targets of one priority',
  ),
  priority: optional(
    number(0, 1_000_000),
    1,
    'Targets with the lowest number are asked first, the next ones where those fail',
  ),
  price: optional(priceReader, undefined, "What calls that it answers cost; default: the model's price"),
});

export type TargetSettings = NonNullable<ReturnType<typeof targetSection>>;

const NO_ALIASES: string[] = [];

const modelSection = section({
  upstream: optional(
    matching(/./, 'must be the name of an upstream'),
    undefined,
    'Where it runs: the name of an entry of upstreams. Either this or targets',
  ),
  targets: optional(
    nonEmptyList(targetSection, 'must be a list of targets'),
    undefined,
    'Several places where it runs, instead of upstream: calls go on at another one where one fails',
  ),
  upstreamModel: optional(
    matching(/^\S+$/, "must be the model's name at the upstream"),
    undefined,
    "What the upstream calls it; default: the entry's own name",
  ),
  aliases: optional(
    list(matching(/^\S+$/, 'must be a name of the model without spaces')),
    NO_ALIASES,
    'Other names by which clients may call it; everything that is stored has its own name',
  ),
  category: required(oneOf(...CATEGORIES), 'What it makes, and so the routes that it can be called at'),
  maxOutputTokens: optional(
    number(1, 100_000_000),
    undefined,
    'Longest answer in tokens (of an image model priced by token: of one picture), held for a request that sets no maximum. Default 16384, with a warning where output has a price',
  ),
  contextWindow: optional(
    number(1, 100_000_000),
    undefined,
    "Tokens that it can read in one pass; default: the price list's, else limits.contextTokens",
  ),
  imageTokens: optional(
    number(1, 10_000_000),
    undefined,
    'Most tokens of one picture that it reads; default: limits.imageTokens',
  ),
  price: optional(
    priceReader,
    undefined,
    "Credits by unit, at most six decimals; a unit that is absent costs nothing. Default: the price list's price",
  ),
  sizes: optional(
    oneOf('any'),
    undefined,
    'any: a plain price of an image or a second of video is that of every size and quality; absent: of the default alone, and requests for others are refused',
  ),
  markup: optional(
    markupReader,
    undefined,
    'What the list price is multiplied by, instead of pricing.markup',
  ),
  serviceTiers: optional(
    serviceTiersReader,
    undefined,
    "What a provider's service tiers multiply the price by (not image, request and webSearch), by their names: priority, flex, fast, a region; absent: requests for one are refused",
  ),
  priceUntil: optional(
    day,
    undefined,
    'The last day (UTC) for which the provider promised its price; from the next day on, tollgate prices says that it has passed',
  ),
  reasons: optional(
    boolean,
    true,
    'false for a model without hidden reasoning: estimates without a report count none',
  ),
  free: optional(boolean, false, 'true instead of a price: the model costs nothing'),
});

/** A model as its file says it; a single `upstream` is its only target. */
export type ModelSettings = Omit<NonNullable<ReturnType<typeof modelSection>>, 'upstream' | 'targets'> & {
  readonly targets: readonly TargetSettings[];
};

const ONE_PLACE_OR_SEVERAL = [
  { required: ['upstream'], properties: { targets: false } },
  { required: ['targets'], properties: { upstream: false } },
];

/** Schema of a model that has either a price, its own or that of the list, or `free: true`. */
const PRICED_OR_FREE = [
  { properties: { free: { const: false } } },
  { required: ['free'], properties: { free: { const: true }, price: false } },
];

/** The end of every fault of a model without a price: nothing is given away by a typing slip. */
export const NEITHER_PRICED_NOR_FREE = 'must set a price above 0, or the model must set free: true';

const model: Reader<ModelSettings> = reader(
  { ...modelSection.schema, anyOf: PRICED_OR_FREE, oneOf: ONE_PLACE_OR_SEVERAL },
  (value, path, faults) => {
    const read = modelSection(value, path, faults);
    if (!read) return undefined;
    const priced = read.price !== undefined && isPriced(read.price);
    if (priced && read.free) return faults.add(`${path}.free`, 'must not be combined with a price');
    if (read.price && !priced && !read.free) return faults.add(`${path}.price`, NEITHER_PRICED_NOR_FREE);
    const { upstream: only, targets, ...rest } = read;
    if (only !== undefined && targets)
      return faults.add(`${path}.targets`, 'must not be combined with upstream');
    if (targets) return checkedTargets({ ...rest, targets }, path, faults);
    if (only === undefined) return faults.add(`${path}.upstream`, 'is missing; or set targets');
    return {
      ...rest,
      targets: [{ upstream: only, upstreamModel: undefined, weight: 1, priority: 1, price: undefined }],
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

const alertsSection = section({
  timeoutMs: optional(
    number(1, 60_000),
    10_000,
    'For one webhook delivery in all (DNS, connect, answer), in milliseconds',
  ),
  allowPrivateNetworks: optional(
    boolean,
    false,
    'Whether webhooks may go to addresses that are not public; for development and tests only',
  ),
});
const originsSection = section({
  allowMissing: optional(
    boolean,
    false,
    'Whether a key with allowed_origins may be used by requests without Origin and Referer',
  ),
});
const pricingSection = section({
  creditsPerUsd: optional(
    creditsPerUsdReader,
    TIMES_ONE,
    'Credits that stand for one US dollar of the price list, at most six decimals',
    1,
  ),
  markup: optional(
    markupReader,
    TIMES_ONE,
    'What list prices are multiplied by: 1.2 adds a fifth. Written prices are not multiplied',
    1,
  ),
  list: optional(
    matching(/./, 'must be the path of a price list'),
    undefined,
    "A newer copy of the price list (the project's data.json), read at a start and a reload; relative to this file",
  ),
  unpriced: optional(
    oneOf('refuse', 'pass'),
    'refuse' as const,
    'What becomes of requests that ask for something that their model has no price for; pass: they go at the plain price',
  ),
});

/** A section whose every field has a default may itself be left out: it is then read as if it were empty. */
function optionalSection<T>(read: Reader<T>, description: string): Field<T> {
  return { read, description, orElse: () => read(new Map(), '', new Faults()) as T };
}

/** The whole config file (specification section 1). config/gateway.yaml explains every key. */
export const configFile = section({
  server: optionalSection(serverSection, 'Where the gateway listens'),
  alerts: optionalSection(alertsSection, 'Delivery of low-credits alerts'),
  accounts: optionalSection(accountsSection, 'Bounds of accounts'),
  calls: optionalSection(callsSection, 'The record of refused calls'),
  origins: optionalSection(originsSection, 'The check of browser origins'),
  limits: optionalSection(limitsSection, 'Bounds of model calls'),
  pricing: optionalSection(pricingSection, 'Where prices come from that are not written at a model'),
  upstreams: required(entries(upstream), 'Where models run, by a name of your own'),
  models: required(
    entries(model),
    'What clients may call, by the name that they send as model and that allowed_models lists',
  ),
});

/** The JSON Schema of the config file, for editors. */
export const CONFIG_FILE_SCHEMA: JsonSchema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'Configuration of Tollgate',
  ...configFile.schema,
};

/** Text of config/gateway.schema.json, which `tollgate config schema` prints. */
export function configSchemaText(): string {
  return `${JSON.stringify(CONFIG_FILE_SCHEMA, null, 2)}\n`;
}
