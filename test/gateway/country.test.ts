import { execFile } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { type Test, test } from 'tap';
import { parseAddress } from '../../src/domain/addresses.ts';
import { CountryLookup } from '../../src/gateway/country.ts';

const FILES = ['geoip-country.dat', 'geoip-country6.dat'];
const DATA = join(dirname(createRequire(import.meta.url).resolve('geoip-lite')), '../data');

function makeFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-country-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function startLookup(t: Test) {
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const countries = new CountryLookup({ log, linkFolder: join(makeFolder(t), 'countries') });
  return (text: string) => {
    const address = parseAddress(text);
    return address && countries.countryOf(address);
  };
}

/**
 * The JSON that a script prints in its own process, because the data is loaded once a process. The script can use
 * `countries`, `countryOf(text)`, `errors` (what was logged) and `isLoaded()`.
 */
async function runInProcess(
  linkFolder: string,
  script: string,
  env: NodeJS.ProcessEnv = {},
): Promise<Record<string, unknown>> {
  const source = (path: string) => JSON.stringify(new URL(`../../src/${path}`, import.meta.url).href);
  const setUp = `
    import { createRequire } from 'node:module';
    import { CountryLookup } from ${source('gateway/country.ts')};
    import { parseAddress } from ${source('domain/addresses.ts')};
    const errors = [];
    const log = { debug() {}, info() {}, warn() {}, error: (_, message) => errors.push(message) };
    const countries = new CountryLookup({ log, linkFolder: ${JSON.stringify(linkFolder)} });
    const countryOf = (text) => countries.countryOf(parseAddress(text));
    const codeOf = (text) => { try { return countryOf(text); } catch (error) { return error.code; } };
    const isLoaded = () => Object.keys(createRequire(${source('gateway/country.ts')}).cache)
      .some((path) => path.includes('geoip-lite/lib/geoip'));
    const told = {};`;
  const args = ['--input-type=module', '-e', `${setUp}\n${script}\nconsole.log(JSON.stringify(told));`];
  const run = promisify(execFile)(process.execPath, args, { env: { ...process.env, ...env } });
  return JSON.parse((await run).stdout) as Record<string, unknown>;
}

test('addresses are found in their country, IPv4 and IPv6', async (t) => {
  const countryOf = startLookup(t);
  t.equal(countryOf('8.8.8.8'), 'US');
  t.equal(countryOf('2001:4860:4860::8888'), 'US');
  t.equal(countryOf('193.0.6.139'), 'NL');
});

test('every spelling of an address is the same address', async (t) => {
  const countryOf = startLookup(t);
  t.equal(countryOf('::ffff:8.8.8.8'), 'US');
  // 6to4, NAT64, NAT64 for local use, Teredo and IPv4-compatible forms of 95.163.0.1.
  const carriers = [
    '2002:5fa3:1::1',
    '64:ff9b::5fa3:1',
    '64:ff9b:1::5fa3:1',
    '2001:0:808:808::a05c:fffe',
    '::5fa3:1',
  ];
  for (const address of carriers) t.equal(countryOf(address), 'RU', address);
  t.equal(countryOf('::ffff:808:808'), 'US');
  t.equal(countryOf('2001:4860:4860:0:0:0:0:8888'), 'US');
  t.equal(countryOf('2001:4860:4860::8888%eth0'), 'US');
});

test('an address without a country has none', async (t) => {
  const countryOf = startLookup(t);
  for (const address of ['10.0.0.1', '127.0.0.1', '::1', 'fd00::1', '240.0.0.1']) {
    t.equal(countryOf(address), undefined, address);
  }
});

test('the data is loaded at the first lookup, or when warming up, and not before', async (t) => {
  const folder = makeFolder(t);
  const byLookup = `told.before = isLoaded(); told.country = countryOf('8.8.8.8'); told.after = isLoaded();`;
  t.same(await runInProcess(folder, byLookup), { before: false, country: 'US', after: true });
  const byWarmUp = `told.before = isLoaded(); countries.warmUp(); told.after = isLoaded();`;
  t.same(await runInProcess(folder, byWarmUp), { before: false, after: true });
});

test('the country files alone are loaded, through links that stay for the next start', async (t) => {
  const folder = join(makeFolder(t), 'countries');
  const script = `
    countryOf('8.8.8.8');
    told.city = createRequire(import.meta.url)(${JSON.stringify(join(DATA, '../lib/geoip.js'))}).lookup('8.8.8.8').timezone;`;
  for (const start of ['first', 'second']) {
    t.same(await runInProcess(folder, script), { city: '' }, start);
    t.same(readdirSync(folder).sort(), FILES);
    for (const file of FILES) t.equal(readlinkSync(join(folder, file)), join(DATA, file));
  }
});

test('links to where the package was before are set right', async (t) => {
  const folder = makeFolder(t);
  for (const file of FILES) symlinkSync(join('/nowhere', file), join(folder, file));
  t.same(await runInProcess(folder, `told.country = countryOf('8.8.8.8');`), { country: 'US' });
  t.same(readdirSync(folder).sort(), FILES);
});

test('where no links can be made the data is loaded without them', async (t) => {
  const file = join(makeFolder(t), 'file');
  writeFileSync(file, '');
  const script = `told.country = countryOf('8.8.8.8'); told.errors = errors.length;`;
  t.same(await runInProcess(join(file, 'countries'), script), { country: 'US', errors: 0 });
});

test('data that cannot be loaded is an error and a log line, without an immediate retry', async (t) => {
  const folder = makeFolder(t);
  const data = join(folder, 'data');
  const script = `
    countries.warmUp();
    told.warm = errors.length;
    told.codes = [codeOf('8.8.8.8'), codeOf('8.8.8.8')];
    told.errors = errors.length;
    const { cpSync } = await import('node:fs');
    cpSync(${JSON.stringify(DATA)}, ${JSON.stringify(data)}, { recursive: true, filter: (path) => !path.includes('city') });
    const now = performance.now.bind(performance);
    performance.now = () => now() + 60_000;
    told.later = countryOf('8.8.8.8');`;
  t.notOk(existsSync(data));
  mkdirSync(join(folder, 'links'));
  t.same(await runInProcess(join(folder, 'links'), script, { GEODATADIR: data }), {
    warm: 1,
    codes: ['ENOENT', 'ENOENT'],
    errors: 1,
    later: 'US',
  });
});

test('loaded data keeps no process alive', async (t) => {
  t.same(await runInProcess(makeFolder(t), `countries.warmUp(); told.done = true;`), { done: true });
});
