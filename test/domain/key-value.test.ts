import { createHash } from 'node:crypto';
import { test } from 'tap';
import { hashKey, isWellFormed, newKeyValue } from '../../src/domain/key-value.ts';

const PREFIX = 'sk-tg-';
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

test('a new key is its prefix, 32 random characters and a checksum', async (t) => {
  const { value } = newKeyValue(PREFIX);
  t.match(value, /^sk-tg-[0-9A-Za-z]{38}$/);
});

test('a key shows its prefix and four characters of itself', async (t) => {
  const { value, prefix } = newKeyValue(PREFIX);
  t.equal(prefix, value.slice(0, PREFIX.length + 4));
});

test('the hash of a key is the SHA-256 of its value in hex', async (t) => {
  const { value, hash } = newKeyValue(PREFIX);
  t.equal(hash, createHash('sha256').update(value).digest('hex'));
  t.equal(hash, hashKey(value));
});

test('new keys are well-formed and differ', async (t) => {
  const values = Array.from({ length: 1_000 }, () => newKeyValue(PREFIX).value);
  t.equal(new Set(values).size, values.length);
  t.ok(values.every((value) => isWellFormed(value, PREFIX)));
});

test('each character of the alphabet is drawn about as often', async (t) => {
  const counts = new Map<string, number>();
  const keys = 4_000;
  for (let made = 0; made < keys; made += 1) {
    for (const character of newKeyValue('').value.slice(0, 32)) {
      counts.set(character, (counts.get(character) ?? 0) + 1);
    }
  }
  t.equal([...counts.keys()].sort().join(''), [...ALPHABET].sort().join(''));
  // χ² with 61 degrees of freedom: above 150 by chance less than once in 10^9 runs; a remainder of a byte gives 700.
  const expected = (keys * 32) / 62;
  const chiSquared = [...counts.values()].reduce((sum, seen) => sum + (seen - expected) ** 2 / expected, 0);
  t.ok(chiSquared < 150, `χ² = ${chiSquared}`);
});

test('the checksum is as it ever was, so that keys handed out stay valid', async (t) => {
  t.ok(isWellFormed('sk-tg-0123456789ABCDEFGHIJKLMNOPQRSTUV2Zcutq', PREFIX));
});

test('a key with any one character changed is not well-formed', async (t) => {
  const { value } = newKeyValue(PREFIX);
  for (let at = 0; at < value.length; at += 1) {
    const other = value[at] === 'x' ? 'y' : 'x';
    t.notOk(isWellFormed(value.slice(0, at) + other + value.slice(at + 1), PREFIX), `character ${at}`);
  }
});

test('a key with two neighbors swapped is not well-formed', async (t) => {
  const { value } = newKeyValue(PREFIX);
  for (let at = 0; at + 1 < value.length; at += 1) {
    const swapped = value.slice(0, at) + value[at + 1] + value[at] + value.slice(at + 2);
    t.equal(isWellFormed(swapped, PREFIX), swapped === value, `characters ${at} and ${at + 1}`);
  }
});

test('a key of another prefix is not well-formed', async (t) => {
  t.notOk(isWellFormed(newKeyValue('sk-xx-').value, PREFIX));
  t.notOk(isWellFormed(newKeyValue('sk-tgg').value, PREFIX));
  t.ok(isWellFormed(newKeyValue('').value, ''));
});

test('nothing else is well-formed, and nothing throws', async (t) => {
  const { value } = newKeyValue(PREFIX);
  const hostile: unknown[] = [
    undefined,
    null,
    0,
    {},
    [value],
    Object(value),
    Symbol('key'),
    '',
    PREFIX,
    value.slice(0, -1),
    `${value}0`,
    ` ${value}`,
    `${value}\n`,
    value.toUpperCase() === value ? value.toLowerCase() : value.toUpperCase(),
    `${PREFIX}${'\u0000'.repeat(38)}`,
    `${PREFIX}${'é'.repeat(38)}`,
    `${PREFIX}${'\ud800'.repeat(38)}`,
    `${PREFIX}${'0'.repeat(38)}`,
    'x'.repeat(10_000_000),
  ];
  for (const [index, text] of hostile.entries()) t.equal(isWellFormed(text, PREFIX), false, `case ${index}`);
});
