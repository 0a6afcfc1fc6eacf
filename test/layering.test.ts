import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { test } from 'tap';

/** Tiers of folders. A folder may import from itself and from the tiers above its own in this list. */
const TIERS: readonly (readonly string[])[] = [
  ['domain', 'entry.ts'],
  ['log', 'threads', 'shares'],
  ['config'],
  ['book', 'redis-server', 'metering'],
  ['ledger', 'alerts', 'people'],
  ['gateway'],
  ['api', 'dashboard'],
  // In this tier, so that nothing on the path of a request can import the demo.
  ['observability', 'demo'],
  ['program'],
  ['main.ts'],
  ['cli'],
  ['cli.ts', 'build.ts'],
];
/** Folder that runs before any dependencies are installed, and so imports none; nothing imports it. */
const BOOTSTRAP = 'bootstrap';
/** The only file that may import tsyringe. */
const CONTAINER = 'program/container.ts';
const ONLY_IN_CONTAINER = ['tsyringe', 'reflect-metadata'];
/** Folder that runs in browsers. It may import the domain's rules and nothing else, and uses the public API only. */
const BROWSER = 'dashboard';
/** Files with the shapes of the API's answers, of which the page may import the types. */
const VIEW = /^api\/[a-z]+\/[a-z-]+-view\.ts$/;
/** Matches imports that would let the domain do more than compute. */
const IO =
  /^(node:)?(fs|net|tls|http|https|http2|dns|dgram|child_process|worker_threads|sqlite)(\/|$)|^(fastify|ioredis|kysely|pg|undici)$/;

