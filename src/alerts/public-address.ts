import { BlockList, isIP } from 'node:net';

/**
 * IPv4 ranges that are not public: those of IANA's special-purpose registry (RFC 6890), and 168.63.129.16. They are
 * checked with Node's own parser and lists and not with ipaddr.js, which calls 168.63.129.16 unicast and reads
 * `::8.8.8.8` as if it were `::ffff:8.8.8.8`.
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

/**
 * Ranges in which public addresses lie. Of IPv6, only 2000::/3 is global unicast (RFC 4291, section 2.4); that alone
 * leaves out loopback, unspecified, `::a.b.c.d`, NAT64 (64:ff9b::/96, 64:ff9b:1::/48), discard (100::/64), unique
 * local, link-local, site-local and multicast.
 */
const GLOBAL_UNICAST = ['0.0.0.0/0', '2000::/3'];

const NOT_PUBLIC_IPV6 = [
  '2001::/23', // protocol assignments: Teredo, benchmarking, AMT, AS112, ORCHID
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4: carries any IPv4 address, private ones too
  '2620:4f:8000::/48', // AS112
  '3ffe::/16', // 6bone, given back
  '3fff::/20', // documentation
];

const globalUnicast = listOf(GLOBAL_UNICAST);
const notPublic = listOf([...NOT_PUBLIC_IPV4, ...NOT_PUBLIC_IPV6]);

/**
 * True if the address (IPv4 in four decimal parts, or IPv6, as DNS and sockets spell them) belongs to the public
 * internet. An IPv4-mapped IPv6 address is checked as its IPv4 address. Text that is no address is not public.
 */
export function isPublicAddress(text: string): boolean {
  // A zone (`%eth0`) only makes sense on a link.
  if (isIP(text) === 0 || text.includes('%')) return false;
  const family = familyOf(text);
  // Both lists compare an IPv4-mapped IPv6 address with their IPv4 ranges.
  return globalUnicast.check(text, family) && !notPublic.check(text, family);
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
