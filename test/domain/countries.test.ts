import { test } from 'tap';
import { normalizeCountry } from '../../src/domain/countries.ts';

for (const [code, stored] of [
  ['DE', 'DE'],
  ['de', 'DE'],
  ['dE', 'DE'],
  ['GB', 'GB'],
  ['us', 'US'],
  ['TW', 'TW'],
  ['ax', 'AX'],
] as const) {
  test(`${code} is the country ${stored}`, async (t) => {
    t.equal(normalizeCountry(code), stored);
  });
}

for (const code of [
  '',
  'D',
  'DEU',
  '276',
  'ZZ',
  'XX',
  'UK',
  'EU',
  ' DE',
  'DE\n',
  'ß',
  'ﬀ',
  'ıs',
  'ＤＥ',
  '__proto__',
  'constructor',
  'DE'.repeat(1_000_000),
]) {
  test(`${JSON.stringify(code.slice(0, 20))} is no known country`, async (t) => {
    t.equal(normalizeCountry(code), undefined);
  });
}
