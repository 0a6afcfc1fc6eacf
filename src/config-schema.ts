import { DEMO_URL } from './config.ts';
import {
  boolean,
  entries,
  Faults,
  list,
  matching,
  number,
  oneOf,
  optional,
  type Reader,
  required,
  section,
  text,
} from './config-reader.ts';
import { normaliseRange } from './domain/addresses.ts';
import type { Price, WireFormat } from './domain/catalog.ts';
import { CATEGORIES } from './domain/key.ts';
import { isPriced, priceFromCredits } from './domain/price.ts';

const DAY_MS = 86_400_000;
const MAX_BODY_MB = 1_024;

export const host = matching(
  /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$|^[0-9a-f:.]*:[0-9a-f:.%a-z]*$/i,
  'must be a host name or an IP address to listen on, without a scheme or port',
);
export const port = number(0, 65_535);

/** A bare number is refused: as a count of hops it would let any client choose its address (CVE-2026-16732). */
export const trustedProxy = text('must be an IP address or a CIDR range, such as 10.0.0.0/8', (value) =>
  /[.:]/.test(value) ? normaliseRange(value) : undefined,
);

export const credential = matching(
  /^[\x21-\x7e]+$/,
  'must be visible ASCII characters without spaces or line breaks',
);

/** Fault-free text of an http(s) URL that paths are appended to, so without a query, and without a slash at its end. */
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

export interface UpstreamSettings {
  readonly url: string;
  readonly apiKey: string;
  readonly format: WireFormat;
}

const upstreamSection = section({
  url: required(upstreamUrl),
  apiKey: optional(credential, undefined),
  format: required(oneOf('openai', 'anthropic')),
});

const upstream: Reader<UpstreamSettings> = (value, path, faults) => {
  const read = upstreamSection(value, path, faults);
  if (!read) return undefined;
  if (read.url === DEMO_URL) {
    return { ...read, apiKey: read.apiKey ?? DEMO_URL };
  }
  return { ...read, apiKey: read.apiKey ?? '' };
};

function unitPrice(unit: keyof Price): { read: Reader<bigint>; orElse: () => undefined } {
  const read: Reader<bigint> = (value, path, faults) =>
    (typeof value === 'number' ? priceFromCredits(unit, value) : undefined) ??
    faults.add(path, 'must be a number of credits, 0 or more, with at most six decimals');
  return { read, orElse: () => undefined };
}

const priceSection = section({
  input: unitPrice('input'),
  output: unitPrice('output'),
  cachedInput: unitPrice('cachedInput'),
  cacheWrite: unitPrice('cacheWrite'),
  character: unitPrice('character'),
  image: unitPrice('image'),
  audioSecond: unitPrice('audioSecond'),
  videoSecond: unitPrice('videoSecond'),
  request: unitPrice('request'),
});

/** Absent = 0, but tokens in and out of a cache cost what input costs, unless priced (contract section 1). */
const price: Reader<Price> = (value, path, faults) => {
  const read = priceSection(value, path, faults);
  if (!read) return undefined;
  const input = read.input ?? 0n;
  return {
    input,
    output: read.output ?? 0n,
    cachedInput: read.cachedInput ?? input,
    cacheWrite: read.cacheWrite ?? input,
    character: read.character ?? 0n,
    image: read.image ?? 0n,
    audioSecond: read.audioSecond ?? 0n,
    videoSecond: read.videoSecond ?? 0n,
    request: read.request ?? 0n,
  };
};

const modelSection = section({
  upstream: required(matching(/./, 'must be the name of an upstream')),
  upstreamModel: optional(
    matching(/^\S+$/, 'must be the name that the upstream knows the model by'),
    undefined,
  ),
  category: required(oneOf(...CATEGORIES)),
  maxOutputTokens: optional(number(1, 100_000_000), undefined),
  price: optional(price, undefined),
  free: optional(boolean, false),
});

export type ModelSettings = NonNullable<ReturnType<typeof modelSection>>;

/** Nothing is given away by a typing slip: a model has a price, or says in so many words that it is free. */
const model: Reader<ModelSettings> = (value, path, faults) => {
  const read = modelSection(value, path, faults);
  if (!read) return undefined;
  const priced = read.price !== undefined && isPriced(read.price);
  if (priced && read.free) return faults.add(`${path}.free`, 'must not stand beside a price');
  if (!priced && !read.free) {
    return faults.add(`${path}.price`, 'must name a price above 0, or the model must say free: true');
  }
  return read;
};

const serverSection = section({
  host: optional(host, '127.0.0.1'),
  port: optional(port, 8080),
  trustProxy: optional(list(trustedProxy), []),
  bodyLimitMb: optional(number(0.001, MAX_BODY_MB, 'decimal'), 50),
});
const alertsSection = section({
  timeoutMs: optional(number(1, 60_000), 10_000),
  allowPrivateNetworks: optional(boolean, false),
});
const originsSection = section({ allowMissing: optional(boolean, false) });
const limitsSection = section({
  requestTimeoutMs: optional(number(1, DAY_MS), 1_800_000),
  headersTimeoutMs: optional(number(1, DAY_MS), 300_000),
  idleTimeoutMs: optional(number(1, DAY_MS), 120_000),
  imageTokens: optional(number(1, 10_000_000), 20_000),
  contextTokens: optional(number(1, 100_000_000), 1_000_000),
});

/** A section whose every field has a default may itself be left out: it is then read as if it were empty. */
function optionalSection<T>(read: Reader<T>): { read: Reader<T>; orElse: () => T } {
  return {
    read,
    orElse: () => read(new Map(), '', new Faults()) as T,
  };
}

/** The whole config file (contract section 1). config/gateway.yaml explains every key. */
export const configFile = section({
  server: optionalSection(serverSection),
  alerts: optionalSection(alertsSection),
  origins: optionalSection(originsSection),
  limits: optionalSection(limitsSection),
  upstreams: required(entries(upstream)),
  models: required(entries(model)),
});
