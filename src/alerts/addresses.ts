import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { BlockList, isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { carriedIPv4, parseAddress } from '../domain/addresses.ts';

/** Resolver of a host name to all of its addresses. Rejects if there are none, or once `signal` aborts. */
export type Resolve = (hostname: string, signal: AbortSignal) => Promise<LookupAddress[]>;

/**
 * Resolves a name as the system does, by the hosts file and then by DNS with its search domains, but without
 * `dns.lookup`, which occupies one of the process' four pool threads until it has an answer. Upstream connections need
 * those threads too, so a few webhooks whose name server never answers would delay calls.
 */
export async function resolveAddresses(hostname: string, signal: AbortSignal): Promise<LookupAddress[]> {
  const name = hostname.toLowerCase().replace(/\.$/, '');
  const local = await inHostsFile(name);
  if (local.length > 0) return local;
  // Name servers must not be asked for localhost (RFC 6761, section 6.3).
  if (name === 'localhost' || name.endsWith('.localhost')) {
    return [
      { address: '127.0.0.1', family: 4 },
      { address: '::1', family: 6 },
    ];
  }
  const isWhole = hostname.endsWith('.');
  const names = isWhole ? [name] : fullNames(name, await textOf('/etc/resolv.conf'));
  let failure: unknown;
  for (const full of names) {
    try {
      return await inDns(full, signal);
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

/** Search domains that resolvers take (resolv.conf(5)). */
const MAX_DOMAINS = 6;

/** The names that a system asks for, in its order, by the text of its resolv.conf(5). */
export function fullNames(name: string, resolvConf: string): string[] {
  const lines = resolvConf.split('\n').map((line) =>
    line
      .replace(/[#;].*/, '')
      .trim()
      .split(/\s+/),
  );
  const [, ...domains] = lines.findLast(([first]) => first === 'search' || first === 'domain') ?? [];
  const ndots = lines.flat().findLast((word) => word.startsWith('ndots:'));
  const found = domains.slice(0, MAX_DOMAINS).map((domain) => `${name}.${domain.replace(/\.$/, '')}`);
  const isShort = name.split('.').length - 1 < Number(ndots?.slice('ndots:'.length) ?? 1);
  return isShort ? [...found, name] : [name, ...found];
}

async function textOf(file: string): Promise<string> {
  return await readFile(file, 'utf8').catch(() => '');
}

async function inDns(name: string, signal: AbortSignal): Promise<LookupAddress[]> {
  signal.throwIfAborted();
  const resolver = new Resolver();
  const cancel = () => resolver.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const found = [
      ...(v4.status === 'fulfilled' ? v4.value : []).map((address) => ({ address, family: 4 })),
      ...(v6.status === 'fulfilled' ? v6.value : []).map((address) => ({ address, family: 6 })),
    ];
    if (found.length === 0) throw v4.status === 'rejected' ? v4.reason : new Error(`no address for ${name}`);
    return found;
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

async function inHostsFile(name: string): Promise<LookupAddress[]> {
  const text = await textOf('/etc/hosts');
  return text.split('\n').flatMap((line) => {
    const [address, ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    if (!address || !names.some((other) => other.toLowerCase() === name)) return [];
    return [{ address, family: address.includes(':') ? 6 : 4 }];
  });
}

/**
 * IPv4 ranges that are not public: those of IANA's special-purpose registry (RFC 6890), and 168.63.129.16. Node's own
 * parser and lists check them, because ipaddr.js classifies 168.63.129.16 as unicast and reads `::8.8.8.8` as
 * `::ffff:8.8.8.8`.
 */
const NOT_PUBLIC_IPV4 = [
  '0.0.0.0/8', // this host; 0.0.0.0 connects to loopback
  '10.0.0.0/8', // private
  '100.64.0.0/10', // carrier-grade NAT; metadata of Alibaba Cloud
  '127.0.0.0/8', // loopback
  '168.63.129.16/32', // Azure's host, reachable from every virtual machine there
  '169.254.0.0/16', // link-local; metadata of most clouds
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments; metadata of Oracle Cloud
  '192.0.2.0/24', // documentation
  '192.31.196.0/24', // AS112
  '192.52.193.0/24', // multicast tunnels (AMT)
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16', // private
  '192.175.48.0/24', // AS112
  '198.18.0.0/15', // benchmarking
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved; 255.255.255.255 is broadcast
];

const NOT_PUBLIC_IPV6 = [
  '2001::/23', // protocol assignments: Teredo, benchmarking, AMT, AS112, ORCHID
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4: carries any IPv4 address, private ones too
  '2620:4f:8000::/48', // AS112
  '3ffe::/16', // 6bone, given back
  '3fff::/20', // documentation
];

/** Prefix of NAT64 (RFC 6052), by which networks without IPv4 reach IPv4 hosts. */
const NAT64 = '64:ff9b::/96';

/**
 * Ranges that contain the public addresses. In IPv6, only 2000::/3 is global unicast (RFC 4291, section 2.4); that
 * excludes loopback, unspecified, `::a.b.c.d`, NAT64 for local use (64:ff9b:1::/48), discard (100::/64), unique local,
 * link-local, site-local and multicast.
 */
const globalUnicast = listOf(['0.0.0.0/0', '2000::/3']);
const notPublic = listOf([...NOT_PUBLIC_IPV4, ...NOT_PUBLIC_IPV6]);

const nat64 = listOf([NAT64]);

/**
 * True if `text` is a public address that is not this machine's: IPv4 in four decimal parts, or IPv6, as DNS and
 * sockets spell them. An IPv4-mapped IPv6 address, or one of NAT64, counts as its IPv4 address.
 */
export function isPublicAddress(text: string, own: BlockList = new BlockList()): boolean {
  // A zone (`%eth0`) makes an address link-local.
  if (isIP(text) === 0 || text.includes('%')) return false;
  const family = familyOf(text);
  if (family === 'ipv6' && nat64.check(text, family)) {
    const address = parseAddress(text);
    const carried = address && carriedIPv4(address);
    return carried !== undefined && isPublicAddress(carried.toString(), own);
  }
  // All lists match an IPv4-mapped IPv6 address against their IPv4 ranges.
  return globalUnicast.check(text, family) && !notPublic.check(text, family) && !own.check(text, family);
}

/**
 * Addresses of this machine, as now: what listens behind its firewall is reached by its own public address too.
 */
export function ownAddresses(interfaces = networkInterfaces()): BlockList {
  const list = new BlockList();
  for (const { address } of Object.values(interfaces).flatMap((one) => one ?? [])) {
    list.addAddress(address, familyOf(address));
  }
  return list;
}

function listOf(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [network = '', prefix] = range.split('/');
    list.addSubnet(network, Number(prefix), familyOf(network));
  }
  return list;
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4';
}
