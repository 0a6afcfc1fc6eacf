import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import { test } from 'tap';
import type { Resolve } from '../../src/alerts/addresses.ts';
import { type Post, send } from '../../src/alerts/send.ts';

const post: Omit<Post, 'url'> = {
  headers: {},
  body: '{}',
  timeoutMs: 10_000,
  allowPrivateNetworks: false,
  signal: new AbortController().signal,
};

/** Addresses that an attacker wants to reach: this machine, its network, and the metadata services of clouds. */
const TARGETS = {
  loopback: '127.0.0.1',
  unspecified: '0.0.0.0',
  'a private network': '10.1.2.3',
  'another private network': '172.16.0.1',
  'a home network': '192.168.0.1',
  'the metadata of most clouds': '169.254.169.254',
  'the metadata of Alibaba Cloud': '100.100.100.200',
  'the metadata of Oracle Cloud': '192.0.0.192',
  "Azure's host": '168.63.129.16',
  broadcast: '255.255.255.255',
  multicast: '224.0.0.1',
};

/** Spellings that a URL parser, a resolver or a translating router reads as the IPv4 address. */
function spellingsOf(address: string): Record<string, string> {
  const bytes = address.split('.').map(Number);
  const [a = 0, b = 0, c = 0, d = 0] = bytes;
  const whole = ((a * 256 + b) * 256 + c) * 256 + d;
  const hex = (value: number, digits = 2) => value.toString(16).padStart(digits, '0');
  const words = `${hex(a * 256 + b, 4)}:${hex(c * 256 + d, 4)}`;
  return {
    dotted: address,
    'with a final dot': `${address}.`,
    decimal: String(whole),
    hexadecimal: `0x${hex(whole, 8)}`,
    'hexadecimal in capitals': `0X${hex(whole, 8).toUpperCase()}`,
    octal: `0${whole.toString(8)}`,
    'octal with many zeros': `0000000${whole.toString(8)}`,
    'hexadecimal parts': bytes.map((byte) => `0x${hex(byte)}`).join('.'),
    'octal parts': bytes.map((byte) => `0${byte.toString(8)}`).join('.'),
    'mixed parts': `0x${hex(a)}.${b}.0${c.toString(8)}.${d}`,
    'two parts': `${a}.${(b * 256 + c) * 256 + d}`,
    'three parts': `${a}.${b}.${c * 256 + d}`,
    'percent-encoded': [...address].map((letter) => `%${hex(letter.charCodeAt(0))}`).join(''),
    'full-width digits': address.replace(/\d/g, (digit) => String.fromCharCode(0xff10 + Number(digit))),
    'ideographic dots': address.replaceAll('.', '。'),
    'IPv4-mapped': `[::ffff:${address}]`,
    'IPv4-mapped in words': `[::ffff:${words}]`,
    'IPv4-mapped at length': `[0:0:0:0:0:FFFF:${words}]`,
    'IPv4-compatible': `[::${address}]`,
    'IPv4-compatible in words': `[::${words}]`,
    'IPv4-translated': `[::ffff:0:${address}]`,
    NAT64: `[64:ff9b::${address}]`,
    'NAT64 in words': `[64:ff9b::${words}]`,
    'local NAT64': `[64:ff9b:1::${address}]`,
    '6to4': `[2002:${words}::]`,
    '6to4 with a host': `[2002:${words}::1]`,
    Teredo: `[2001:0:${words}::1]`,
  };
}

for (const [what, address] of Object.entries(TARGETS)) {
  test(`${what}, ${address}, is blocked however it is spelled`, async (t) => {
    for (const [spelling, host] of Object.entries(spellingsOf(address))) {
      for (const scheme of ['http', 'https']) {
        const result = await send({ ...post, url: `${scheme}://${host}:9/` });
        t.match(result, { status: 'blocked', httpStatus: null }, `${spelling}: ${host}`);
      }
    }
  });

  test(`a name that resolves to ${what}, ${address}, is blocked, as IPv4 and within IPv6`, async (t) => {
    const answers = Object.values(spellingsOf(address))
      .map((host) => host.replace(/^\[|\]$/g, ''))
      .filter((host) => isIP(host) !== 0);
    t.ok(answers.length > 8);
    for (const answer of answers) {
      const found: LookupAddress[] = [{ address: answer, family: isIP(answer) }];
      const resolve: Resolve = async () => found;
      t.match(await send({ ...post, url: 'http://receiver.test/' }, resolve), { status: 'blocked' }, answer);
    }
  });
}

test('special IPv6 addresses are blocked', async (t) => {
  for (const host of [
    '::1',
    '::',
    'fe80::1',
    'fec0::1',
    'fc00::1',
    'fd00:ec2::254',
    'ff02::1',
    '100::1',
    '2001:db8::1',
  ]) {
    t.match(await send({ ...post, url: `http://[${host}]:9/` }), { status: 'blocked' }, host);
  }
});

test('a URL without a host fails before any lookup', async (t) => {
  const resolve: Resolve = async (name) => {
    t.fail(`${name} was looked up`);
    return [];
  };
  for (const host of [
    '256.256.256.256',
    '1.2.3.4.5',
    '0x100000000',
    '[fe80::1%25eth0]',
    '[::1',
    'a b',
    '127.0.0.1:99999',
  ]) {
    t.match(await send({ ...post, url: `http://${host}/` }, resolve), { status: 'failed' }, host);
  }
});
