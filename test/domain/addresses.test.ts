import { isIP } from 'node:net';
import { test } from 'tap';
import { compileRanges, normalizeRange, parseAddress } from '../../src/domain/addresses.ts';

const NORMALIZED: readonly [text: string, stored: string][] = [
  ['203.0.113.7', '203.0.113.7'],
  ['0.0.0.0', '0.0.0.0'],
  ['255.255.255.255', '255.255.255.255'],
  ['203.0.113.7/32', '203.0.113.7/32'],
  ['10.1.2.3/8', '10.0.0.0/8'],
  ['10.255.255.255/9', '10.128.0.0/9'],
  ['192.168.1.130/25', '192.168.1.128/25'],
  ['203.0.113.7/0', '0.0.0.0/0'],
  ['::', '::'],
  ['::1', '::1'],
  ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
  ['2001:db8::1/128', '2001:db8::1/128'],
  ['2001:db8:ffff:ffff::1/33', '2001:db8:8000::/33'],
  ['2001:db8::1/0', '::/0'],
  ['fe80::1/10', 'fe80::/10'],
  ['::ffff:1.2.3.4', '1.2.3.4'],
  ['::FFFF:102:304', '1.2.3.4'],
  ['0:0:0:0:0:ffff:1.2.3.4', '1.2.3.4'],
  ['::ffff:1.2.3.4/128', '1.2.3.4/32'],
  ['::ffff:1.2.3.4/120', '1.2.3.0/24'],
  ['::ffff:1.2.3.4/96', '0.0.0.0/0'],
  ['::ffff:1.2.3.4/95', '::fffe:0:0/95'],
  ['::ffff:0:0/80', '::/80'],
  ['64:ff9b::1.2.3.4', '64:ff9b::102:304'],
  ['::1.2.3.4', '::102:304'],
];

for (const [text, stored] of NORMALIZED) {
  test(`the range ${text} is stored as ${stored}`, async (t) => {
    t.equal(normalizeRange(text), stored);
    t.equal(normalizeRange(stored), stored, 'and stays so');
  });
}

const NO_RANGES = [
  '',
  '/',
  '/8',
  '10',
  '10.1',
  '10.1.2',
  '10.1.2.3.4',
  '10.1.2.256',
  '10.1.2.-1',
  '010.1.2.3',
  '10.1.2.03',
  '0x7f.0.0.1',
  '0x7f000001',
  '2130706433',
  '10.1.2.3 ',
  ' 10.1.2.3',
  '10.1.2.3\n',
  '10.1.2.3:80',
  '10.0.0.0/',
  '10.0.0.0/33',
  '10.0.0.0/-1',
  '10.0.0.0/08',
  '10.0.0.0/+8',
  '10.0.0.0/8.0',
  '10.0.0.0/255.0.0.0',
  '10.0.0.0/8/8',
  '10/8',
  '10.0.0.*',
  '10.0.0.1-10.0.0.9',
  '١٠.0.0.1',
  '::/129',
  '::ffff:1.2.3.4/129',
  ':',
  ':::',
  '1::2::3',
  '1:2:3:4:5:6:7',
  '1:2:3:4:5:6:7:',
  '1:2:3:4:5:6:7:8:9',
  ':1:2:3:4:5:6:7:8',
  '1::2:',
  '12345::',
  'g::1',
  '::ffff:010.0.0.1',
  '::ffff:0x7f.0.0.1',
  '::ffff:1.2.3',
  '::ffff:1.2.3.4.5',
  '::ffff:1.2.3.256',
  '[::1]',
  'fe80::1%eth0',
  'fe80::1%eth0/64',
  'fe80::/64%eth0',
  'localhost',
  'example.com',
  '1'.repeat(1_000_000),
  ':'.repeat(1_000_000),
  `10.0.0.0/${'1'.repeat(1_000_000)}`,
];

for (const text of NO_RANGES) {
  test(`${JSON.stringify(text.slice(0, 40))} is no address range`, async (t) => {
    t.equal(normalizeRange(text), undefined);
    t.throws(() => compileRanges([text]), RangeError);
  });
}

