import { test } from 'tap';
import { isPublicAddress, ownAddresses } from '../../src/alerts/addresses.ts';

const PUBLIC = [
  '8.8.8.8',
  '1.1.1.1',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.0',
  '169.253.255.255',
  '172.15.255.255',
  '172.32.0.0',
  '192.0.1.0',
  '198.17.255.255',
  '198.20.0.0',
  '223.255.255.255',
  '168.63.129.15',
  '2001:4860:4860::8888',
  '2606:4700:4700::1111',
  '2a00:1450:4001:81b::200e',
  '2001:200::1',
  '::ffff:8.8.8.8',
  '::ffff:808:808',
  '64:ff9b::808:808',
];

const NOT_PUBLIC = {
  loopback: ['127.0.0.1', '127.255.255.255', '::1'],
  unspecified: ['0.0.0.0', '0.1.2.3', '::'],
  private: ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1'],
  'carrier-grade NAT': ['100.64.0.1', '100.127.255.255', '100.100.100.200'],
  'link-local': ['169.254.169.254', 'fe80::1', 'febf::1', 'fe80::1%eth0'],
  'the Azure host': ['168.63.129.16'],
  'protocol assignments': ['192.0.0.1', '192.0.0.192', '2001:1::1'],
  documentation: ['192.0.2.1', '198.51.100.1', '203.0.113.255', '2001:db8::1', '3fff::1'],
  benchmarking: ['198.18.0.1', '198.19.255.255', '2001:2::1'],
  multicast: ['224.0.0.1', '239.255.255.255', 'ff02::1'],
  'reserved and broadcast': ['240.0.0.1', '255.255.255.255', '4000::1', '5f00::1', 'e000::1'],
  '6to4 and its relays': ['2002:7f00:1::', '2002:808:808::1', '192.88.99.1'],
  AS112: ['192.31.196.1', '192.175.48.1', '2001:4:112::1', '2620:4f:8000::1'],
  'multicast tunnels': ['192.52.193.1', '2001:3::1'],
  Teredo: ['2001::1', '2001:0:7f00:1::'],
  ORCHID: ['2001:10::1', '2001:20::1', '2001:30::1'],
  NAT64: ['64:ff9b::7f00:1', '64:ff9b::a00:1', '64:ff9b:1::808:808', '64:ff9b:1::1'],
  'stateless translation': ['::ffff:0:127.0.0.1', '::ffff:0:8.8.8.8'],
  discard: ['100::1'],
  'unique local': ['fc00::1', 'fd00:ec2::254'],
  'site-local': ['fec0::1'],
  '6bone': ['3ffe::1'],
  'IPv4-mapped': ['::ffff:127.0.0.1', '::ffff:7f00:1', '0:0:0:0:0:ffff:a00:1', '::FFFF:169.254.169.254'],
  'IPv4-compatible': ['::127.0.0.1', '::7f00:1', '::8.8.8.8'],
  'what is no address': ['', 'localhost', '127.1', '0x7f.1', '2130706433', '8.8.8', '[::1]', '8.8.8.8:80'],
};

test('addresses of the public internet are public, up to the edges of other ranges', async (t) => {
  for (const address of PUBLIC) t.equal(isPublicAddress(address), true, address);
});

for (const [kind, addresses] of Object.entries(NOT_PUBLIC)) {
  test(`not public: ${kind}`, async (t) => {
    for (const address of addresses) t.equal(isPublicAddress(address), false, address);
  });
}

test("the machine's own addresses are not public, in any spelling", async (t) => {
  const common = { netmask: '', mac: '', internal: false, cidr: null } as const;
  const own = ownAddresses({
    eth0: [
      { ...common, family: 'IPv4', address: '45.77.100.10' },
      { ...common, family: 'IPv6', address: '2a01:4f8:1:2::3', scopeid: 0 },
    ],
  });
  const spellings = [
    '45.77.100.10',
    '::ffff:45.77.100.10',
    '64:ff9b::2d4d:640a',
    '2a01:4f8:1:2::3',
    '2a01:4f8:1:2:0:0:0:3',
  ];
  for (const address of spellings) {
    t.equal(isPublicAddress(address), true, address);
    t.equal(isPublicAddress(address, own), false, address);
  }
  t.equal(isPublicAddress('45.77.100.11', own), true);
});
