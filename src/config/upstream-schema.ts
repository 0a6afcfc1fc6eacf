import { X509Certificate } from 'node:crypto';
import {
  AUTHS,
  type Auth,
  STREAM_USAGES,
  type StreamUsageSetting,
  type Upstream,
  type WireFormat,
} from '../domain/catalog.ts';
import { nearNames } from '../domain/near-names.ts';
import {
  type Faults,
  list,
  optional,
  type Reader,
  reader,
  required,
  section,
  text,
} from '../domain/shape.ts';
import { DEMO_URL } from './config.ts';
import { passHeader, passResponseHeader } from './pass-header.ts';
import { PRESETS, type Preset, presetOf } from './presets.ts';
import { matching, nonEmptyList, oneOf } from './references.ts';

const credential = matching(
  /^[\x21-\x7e]+$/,
  'must be visible ASCII characters without spaces or line breaks',
);

/** An http(s) base URL, without a query or trailing slash. */
const upstreamUrl = text(
  `must be an http:// or https:// URL without credentials, query or fragment (or: ${DEMO_URL})`,
  (value) => {
    if (value === DEMO_URL) return value;
    const url = URL.canParse(value) ? new URL(value) : undefined;
    if (!url || !/^https?:$/.test(url.protocol)) return undefined;
    if (url.username || url.password || /[?#]/.test(value)) return undefined;
    return url.href.replace(/(?<!\/)\/+$/, '');
  },
);

/** The content of a file of PEM certificates (references.ts reads it). */
const certificates = text('must be a file of certificates in PEM', (value) => {
  try {
    return new X509Certificate(value) && value;
  } catch {
    return undefined;
  }
});

const proxyUrl = text(
  'must be the http:// or https:// URL of a proxy, without a path; % in its password is %25',
  (value) => {
    const url = URL.parse(value);
    if (!url || !/^https?:$/.test(url.protocol)) return undefined;
    const isWhole = url.href === `${url.href.split('/', 3).join('/')}/`;
    return isWhole && isDecodable(url.username) && isDecodable(url.password) ? value : undefined;
  },
);

function isDecodable(part: string): boolean {
  try {
    decodeURIComponent(part);
    return true;
  } catch {
    return false;
  }
}

/** Base URL of Anthropic's format, as clients take it: without /v1. */
const messagesUrl: Reader<string> = reader(upstreamUrl.schema, (value, path, faults) =>
  /\/messages$/.test(upstreamUrl(value, path, faults) ?? '')
    ? faults.add(path, ENDS_IN_ROUTE)
    : upstreamUrl(value, path, faults)?.replace(/\/v1$/, ''),
);

/** An upstream from the file, combined with its preset. */
export interface UpstreamSettings {
  readonly url: string;
  /** Credentials in file order; an empty one is not sent. */
  readonly apiKeys: readonly string[];
  readonly format: WireFormat;
  readonly messages: Upstream['messages'];
  readonly path: string | undefined;
  readonly paths: Readonly<Record<string, string>> | undefined;
  readonly auth: Auth | undefined;
  readonly streamUsage: StreamUsageSetting;
  readonly ca: string | undefined;
  readonly proxy: string | undefined;
  readonly passHeaders: readonly string[];
  readonly passResponseHeaders: readonly string[];
  /** Provider id in the price list. */
  readonly provider: string | undefined;
}

const NO_HEADERS: readonly string[] = [];
const USUAL_PATH = '/v1';
const ASK: StreamUsageSetting = 'ask';
const ONE_FORMAT = "must not be set, because the upstream's format is anthropic already";
const ONLY_HTTPS = 'must not be set for an http:// address';
/** What an address of a provider's examples may end in. */
const ROUTE = /\/v1$|\/(?:chat\/completions|responses|messages)$/;
const ENDS_IN_ROUTE =
  'must not end in /v1 or a route: the gateway adds both (or `path` for /v1) to each call';

const upstreamSection = section({
  provider: optional(
    matching(/^\S+$/, 'must be the name of a provider, such as openai'),
    undefined,
    'Name of a provider, which fills in `url`, `format`, `messagesUrl`, `path`, `auth`, `streamUsage` and `prices`; or an id of the price list',
  ),
  url: required(
    upstreamUrl,
    `Address, without /v1. Default: the provider's. "${DEMO_URL}" is the built-in provider`,
  ),
  apiKey: optional(
    credential,
    undefined,
    "The provider's credential, best from an environment variable or a file (`file:/run/secrets/openai`). Default: none",
  ),
  apiKeys: optional(
    nonEmptyList(credential, 'must be a list of credentials'),
    undefined,
    'Several credentials instead; each is a separate target',
  ),
  messagesUrl: optional(
    messagesUrl,
    undefined,
    "Address of Anthropic's format, for an upstream that serves its models in both; `/v1/messages` is appended. Default: the provider's, or `url` if that is set",
  ),
  format: optional(
    oneOf('openai', 'anthropic'),
    undefined,
    "Wire format; of a provider with both, only this one. Default: the provider's, both if it has both",
  ),
  path: optional(
    matching(
      /^\/[\x21-\x7e]*$/,
      'must be a path, such as /openai/v1; {model} stands for the name of the model, and a query may follow',
    ),
    USUAL_PATH,
    'Replaces /v1 in the paths of calls. `{model}` stands for the name of the model; a query can follow',
  ),
  auth: optional(
    oneOf(...AUTHS),
    undefined,
    'How the credential is sent; without `apiKey`, `google` and `aws` use those of the environment. Default: by `format`',
  ),
  streamUsage: optional(
    oneOf(...STREAM_USAGES),
    ASK,
    'Whether streams of chat and completions are asked for their usage by `stream_options`, if the client does not ask; `leave`: never. The default of some providers is `leave`',
  ),
  prices: optional(
    matching(/^\S+$/, 'must be a provider id from the price list, such as openai'),
    undefined,
    "Id of its models' provider in the price list. Default: the provider's",
  ),
  ca: optional(
    certificates,
    undefined,
    'File of the PEM certificates of the authorities that it is verified by, instead of the usual ones; relative to the config file',
  ),
  proxy: optional(
    proxyUrl,
    undefined,
    'URL of an HTTP proxy that calls go through, by CONNECT; for `https://` addresses. Default: none, whatever `HTTPS_PROXY` says',
  ),
  passHeaders: optional(list(passHeader), NO_HEADERS, 'More request headers of clients that pass to it'),
  passResponseHeaders: optional(
    list(passResponseHeader),
    NO_HEADERS,
    'More response headers of it that pass to clients',
  ),
});

/** An upstream with an address and a format, either explicit or from a preset. */
const ADDRESSED_OR_PRESET = {
  ...upstreamSection.schema,
  required: undefined,
  anyOf: [
    { required: ['url', 'format'] },
    { required: ['provider'], properties: { provider: { enum: Object.keys(PRESETS) } } },
  ],
};

/** An upstream of the file. */
export const upstream: Reader<UpstreamSettings> = reader(ADDRESSED_OR_PRESET, (value, path, faults) => {
  const name: unknown = value instanceof Map && !value.has('url') ? value.get('provider') : undefined;
  if (typeof name === 'string' && !presetOf(name)) return faults.add(`${path}.provider`, unknownPreset(name));
  const read = upstreamSection(value, path, faults);
  const preset = value instanceof Map ? presetOf(value.get('provider')) : undefined;
  const format = value instanceof Map ? (value.get('format') ?? preset?.format) : undefined;
  if (format === undefined) faults.add(`${path}.format`, 'is missing');
  if (!read || format === undefined) return undefined;
  const { provider, apiKey, apiKeys, path: given, prices, messagesUrl: second, ...rest } = read;
  if (format === 'anthropic' && second !== undefined) return faults.add(`${path}.messagesUrl`, ONE_FORMAT);
  if (apiKey !== undefined && apiKeys !== undefined)
    return faults.add(`${path}.apiKeys`, 'must not be combined with apiKey');
  if (given === USUAL_PATH && ROUTE.test(read.url)) return faults.add(`${path}.url`, ENDS_IN_ROUTE);
  const messages = messagesOf(read, preset);
  const isPlain = [read.url, messages?.url ?? read.url].some((url) => !url.startsWith('https:'));
  for (const name of ['ca', 'proxy'] as const)
    if (isPlain && read[name] !== undefined) return faults.add(`${path}.${name}`, ONLY_HTTPS);
  return {
    ...rest,
    format,
    messages,
    apiKeys: apiKeys ?? [apiKey ?? (read.url === DEMO_URL ? DEMO_URL : '')],
    path: given === USUAL_PATH ? undefined : given.replace(/(?<!\/)\/+(?=\?|$)/, ''),
    paths: given === preset?.path ? preset.paths : undefined,
    provider: prices ?? (preset ? undefined : provider),
  };
});

function unknownPreset(name: string): string {
  const near = nearNames(name, Object.keys(PRESETS));
  return `has no known address: set url and format${near.length > 0 ? `, or did you mean ${near.join(' or ')}?` : ''}`;
}

/** How an upstream serves Anthropic's format besides its first one; undefined: it doesn't. */
function messagesOf(
  {
    url,
    messagesUrl: given,
    format,
    auth,
  }: Pick<NonNullable<ReturnType<typeof upstreamSection>>, 'url' | 'messagesUrl' | 'format' | 'auth'>,
  preset: Preset | undefined,
): Upstream['messages'] {
  const offered = format === undefined ? preset?.messages : undefined;
  if (given === undefined && !offered) return undefined;
  const path = given === undefined ? offered?.path : undefined;
  // An `auth` that the preset did not fill in is the operator's, for both formats.
  const sentAs = auth === preset?.auth ? preset?.messages?.auth : auth;
  return { url: given ?? url, ...(path && { path }), ...(sentAs && { auth: sentAs }) };
}

/** Checks that upstreams with the same host are reached in the same way: they share connections. */
export function checkRoutes(upstreams: ReadonlyMap<string, UpstreamSettings>, faults: Faults): void {
  const first = new Map<string, { readonly name: string } & UpstreamSettings>();
  for (const [name, upstream] of upstreams) {
    const urls = [upstream.url, upstream.messages?.url ?? upstream.url].filter((url) => url !== DEMO_URL);
    for (const origin of new Set(urls.map((url) => new URL(url).origin))) {
      const other = first.get(origin);
      if (!other) first.set(origin, { ...upstream, name });
      for (const field of ['ca', 'proxy'] as const)
        if (other && other[field] !== upstream[field])
          faults.add(`upstreams.${name}.${field}`, `must be that of ${other.name}, which has the same host`);
    }
  }
}
