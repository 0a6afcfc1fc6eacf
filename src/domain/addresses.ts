import ipaddr from 'ipaddr.js';

/** Address in comparable form: IPv4-mapped IPv6 becomes IPv4, and the zone id is dropped. */
export type ParsedAddress = ipaddr.IPv4 | ipaddr.IPv6;

export interface AddressMatcher {
  /** Whether the address lies in one of the ranges. */
  has(address: ParsedAddress): boolean;
}

type Range = readonly [network: ParsedAddress, bits: number];

/** The longest text of an IPv6 address, with a dotted IPv4 tail. */
const LONGEST_ADDRESS = 45;
const MAPPED_PREFIX = '::ffff:';
const MAPPED_BITS = 96;

/**
 * Parses an IP address in the spelling of a socket, a proxy or a person; undefined for other text. Drops a zone id
 * (`%eth0`), which names the local interface, not the sender.
 */
export function parseAddress(text: string): ParsedAddress | undefined {
  let address = parsed.get(text);
  if (address === undefined) {
    address = read(text);
    if (!address) return undefined;
    if (parsed.size >= REMEMBERED) parsed.clear();
    parsed.set(text, address);
  }
  return address;
}

/** Network that counts as one client: the /64 of an IPv6 address, which one line has, else the address itself. */
export function clientNetwork(text: string): string {
  const address = parseAddress(text);
  if (!(address instanceof ipaddr.IPv6)) return address?.toString() ?? text;
  return `${address.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`;
}

/** Saves 1 µs a read: a request's address is read up to four times, and consecutive requests share a proxy's. */
const parsed = new Map<string, ParsedAddress>();
const REMEMBERED = 1_000;

function read(text: string): ParsedAddress | undefined {
  // How a dual-stack socket names every IPv4 peer: 1 µs here, 6 µs by way of IPv6.
  const dotted = text.startsWith(MAPPED_PREFIX) ? text.slice(MAPPED_PREFIX.length) : text;
  if (IPV4.test(dotted)) return ipaddr.IPv4.parse(dotted);
  const zone = text.indexOf('%');
  const address = strictAddress(zone < 0 ? text : text.slice(0, zone));
  if (zone >= 0 && address?.kind() !== 'ipv6') return undefined;
  return address && withoutMapping(address);
}

/**
 * Stored form of an entry of `allowed_ips` or `TRUST_PROXY` (specification section 2): an address, or a CIDR range with
 * its host bits cleared; IPv4-mapped ones as IPv4. Undefined for other text.
 */
export function normalizeRange(text: string): string | undefined {
  if (!text.includes('/')) {
    const address = strictAddress(text);
    return address && withoutMapping(address).toString();
  }
  const range = parseRange(text);
  return range && `${range[0].toString()}/${range[1]}`;
}

/** Throws RangeError for a range that `normalizeRange` rejects. */
export function compileRanges(ranges: readonly string[]): AddressMatcher {
  const compiled = ranges.map((text) => {
    const range = parseRange(text);
    if (!range) throw new RangeError(`not an address range: ${text}`);
    return range;
  });
  return new Ranges(compiled);
}

/** Compiled ranges: 16 bytes per IPv4 range, 40 per IPv6 range. ipaddr.js takes 130 and 300, and lists are long. */
class Ranges implements AddressMatcher {
  /** Network and bits in turn. Signed: V8 keeps such numbers without a box. */
  readonly #ipv4: readonly number[];
  /** The four words of the network and its bits in turn. */
  readonly #ipv6: readonly number[];

