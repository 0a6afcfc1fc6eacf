import { posix } from 'node:path';

/**
 * Imports go one way: a tier may import from those above it in this list, and a folder from itself. Files at the top of
 * src that are not named here are the program: they come last.
 */
const TIERS: readonly (readonly string[])[] = [
  ['domain'],
  ['config.ts', 'log.ts', 'request-log.ts', 'version.ts', 'make-folder.ts'],
  ['book'],
  ['ledger', 'alerts'],
  ['gateway'],
  ['api', 'dashboard'],
  ['pages.ts', 'pages-later.ts'],
  // Beside the app, so that nothing on the path of a request can know the demo.
  ['app.ts', 'readiness.ts', 'metrics.ts', 'workers-metrics.ts', 'gauges.ts', 'demo'],
  ['container.ts'],
];
const PROGRAM = TIERS.length;
/** The program too: what the commands of the command line do. */
const COMMANDS = 'cli';
/** Runs before there are any dependencies, so that it has none; nothing imports it. */
const BOOTSTRAP = 'bootstrap';
/** Dependency injection stays in one file. */
const ONLY_IN_CONTAINER = ['tsyringe', 'reflect-metadata'];
/** Runs in browsers, with the gateway's own rules and nothing else of it; it is reached by the public API only. */
const BROWSER = 'dashboard';
/** What would make the domain do more than compute. */
const IO =
  /^(node:)?(fs|net|tls|http|https|http2|dns|dgram|child_process|worker_threads|sqlite)(\/|$)|^(fastify|ioredis|kysely|pg|undici)$/;

const IMPORT = /(?:^|[\s;}])(?:from|import)\s*\(?\s*['"]([^'"]+)['"]/g;

/** What breaks the rules, one line each, in files given as path below src → source. */
export function layeringFaults(files: ReadonlyMap<string, string>): string[] {
  const faults: string[] = [];
  for (const [path, source] of files) {
    if (unitOf(path) !== BOOTSTRAP && tierOf(path) === undefined) {
      faults.push(`${path}: the folder ${unitOf(path)} has no place in the order of imports`);
    }
    for (const [, specifier = ''] of source.matchAll(IMPORT)) {
      const fault = specifier.startsWith('.')
        ? faultOfFile(path, posix.join(posix.dirname(path), specifier))
        : faultOfPackage(path, specifier);
      if (fault) faults.push(`${path}: ${fault}`);
    }
  }
  return faults;
}

function faultOfFile(path: string, target: string): string | undefined {
  // package.json, for the version.
  if (target.startsWith('../'))
    return target.endsWith('.json') ? undefined : `must not import ${target}, outside src`;
  const [from, to] = [unitOf(path), unitOf(target)];
  if (from === to) return undefined;
  if (from === BOOTSTRAP || to === BOOTSTRAP) return `must not import ${target}: the bootstrap stands alone`;
  if (from === BROWSER && to !== 'domain')
    return `must not import ${target}: the dashboard knows the domain only`;
  const [fromTier = -1, toTier = -1] = [tierOf(path), tierOf(target)];
  const isProgram = fromTier === PROGRAM && toTier === PROGRAM;
  const isShared = fromTier === toTier && fromTier === 1;
  return toTier < fromTier || isProgram || isShared
    ? undefined
    : `must not import ${target}, which is not below it`;
}

function faultOfPackage(path: string, name: string): string | undefined {
  if (unitOf(path) === BOOTSTRAP && !name.startsWith('node:'))
    return `must not import ${name}: nothing is installed yet`;
  if (unitOf(path) === 'domain' && IO.test(name)) return `must not import ${name}: the domain does no I/O`;
  if (ONLY_IN_CONTAINER.includes(name) && path !== 'container.ts')
    return `must not import ${name}: only container.ts does`;
  return undefined;
}

/** The folder directly below src, or the file where it lies there itself. */
function unitOf(path: string): string {
  const [first = ''] = path.split('/');
  return first === 'bootstrap.mjs' ? BOOTSTRAP : first;
}

/** Undefined: a folder that is not in the list. */
function tierOf(path: string): number | undefined {
  const unit = unitOf(path);
  const tier = TIERS.findIndex((units) => units.includes(unit));
  if (tier !== -1) return tier;
  return unit === path || unit === COMMANDS ? PROGRAM : undefined;
}
