import { test } from 'tap';
import { clientAddress, compileRanges } from '../../src/domain/addresses.ts';

/** A proxy on the same machine, and a network of proxies. */
const TRUSTED = compileRanges(['127.0.0.1', '10.0.0.0/8', 'fd00::/8']);

const CLIENTS: readonly [what: string, socket: string, forwarded: string | undefined, client: string][] = [
  ['no header', '10.0.0.1', undefined, '10.0.0.1'],
  ['an empty header', '10.0.0.1', '', '10.0.0.1'],
  ['a trusted proxy names the client', '10.0.0.1', '203.0.113.7', '203.0.113.7'],
  ['an untrusted peer is the client, whatever it says', '198.51.100.1', '203.0.113.7', '198.51.100.1'],
  ['a client that forges an entry', '10.0.0.1', '127.0.0.1, 203.0.113.7', '203.0.113.7'],
  ['a client that forges a trusted proxy', '10.0.0.1', '1.1.1.1, 10.9.9.9, 203.0.113.7', '203.0.113.7'],
  ['two trusted proxies', '10.0.0.1', '203.0.113.7, 10.0.0.2', '203.0.113.7'],
  ['trusted proxies only', '10.0.0.1', '10.0.0.3,10.0.0.2', '10.0.0.3'],
  ['an entry that is no address', '10.0.0.1', '203.0.113.7, unknown', '10.0.0.1'],
  ['no address behind one proxy', '10.0.0.1', '203.0.113.7, garbage, 10.0.0.2', '10.0.0.2'],
  ['an obfuscated entry', '10.0.0.1', '_hidden', '10.0.0.1'],
  ['an octal entry', '10.0.0.1', '0313.0.0161.7', '10.0.0.1'],
  ['a CIDR range as entry', '10.0.0.1', '203.0.113.0/24', '10.0.0.1'],
  ['an empty entry', '10.0.0.1', '203.0.113.7,', '10.0.0.1'],
  ['a leading comma', '10.0.0.1', ',203.0.113.7', '203.0.113.7'],
  ['commas only', '10.0.0.1', ',,,', '10.0.0.1'],
  ['trusted, then an empty entry', '10.0.0.1', ',10.0.0.2', '10.0.0.2'],
  ['white space', '10.0.0.1', ' \t203.0.113.7 \t', '203.0.113.7'],
  ['an IPv4 entry with a port', '10.0.0.1', '203.0.113.7:5678', '203.0.113.7'],
  ['an IPv6 entry', '10.0.0.1', '2001:db8::1', '2001:db8::1'],
  ['an IPv6 entry in brackets', '10.0.0.1', '[2001:db8::1]', '2001:db8::1'],
  ['an IPv6 entry with a port', '10.0.0.1', '[2001:db8::1]:80', '2001:db8::1'],
  ['a bad port', '10.0.0.1', '203.0.113.7:http', '10.0.0.1'],
  ['a broken bracket', '10.0.0.1', '[2001:db8::1', '10.0.0.1'],
  ['a mapped socket of a trusted proxy', '::ffff:10.0.0.1', '::ffff:203.0.113.7', '203.0.113.7'],
  ['a mapped socket of a client', '::ffff:203.0.113.7', undefined, '203.0.113.7'],
  ['a zone id', 'fe80::1%eth0', undefined, 'fe80::1'],
  ['an IPv6 proxy', 'fd00::1', '203.0.113.7', '203.0.113.7'],
  ['an IPv6 address in long form', '2001:DB8:0:0::1', undefined, '2001:db8::1'],
];

for (const [what, socket, forwarded, client] of CLIENTS) {
  test(`client address: ${what}`, async (t) => {
    t.equal(clientAddress(socket, forwarded, TRUSTED), client);
  });
}

test('without trusted proxies the header counts for nothing', async (t) => {
  t.equal(clientAddress('127.0.0.1', '203.0.113.7', undefined), '127.0.0.1');
  t.equal(clientAddress('127.0.0.1', '203.0.113.7', compileRanges([])), '127.0.0.1');
});

test('a socket without an address is not trusted', async (t) => {
  t.equal(clientAddress('', '203.0.113.7', compileRanges(['0.0.0.0/0', '::/0'])), '');
});

test('of a huge header of trusted addresses, 32 hops are walked', async (t) => {
  const hops = Array.from({ length: 60_000 }, (_, n) => `10.1.${n >> 8}.${n & 255}`);
  t.equal(clientAddress('10.0.0.1', ['203.0.113.7', ...hops].join(), TRUSTED), hops.at(-32));
  t.equal(clientAddress('10.0.0.1', ['203.0.113.7', ...hops.slice(0, 31)].join(), TRUSTED), '203.0.113.7');
});

test('a huge entry is no address', async (t) => {
  t.equal(clientAddress('10.0.0.1', '1'.repeat(1_000_000), TRUSTED), '10.0.0.1');
  t.equal(clientAddress('10.0.0.1', `[${':'.repeat(1_000_000)}]`, TRUSTED), '10.0.0.1');
  t.equal(clientAddress('10.0.0.1', `203.0.113.7${' '.repeat(1_000_000)}`, TRUSTED), '203.0.113.7');
});