  constructor(ranges: readonly Range[]) {
    this.#ipv4 = ranges.flatMap(([network, bits]) =>
      network instanceof ipaddr.IPv4 ? [signed32(network), bits] : NONE,
    );
    this.#ipv6 = ranges.flatMap(([network, bits]) =>
      network instanceof ipaddr.IPv6 ? [...wordsOf(network), bits] : NONE,
    );
  }

  has(address: ParsedAddress): boolean {
    if (address instanceof ipaddr.IPv6) return this.#ipv6.length > 0 && this.#hasIpv6(wordsOf(address));
    const ranges = this.#ipv4;
    const number = signed32(address);
    for (let index = 0; index < ranges.length; index += 2) {
      if (isSame(number, ranges[index] as number, ranges[index + 1] as number)) return true;
    }
    return false;
  }

  #hasIpv6(words: readonly number[]): boolean {
    const ranges = this.#ipv6;
    for (let at = 0; at < ranges.length; at += 5) {
      const bits = ranges[at + 4] as number;
      if (words.every((word, index) => isSame(word, ranges[at + index] as number, bits - 32 * index)))
        return true;
    }
    return false;
  }
}

/** Whether the first `bits` of two words are the same; all of them from 32 on, none up to 0. */
function isSame(word: number, other: number, bits: number): boolean {
  // A shift by 32 would be one by 0.
  return bits <= 0 || (word ^ other) >>> (32 - Math.min(bits, 32)) === 0;
}

/** An IPv6 address as four signed words of 32 bits. */
function wordsOf({ parts }: ipaddr.IPv6): number[] {
  return [0, 2, 4, 6].map((at) => ((parts[at] as number) << 16) | (parts[at + 1] as number));
}

const NONE: readonly [] = [];

function signed32({ octets: [a = 0, b = 0, c = 0, d = 0] }: ipaddr.IPv4): number {
  return (a << 24) | (b << 16) | (c << 8) | d;
}

/** Limit of hops read from X-Forwarded-For: real chains have a few, a hostile header has thousands. */
const MOST_HOPS = 32;

/**
 * Address of a request's client, as normalized text (specification section 1, "TRUST_PROXY"). Reads X-Forwarded-For
 * from the right, the end that the nearest proxy wrote. Every trusted hop vouches for the entry to its left. The first
 * untrusted hop is the client; entries further left are only that client's claim. An entry that is not an IP address
 * ends the walk at the hop that wrote it. Without trusted proxies, the header is ignored. A `socketAddress` that is not
 * an IP address (a unix socket has none) is returned unchanged.
 */
export function clientAddress(
  socketAddress: string,
  forwardedFor: string | undefined,
  trusted: AddressMatcher | undefined,
): string {
  let client = parseAddress(socketAddress);
  if (!client) return socketAddress;
  let end = forwardedFor === undefined ? 0 : forwardedFor.length;
  for (let hop = 0; hop < MOST_HOPS && forwardedFor && end > 0 && trusted?.has(client); hop += 1) {
    const comma = forwardedFor.lastIndexOf(',', end - 1);
    const vouched = parseHop(forwardedFor.slice(comma + 1, end));
    if (!vouched) break;
    client = vouched;
    end = comma;
  }
  return client.toString();
}

/** Reads the forms that proxies write: `1.2.3.4`, `::1`, and with a port `1.2.3.4:5678` or `[::1]:5678`. */
function parseHop(entry: string): ParsedAddress | undefined {
  const text = entry.trim();
  const bracketed = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(text);
  if (bracketed) return parseAddress(bracketed[1] ?? '');
  const withPort = /^([\d.]+):\d{1,5}$/.exec(text);
  return parseAddress(withPort?.[1] ?? text);
}

/** An address counts as a range of one. */
function parseRange(text: string): Range | undefined {
  const slash = text.indexOf('/');
  const address = strictAddress(slash < 0 ? text : text.slice(0, slash));
  if (!address) return undefined;
  const width = address.kind() === 'ipv4' ? 32 : 128;
  const bits = slash < 0 ? width : prefixLength(text.slice(slash + 1), width);
  if (bits === undefined) return undefined;
  // A range wider than ::ffff:0:0/96 holds more than IPv4 addresses: its network is no mapped one, and it stays IPv6.
  const network = withoutMapping(networkOf(address, bits));
  return [network, network.kind() === address.kind() ? bits : bits - MAPPED_BITS];
}

function prefixLength(text: string, width: number): number | undefined {
  return /^(?:0|[1-9]\d{0,2})$/.test(text) && Number(text) <= width ? Number(text) : undefined;
}