const IMPORT = /(?:^|[\s;}])(import type\b[^'"]*?|)(?:from|import)\s*\(?\s*['"]([^'"]+)['"]/g;

/** Violations of the rules, one a line. The files are given as path below src → source. */
function layeringFaults(files: ReadonlyMap<string, string>): string[] {
  const faults: string[] = [];
  for (const [path, source] of files) {
    if (unitOf(path) !== BOOTSTRAP && tierOf(path) === undefined) {
      faults.push(`${path}: ${unitOf(path)} has no place in the order of imports`);
    }
    for (const { specifier, isType } of importsOf(source)) {
      const fault = specifier.startsWith('.')
        ? faultOfFile(path, posix.join(posix.dirname(path), specifier), isType)
        : faultOfPackage(path, specifier);
      if (fault) faults.push(`${path}: ${fault}`);
    }
  }
  return faults;
}

/** Circles of imports, types included: each as the paths of its files in alphabetical order. */
function circlesOf(files: ReadonlyMap<string, string>): string[][] {
  const targets = new Map<string, string[]>();
  for (const [path, source] of files) {
    const found = importsOf(source)
      .filter(({ specifier }) => specifier.startsWith('.'))
      .map(({ specifier }) => posix.join(posix.dirname(path), specifier));
    targets.set(
      path,
      found.filter((target) => files.has(target)),
    );
  }
  return stronglyConnected(targets).filter((one) => one.length > 1);
}

/** Tarjan's strongly connected components. */
function stronglyConnected(targets: ReadonlyMap<string, readonly string[]>): string[][] {
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const open: string[] = [];
  const components: string[][] = [];
  const visit = (node: string): void => {
    order.set(node, order.size);
    lowest.set(node, order.size - 1);
    open.push(node);
    for (const target of targets.get(node) ?? []) {
      if (!order.has(target)) visit(target);
      if (!open.includes(target)) continue;
      lowest.set(node, Math.min(lowest.get(node) as number, lowest.get(target) as number));
    }
    if (lowest.get(node) === order.get(node)) components.push(open.splice(open.indexOf(node)).sort());
  };
  for (const node of targets.keys()) if (!order.has(node)) visit(node);
  return components;
}

function importsOf(source: string): { specifier: string; isType: boolean }[] {
  return [...source.matchAll(IMPORT)].map(([, type = '', specifier = '']) => ({
    specifier,
    isType: type !== '',
  }));
}

function faultOfFile(path: string, target: string, isType: boolean): string | undefined {
  // The only file outside src is package.json, for the version.
  if (target.startsWith('../'))
    return target.endsWith('.json') ? undefined : `must not import ${target}, outside src`;
  const [from, to] = [unitOf(path), unitOf(target)];
  if (from === to) return undefined;
  if (from === BOOTSTRAP || to === BOOTSTRAP) return `must not import ${target}: the bootstrap stands alone`;
  if (from === BROWSER) {
    const mayImport = to === 'domain' || (isType && VIEW.test(target));
    return mayImport ? undefined : `must not import ${target}: the dashboard knows the domain only`;
  }
  const [fromTier = -1, toTier = -1] = [tierOf(path), tierOf(target)];
  return toTier < fromTier ? undefined : `must not import ${target}, which is not below it`;
}

function faultOfPackage(path: string, name: string): string | undefined {
  if (unitOf(path) === BOOTSTRAP && !name.startsWith('node:'))
    return `must not import ${name}: nothing is installed yet`;
  if (unitOf(path) === 'domain' && IO.test(name)) return `must not import ${name}: the domain does no I/O`;
  if (ONLY_IN_CONTAINER.includes(name) && path !== CONTAINER)
    return `must not import ${name}: only ${CONTAINER} does`;
  return undefined;
}

/** The folder directly below src, or the file where it lies there itself. */
function unitOf(path: string): string {
  const [first = ''] = path.split('/');
  return first === 'bootstrap.mjs' ? BOOTSTRAP : first;
}

/** Index of the tier of a path; undefined if its folder is not in the list. */
function tierOf(path: string): number | undefined {
  const tier = TIERS.findIndex((units) => units.includes(unitOf(path)));
  return tier === -1 ? undefined : tier;
}

const SRC = new URL('../src', import.meta.url).pathname;

const faultsOf = (files: Record<string, string>) => layeringFaults(new Map(Object.entries(files)));

/** Every file of src by its path below it. */
function sources(): Map<string, string> {
  const paths = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((path) =>
    /\.(ts|tsx|mjs)$/.test(path),
  );
  return new Map(paths.map((path) => [path, readFileSync(join(SRC, path), 'utf8')]));
}

test('imports in src go one way', async (t) => {
  const files = sources();
  t.ok(files.has('domain/credits.ts'), 'the files are found');
  t.ok(files.has('dashboard/page/main.tsx'), 'those of the page too');
  t.same(layeringFaults(files), []);
});

test('imports in src go in no circle, types included', async (t) => {
  t.same(circlesOf(sources()), []);
});

test('a circle of imports is found, also one of types and over several files', async (t) => {
  const circle = {
    'gateway/a.ts': "import type { B } from './b.ts';",
    'gateway/b.ts': "import { c } from '../metering/c.ts';",
    'metering/c.ts': "export { a } from '../gateway/a.ts';",
    'gateway/d.ts': "import { a } from './a.ts';",
  };
  t.same(circlesOf(new Map(Object.entries(circle))), [['gateway/a.ts', 'gateway/b.ts', 'metering/c.ts']]);
});

test('the root of src holds the entries only', async (t) => {
  const atRoot = [...sources().keys()].filter((path) => !path.includes('/'));
  t.same(atRoot.sort(), ['bootstrap.mjs', 'build.ts', 'cli.ts', 'entry.ts', 'main.ts']);
});

test('OpenTelemetry is loaded by nobody who does not trace', async (t) => {
  const files = [...sources()];
  const users = files.flatMap(([path, source]) => (source.includes("from '@opentelemetry/") ? [path] : []));
  t.same(users.sort(), ['observability/call-trace.ts', 'observability/tracing.ts']);
  const importers = files.flatMap(([path, source]) =>
    /^import (?!type).*from '\.\/(tracing|call-trace)\.ts'/m.test(source) ? [path] : [],
  );
  t.same(importers, ['observability/tracing.ts'], 'the program imports it when an endpoint is set');
});

test('packages for sign-in by a provider and for mail are loaded at their first use', async (t) => {
  const loaders = [...sources()].filter(([, source]) =>
    /^import (?!type).*from '(?:openid-client|nodemailer)'/m.test(source),
  );
  t.same(loaders, []);
});

test('an import of a higher tier is found, however it is written', async (t) => {
  for (const line of [
    "import { admit } from '../ledger/admit.ts';",
    "import type { Admit } from '../ledger/admit.ts';",
    "import '../ledger/admit.ts';",
    "export { admit } from '../ledger/admit.ts';",
    "const { admit } = await import('../ledger/admit.ts');",
    "import {\n  admit,\n} from '../ledger/admit.ts';",
  ]) {
    t.match(faultsOf({ 'domain/a.ts': line }), [/^domain\/a\.ts: must not import ledger\/admit\.ts/], line);
  }
});

test('an import of a lower tier, or within a folder, is none', async (t) => {
  t.same(
    faultsOf({
      'gateway/a.ts': "import { hold } from '../ledger/hold.ts';\nimport { b } from './meter/b.ts';",
      'main.ts': "import { serve } from './program/serve.ts';",
    }),
    [],
  );
});

test('neighbors do not import each other', async (t) => {
  t.equal(faultsOf({ 'alerts/a.ts': "import { hold } from '../ledger/hold.ts';" }).length, 1);
  t.equal(
    faultsOf({ 'observability/a.ts': "import { startDemoProvider } from '../demo/demo-provider.ts';" })
      .length,
    1,
  );
});

test('a program file is imported by program files only', async (t) => {
  t.equal(faultsOf({ 'gateway/a.ts': "import { serve } from '../program/serve.ts';" }).length, 1);
});

test('a folder without a place is found', async (t) => {
  t.match(faultsOf({ 'utils/a.ts': '' }), [/utils has no place/]);
});

test('dependency injection outside the container is found', async (t) => {
  t.match(faultsOf({ 'program/app.ts': "import { container } from 'tsyringe';" }), [
    /only program\/container\.ts/,
  ]);
  t.same(faultsOf({ 'program/container.ts': "import { container } from 'tsyringe';" }), []);
});

test('a dashboard that knows more than the domain is found', async (t) => {
  const page = 'dashboard/page/keys/keys.tsx';
  t.match(faultsOf({ [page]: "import { ENDPOINTS } from '../../../gateway/endpoints.ts';" }), [
    /domain only/,
  ]);
  t.same(faultsOf({ [page]: "import { normalizeRange } from '../../../domain/addresses.ts';" }), []);
});

test('I/O in the domain is found', async (t) => {
  t.match(faultsOf({ 'domain/a.ts': "import { readFileSync } from 'node:fs';" }), [/no I\/O/]);
  t.same(faultsOf({ 'domain/a.ts': "import { createHash } from 'node:crypto';" }), []);
});

test('a dependency of the bootstrap is found', async (t) => {
  t.match(faultsOf({ 'bootstrap/a.mjs': "import yaml from 'yaml';" }), [/nothing is installed yet/]);
  t.match(faultsOf({ 'bootstrap.mjs': "import { x } from './config/config.ts';" }), [/stands alone/]);
});

test('an import from outside src is found', async (t) => {
  t.match(
    faultsOf({ 'gateway/a.ts': "import { world } from '../../test/helper/start/gateway-in-process.ts';" }),
    [/outside src/],
  );
});