const ADDRESSES: readonly [text: string, compared: string][] = [
  ['203.0.113.7', '203.0.113.7'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['2001:db8::1', '2001:db8::1'],
  ['fe80::1%eth0', 'fe80::1'],
  ['::ffff:1.2.3.4%eth0', '1.2.3.4'],
];

for (const [text, compared] of ADDRESSES) {
  test(`the address ${text} is compared as ${compared}`, async (t) => {
    t.equal(parseAddress(text)?.toString(), compared);
  });
}

for (const text of [
  '',
  '%',
  '1.2.3.4%eth0',
  '10.0.0.0/8',
  '[::1]',
  '010.0.0.1',
  'unknown',
  'ü',
  '::1'.repeat(9_999),
]) {
  test(`${JSON.stringify(text.slice(0, 40))} is no address`, async (t) => {
    t.equal(parseAddress(text), undefined);
  });
}

test('texts near to addresses are read as Node reads them', async (t) => {
  const parts = ['', '0', '1', '01', '255', '256', 'ffff', '::', ':', '.', '1.2.3.4', '12345', 'g'];
  const differing: string[] = [];
  for (const a of parts) {
    for (const b of parts) {
      for (const c of parts) {
        for (const d of parts) {
          for (const text of [a + b + c + d, [a, b, c, d].join(':'), [a, b, c, d].join('.')]) {
            if ((parseAddress(text) !== undefined) !== isIP(text) > 0) differing.push(text);
          }
        }
      }
    }
  }
  t.same(differing, []);
});

const MATCHES: readonly [ranges: string[], address: string, inside: boolean][] = [
  [[], '1.2.3.4', false],
  [['1.2.3.4'], '1.2.3.4', true],
  [['1.2.3.4'], '1.2.3.5', false],
  [['1.2.3.4'], '::ffff:1.2.3.4', true],
  [['::ffff:1.2.3.4'], '1.2.3.4', true],
  [['::ffff:1.2.3.0/120'], '1.2.3.200', true],
  [['::ffff:1.2.3.0/120'], '1.2.4.0', false],
  [['10.0.0.0/8'], '10.255.255.255', true],
  [['10.0.0.0/8'], '11.0.0.0', false],
  [['10.1.2.3/8'], '10.200.0.1', true],
  [['192.168.1.128/25'], '192.168.1.127', false],
  [['128.0.0.0/1'], '255.255.255.255', true],
  [['128.0.0.0/1'], '127.255.255.255', false],
  [['0.0.0.0/1'], '127.255.255.255', true],
  [['255.255.255.255'], '255.255.255.255', true],
  [['255.255.255.255'], '127.255.255.255', false],
  [['0.0.0.0'], '128.0.0.0', false],
  [['203.0.113.6/31'], '203.0.113.7', true],
  [['203.0.113.6/31'], '203.0.113.8', false],
  [['192.168.1.128/25'], '192.168.1.128', true],
  [['0.0.0.0/0'], '203.0.113.7', true],
  [['0.0.0.0/0'], '2001:db8::1', false],
  [['::/0'], '2001:db8::1', true],
  [['::/0'], '203.0.113.7', false],
  [['::1.2.3.4'], '1.2.3.4', false],
  [['2001:db8::/32'], '2001:db8:ffff::1', true],
  [['2001:db8::/32'], '2001:db9::', false],
  [['2001:db8::/33'], '2001:db8:8000::', false],
  [['fe80::/10'], 'fe80::1%eth0', true],
  [['2001:db8::/32', '10.0.0.0/8'], '10.1.1.1', true],
  [['10.0.0.0/8', '2001:db8::/32'], '2001:db8::1', true],
  [['10.0.0.0/8', '2001:db8::/32'], '2001:db7::1', false],
];

for (const [ranges, text, inside] of MATCHES) {
  test(`${text} is ${inside ? '' : 'not '}in [${ranges.join(', ')}]`, async (t) => {
    const address = parseAddress(text);
    t.equal(address && compileRanges(ranges).has(address), inside);
  });
}

test('ranges of every length contain the addresses with their network bits', async (t) => {
  const bitsOf = (text: string) =>
    text
      .split('.')
      .map((octet) => Number(octet).toString(2).padStart(8, '0'))
      .join('');
  const wrong: string[] = [];
  const texts = ['0.0.0.0', '203.0.113.7', '203.0.113.8', '127.255.255.255', '128.0.0.0', '255.255.255.255'];
  for (const network of texts) {
    for (let bits = 0; bits <= 32; bits++) {
      const ranges = compileRanges(['2001:db8::/32', `${network}/${bits}`]);
      for (const text of texts) {
        const address = parseAddress(text);
        const inside = bitsOf(text).slice(0, bits) === bitsOf(network).slice(0, bits);
        if (!address || ranges.has(address) !== inside) wrong.push(`${text} in ${network}/${bits}`);
      }
    }
  }
  t.same(wrong, []);
});
