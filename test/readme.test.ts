import { existsSync, readFileSync } from 'node:fs';
import { test } from 'tap';
import { loadConfig } from '../src/config/load.ts';
import { Faults } from '../src/config/reader.ts';
import { configFile } from '../src/config/schema.ts';
import { ERRORS } from '../src/domain/errors.ts';
import { startGatewayInProcess } from './helper/gateway-in-process.ts';

/** The page that users read must not say anything else than the code does. */
const README = read('README.md');

function read(path: string): string {
  return readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
}

/** Cells of the tables below a heading, up to the next of the same level; without their header rows. */
function rowsUnder(heading: string): string[][] {
  const [, section = ''] = README.split(`\n## ${heading}\n`);
  const lines = (section.split('\n## ', 1)[0] ?? '').split('\n').filter((line) => line.startsWith('|'));
  return lines
    .filter((line, index) => !/^\|[-|]+$/.test(line) && !/^\|[-|]+$/.test(lines[index + 1] ?? ''))
    .map((line) => line.slice(1, -1).split('|').map(plain));
}

function plain(cell: string): string {
  return cell.trim().replace(/^`([^`]*)`$/, '$1');
}

test('every error code stands in the README with its status and type, and no other does', async (t) => {
  const told = rowsUnder('Errors').map(([code, status, type]) => `${code} ${status} ${type}`);
  const real = Object.entries(ERRORS).map(([code, [status, type]]) => `${code} ${status} ${type}`);
  t.same(told.sort(), real.sort());
});

test('every error code comes with what to do', async (t) => {
  t.same(
    rowsUnder('Errors').filter(([, , , advice]) => !advice),
    [],
  );
});

test('every environment variable stands in the README, and no other does', async (t) => {
  const folder = t.testdir({ 'gateway.yaml': 'upstreams: {}\nmodels: {}\n' });
  const asked: string[] = [];
  const env = new Proxy<NodeJS.ProcessEnv>(
    {},
    {
      get(_, name) {
        asked.push(String(name));
        return name === 'TOLLGATE_CONFIG' ? `${folder}/gateway.yaml` : undefined;
      },
    },
  );
  loadConfig({ env });
  // The program itself reads more.
  for (const [, name = ''] of read('src/program/gateway-process.ts').matchAll(/process\.env\.(\w+)/g))
    asked.push(name);
  const told = rowsUnder('Configuration').flatMap(([name = '']) => (/^[A-Z_]+$/.test(name) ? [name] : []));
  t.same(told.sort(), [...new Set(asked)].sort());
});

/** The settings of a config file that sets nothing, with their defaults as the README writes them. */
function defaults(): string[] {
  const nothing = new Map([
    ['upstreams', new Map()],
    ['models', new Map()],
  ]);
  const sections = Object.entries(configFile(nothing, '', new Faults()) ?? {});
  return sections
    .filter(([, settings]) => !(settings instanceof Map))
    .flatMap(([section, settings]) =>
      Object.entries(settings).map(([key, value]) => `${section}.${key} = ${shown(value)}`),
    );
}

function shown(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

test('every setting with a default stands in the README with that default, and no other does', async (t) => {
  const told = rowsUnder('Configuration')
    .filter(([key = '']) => /^[a-z]+\.\w+$/.test(key))
    .map(([key, value]) => `${key} = ${value}`);
  t.ok(told.length > 5, 'the table is found');
  t.same(told.sort(), defaults().sort());
});

/** What the reader of the config file itself says is known at the path, when it finds something that is not. */
function knownSettings(at: readonly string[]): string[] {
  const faults = new Faults();
  const strange: unknown = at.reduceRight<unknown>(
    (inner, key) => new Map([[key, inner]]),
    new Map([['?', 1]]),
  );
  configFile(strange, '', faults);
  const line = faults.lines.find((text) => text.startsWith(`${at.join('.')}.?: `)) ?? '';
  return line.split('known here: ')[1]?.split(', ') ?? [];
}

test('every setting of upstreams, models and prices stands in the README, and no other does', async (t) => {
  const model = knownSettings(['models', '<slug>']).filter((key) => key !== 'price');
  const real = [
    ...knownSettings(['upstreams', '<name>']).map((key) => `upstreams.<name>.${key}`),
    ...model.map((key) => `models.<slug>.${key}`),
    ...knownSettings(['models', '<slug>', 'price']).map((key) => `models.<slug>.price.${key}`),
  ];
  t.ok(real.length > 10, 'the settings are found');
  const told = rowsUnder('Configuration').flatMap(([key = '']) => (key.includes('<') ? [key] : []));
  t.same(told.sort(), real.sort());
});

test('every route stands in the README, and no other does', async (t) => {
  const { url } = await startGatewayInProcess(t);
  const { paths } = (await (await fetch(`${url}/openapi.json`)).json()) as { paths: Record<string, object> };
  const described = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  // The description does not describe itself, nor what is made for people.
  const real = [...described, 'GET /openapi.json', 'GET /docs', 'GET /', 'GET /dashboard/'];
  const told = rowsUnder('Routes').map(([route]) => route);
  t.same(told.sort(), real.filter((route) => !route.startsWith('HEAD ')).sort());
});

test('every metric stands in the README, and no other does', async (t) => {
  const { url } = await startGatewayInProcess(t);
  const page = await (await fetch(`${url}/metrics`)).text();
  const real = [...page.matchAll(/^# TYPE (tollgate_\w+) /gm)].map(([, name = '']) => name);
  t.ok(real.length > 10, 'the metrics are found');
  const told = rowsUnder('For the operator').flatMap(([name = '']) =>
    name.startsWith('tollgate_') ? [name] : [],
  );
  t.same(told.sort(), real.sort());
});

test('files that the README links to, and headings, exist', async (t) => {
  const links = /\]\(([^)]+)\)|\bsrc(?:set)?="([^"]+)"/g;
  const targets = [...README.matchAll(links)].map(([, link, picture]) => link ?? picture ?? '');
  const headings = [...README.matchAll(/^#+ (.+)$/gm)].map(
    ([, heading = '']) =>
      `#${heading
        .toLowerCase()
        .replaceAll(' ', '-')
        .replaceAll(/[^a-z-]/g, '')}`,
  );
  t.ok(targets.length > 10, 'the links are found');
  for (const target of targets.filter((text) => !text.startsWith('https://'))) {
    const exists = target.startsWith('#')
      ? headings.includes(target)
      : existsSync(new URL(`../${target}`, import.meta.url));
    t.ok(exists, target);
  }
});

test('npm scripts that the README names exist', async (t) => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  const named = [...README.matchAll(/npm (?:run (\w+)|(start|test)\b)/g)].map(([, a, b]) => a ?? b ?? '');
  t.ok(named.length > 5, 'the scripts are found');
  t.same(
    named.filter((name) => !Object.hasOwn(scripts, name)),
    [],
  );
});