function networkOf(address: ParsedAddress, bits: number): ParsedAddress {
  if (bits === (address instanceof ipaddr.IPv6 ? 128 : 32)) return address;
  return ipaddr.fromByteArray(
    address.toByteArray().map((byte, index) => {
      const hostBits = Math.min(8, Math.max(0, 8 * (index + 1) - bits));
      return byte & (0xff << hostBits);
    }),
  );
}

function withoutMapping(address: ParsedAddress): ParsedAddress {
  if (!(address instanceof ipaddr.IPv6)) return address;
  const { parts } = address;
  const isMapped = parts[5] === 0xffff && parts.every((part, index) => index > 4 || part === 0);
  return isMapped ? address.toIPv4Address() : address;
}

/**
 * The IPv4 address that an IPv6 address carries: 6to4, Teredo (the client behind it), NAT64 and IPv4-compatible
 * addresses; undefined for others.
 */
export function carriedIPv4(address: ParsedAddress): ParsedAddress | undefined {
  if (address instanceof ipaddr.IPv4) return undefined;
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = address.parts;
  const of = (high: number, low: number) => new ipaddr.IPv4([high >> 8, high & 255, low >> 8, low & 255]);
  if (a === 0x2002) return of(b, c);
  if (a === 0x2001 && b === 0) return of(g ^ 0xffff, h ^ 0xffff);
  // The well-known prefix, and the one for local use, of which operators take /96 too.
  if (a === 0x64 && b === 0xff9b && (c === 1 || (c | d | e | f) === 0)) return of(g, h);
  // `::` and `::1` carry none.
  return (a | b | c | d | e | f) === 0 && (g !== 0 || h > 1) ? of(g, h) : undefined;
}

const OCTET = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
const IPV4 = new RegExp(`^(?:${OCTET}\\.){3}${OCTET}$`);
/** One group of an IPv6 address. */
const GROUP = /^[0-9a-f]{1,4}$/i;

/**
 * Accepts only the forms of RFC 4291 and dotted decimal. ipaddr.js alone accepts addresses that a firewall would read
 * differently: `010.0.0.1` as octal, `0x7f.1`, a bare number, and `::1.2.3.4` as a mapped address.
 */
function strictAddress(text: string): ParsedAddress | undefined {
  if (text.length > LONGEST_ADDRESS) return undefined;
  if (IPV4.test(text)) return ipaddr.IPv4.parse(text);
  const groups = groupsIn(withHexTail(text));
  return groups && new ipaddr.IPv6(groups);
}

/**
 * The eight groups of an IPv6 address; undefined for other text. ipaddr.js takes 5 µs to check and parse one, or 5 ms
 * for a key with a full list.
 */
function groupsIn(text: string): number[] | undefined {
  const gap = text.indexOf('::');
  const head = gap < 0 ? text.split(':') : gap === 0 ? [] : text.slice(0, gap).split(':');
  const tail = gap < 0 || gap === text.length - 2 ? [] : text.slice(gap + 2).split(':');
  const missing = 8 - head.length - tail.length;
  // A gap stands for one group at least; a text without it has all eight.
  if (gap < 0 ? missing !== 0 : missing < 1) return undefined;
  const groups: number[] = [];
  for (const group of head) groups.push(GROUP.test(group) ? Number.parseInt(group, 16) : Number.NaN);
  for (let zero = 0; zero < missing; zero++) groups.push(0);
  for (const group of tail) groups.push(GROUP.test(group) ? Number.parseInt(group, 16) : Number.NaN);
  return groups.some(Number.isNaN) ? undefined : groups;
}

/** `::ffff:1.2.3.4` → `::ffff:102:304`; other text is returned unchanged. */
function withHexTail(text: string): string {
  const tailAt = text.lastIndexOf(':') + 1;
  const tail = text.slice(tailAt);
  if (tailAt === 0 || !IPV4.test(tail)) return text;
  const [a = 0, b = 0, c = 0, d = 0] = ipaddr.IPv4.parse(tail).octets;
  return `${text.slice(0, tailAt)}${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
}
