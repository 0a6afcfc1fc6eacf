export interface OriginMatcher {
  /** True if an origin from `requestOrigin` is allowed. */
  allows(origin: string): boolean;
}

interface Origin {
  readonly scheme: string;
  readonly host: string;
  /** `:8443`, or "" if absent or the scheme's default. */
  readonly port: string;
}

const DEFAULT_PORTS: ReadonlyMap<string, number> = new Map([
  ['http', 80],
  ['https', 443],
  ['ws', 80],
  ['wss', 443],
]);

/** Origins without a host: of Electron's pages from files, and of sandboxed pages and some desktop apps. */
const HOSTLESS: ReadonlySet<string> = new Set(['file://', 'null']);
/** Schemes whose hosts belong to many owners. */
const WEB: ReadonlySet<string> = new Set(['http', 'https']);

/** Schemes without pages that have a host: no browser or web view sends an origin with one of them. */
const NO_PAGES: ReadonlySet<string> = new Set([
  'ftp',
  'ws',
  'wss',
  'file',
  'data',
  'blob',
  'about',
  'javascript',
]);

/** Top-level names that nobody can register, so everything below is private (RFC 6761, 6762; ICANN: internal). */
const OWN_NAMES: ReadonlySet<string> = new Set(['localhost', 'test', 'local', 'internal']);

/** A host name has at most 253 characters; the scheme, port and an IDN's longer spelling fit beside it. */
const LONGEST_ORIGIN = 512;

/**
 * The form in which `allowed_origins` are stored and compared (specification section 2): `scheme://host[:port]`,
 * `scheme://*.host[:port]` or a bare host; lower case, IDNs in punycode, default ports and a single trailing slash
 * dropped. For desktop apps also `file://`, `null`, `app://.`, and `scheme://*` unless it is http or https, for apps
 * whose hosts are random. Undefined if the text is none of these, if no page has such an origin (`ftp://`), and for everything
 * below a name that is not one owner's (`https://*.com`).
 */
export function parseOriginRule(text: string): string | undefined {
  if (text.length > LONGEST_ORIGIN) return undefined;
  const whole = text.toLowerCase().replace(/^file:\/\/\/$/, 'file://');
  if (HOSTLESS.has(whole)) return whole;
  const rule = text.endsWith('/') ? text.slice(0, -1) : text;
  const [, anyHostOf] = /^([a-z][a-z0-9+.-]*):\/\/\*$/.exec(rule.toLowerCase()) ?? [];
  if (anyHostOf !== undefined)
    return WEB.has(anyHostOf) || NO_PAGES.has(anyHostOf) ? undefined : `${anyHostOf}://*`;
  if (!rule.includes('://')) return normalizeHost(rule);
  const wildcard = rule.includes('://*.');
  const origin = parseOrigin(wildcard ? rule.replace('://*.', '://') : rule);
  if (!origin || NO_PAGES.has(origin.scheme) || (wildcard && !isBelowOne(origin.host))) return undefined;
  return originText(origin, wildcard ? `*.${origin.host}` : origin.host);
}

/** `rules` come from `parseOriginRule`. The work for an origin grows with its labels, not with the rules. */
export function compileOrigins(rules: readonly string[]): OriginMatcher {
  const allowed = new Set(rules);
  return { allows: (origin) => rulesFor(origin).some((rule) => allowed.has(rule)) };
}

/** Number of cached origins: pages send the same few repeatedly, and parsing one takes 3 µs. */
const REMEMBERED = 1_000;
/** Longest cached origin, in characters. A hostile one of LONGEST_ORIGIN has 60 KB of parent domains. */
const LONGEST_REMEMBERED = 100;
const remembered = new Map<string, readonly string[]>();

/** Every rule that would allow the origin; empty for other text. */
function rulesFor(text: string): readonly string[] {
  if (text.length > LONGEST_REMEMBERED) return readRulesFor(text);
  let rules = remembered.get(text);
  if (rules === undefined) {
    rules = readRulesFor(text);
    if (remembered.size >= REMEMBERED) remembered.clear();
    remembered.set(text, rules);
  }
  return rules;
}

function readRulesFor(text: string): readonly string[] {
  if (HOSTLESS.has(text)) return [text];
  const origin = text.length > LONGEST_ORIGIN ? undefined : parseOrigin(text);
  if (!origin) return [];
  const { scheme, host } = origin;
  const below = parentsOf(host).map((parent) => originText(origin, `*.${parent}`));
  // As a rule, the bare word means the origin `null`.
  const bare = HOSTLESS.has(host) ? [] : [host];
  return [originText(origin, host), ...bare, ...below, `${scheme}://*`];
}

/**
 * Origin of the page that made the request: `Origin`, else the origin of `Referer` (specification section 2). Undefined
 * without both. A Referer that is not a URL with a host counts as the origin `null`, like that of a sandboxed page, but
 * that of a file as `file://`.
 */
export function requestOrigin(
  originHeader: string | undefined,
  refererHeader: string | undefined,
): string | undefined {
  if (originHeader) return originHeader;
  if (!refererHeader) return undefined;
  const referer = URL.parse(refererHeader);
  return referer?.host || referer?.protocol === 'file:' ? `${referer.protocol}//${referer.host}` : 'null';
}

function originText({ scheme, port }: Origin, host: string): string {
  return `${scheme}://${host}${port}`;
}

/** `b.c.d` and `c.d` and `d` for `a.b.c.d`. */
function parentsOf(host: string): string[] {
  const labels = host.split('.');
  return labels.slice(1).map((_, index) => labels.slice(index + 1).join('.'));
}

function parseOrigin(text: string): Origin | undefined {
  const match = /^([a-z][a-z0-9+.-]*):\/\/(\[[^\]]*\]|[^:[\]]+)(?::(\d{1,5}))?$/i.exec(text);
  const scheme = match?.[1]?.toLowerCase();
  // Electron's own schemes have pages at `app://.`.
  const isDot = match?.[2] === '.' && !WEB.has(scheme ?? '');
  const host = isDot ? '.' : match?.[2] && normalizeHost(match[2]);
  if (!match || !scheme || !host) return undefined;
  if (match[3] === undefined) return { scheme, host, port: '' };
  const port = Number(match[3]);
  if (port < 1 || port > 65_535) return undefined;
  return { scheme, host, port: port === DEFAULT_PORTS.get(scheme) ? '' : `:${port}` };
}

/** Characters that end or decorate a host in a URL, or that a URL parser decodes, removes or reads as a wildcard. */
const NOT_IN_A_HOST = /[\s\p{Cc}/\\?#@%*,<>^|]/u;

/** Host in the form of a browser's origin: lower case and punycode; undefined for other text. */
function normalizeHost(text: string): string | undefined {
  if (NOT_IN_A_HOST.test(text) || /:\d*$/.test(text)) return undefined;
  // The rules of http hosts, whatever the scheme: the URL parser leaves hosts of schemes it does not know as they are.
  const host = URL.parse(`http://${text}`)?.hostname;
  // Once more, as full-width letters have become plain ones. A browser has no page at a host with an empty label.
  return host && !NOT_IN_A_HOST.test(host) && !/^\.|\.\./.test(host) ? host : undefined;
}

/**
 * Whether what is below the host may belong to one owner: there is nothing below an address, and the world below `com`.
 */
function isBelowOne(host: string): boolean {
  const name = host.replace(/\.$/, '');
  return !isAddress(name) && (name.includes('.') || OWN_NAMES.has(name));
}

function isAddress(host: string): boolean {
  return host.startsWith('[') || /(?:^|\.)\d+$/.test(host);
}
