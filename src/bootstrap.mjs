/**
 * The program of every npm script: `node src/bootstrap.mjs <verb> [arguments]`. It first provides what the verb needs
 * on a fresh clone (specification section 1, "npm start", "npm test"), which takes no time once it is there, and then
 * runs the verb.
 *
 * Plain JavaScript without dependencies, because it runs before there are any, on whatever Node the machine has (18 or
 * newer); the verbs run on Node 24 or newer, which is one of the dependencies.
 */
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from './bootstrap/build.mjs';
import { installDependencies, linkCommand, prepareTap } from './bootstrap/dependencies.mjs';
import { ensureChromium, ensurePostgres, ensureRedis } from './bootstrap/programs.mjs';
import { runToEnd, Stop } from './bootstrap/shared.mjs';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');

/**
 * Environment in which Node keeps compiled modules between processes. Tests start some five hundred processes, each of
 * which would otherwise compile all of src: loading the gateway takes 2.0 s of processor time without this and 1.2 s
 * with it.
 */
const KEEP_COMPILED = { NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'compiled') };
/** Tap, from which these runs take helpers of the tests, would end them after 30 seconds. */
const LONG_RUN = { ...KEEP_COMPILED, TAP_TIMEOUT: '0' };

/**
 * Functions by verb. Each gets the path of the Node to run on and the arguments after the verb, and returns an exit
 * code.
 */
const verbs = {
  async start(node, args) {
    if (!hasRedis()) ensureRedis();
    await build(root, node);
    return runToEnd(root, node, ['dist/main.js', ...args], { TOLLGATE_DEMO: 'true' });
  },
  /** Runs the command line for bin/tollgate.mjs; with stdin, on which it may read secrets. */
  async tollgate(node, args) {
    if (args[0] === 'start' && !hasRedis() && !asksForHelp(args)) ensureRedis();
    await build(root, node);
    return runToEnd(root, node, ['dist/cli.js', ...args], { INIT_CWD: process.cwd() }, 'inherit');
  },
  async reconcile(node, args) {
    await build(root, node);
    return runToEnd(root, node, ['dist/cli.js', 'reconcile', ...args]);
  },
  async build(node) {
    await build(root, node);
    return 0;
  },
  async test(node, args) {
    ensureRedis();
    ensurePostgres();
    ensureChromium();
    await build(root, node);
    // Options but `--all` are tap's; without them tap only makes the results readable, if a person looks on.
    const hasOptions = args.some((arg) => arg.startsWith('-') && arg !== '--all');
    if (!hasOptions && !process.stdout.isTTY) {
      return runToEnd(root, node, ['test/run.ts', ...args], KEEP_COMPILED);
    }
    prepareTap(root);
    if (hasOptions) return runToEnd(root, 'tap', args, KEEP_COMPILED);
    const readable = ['-c', '"$@" | tap -', 'sh', node, 'test/run.ts', ...args];
    return runToEnd(root, 'sh', readable, KEEP_COMPILED);
  },
  async bench(node, args) {
    ensureRedis();
    await build(root, node);
    return runToEnd(root, node, ['bench/run.ts', ...args]);
  },
  async torture(node, args) {
    ensureRedis();
    ensurePostgres();
    await build(root, node);
    return runToEnd(root, node, ['test/torture/run.ts', ...args], LONG_RUN);
  },
  /** Runs the clients of docs/clients.md, which it installs from their registries. */
  async clients(node, args) {
    ensureRedis();
    await build(root, node);
    return runToEnd(root, node, ['test/clients/run.ts', ...args], LONG_RUN);
  },
  async check(_node, args) {
    const code = await runToEnd(root, 'tsc', ['--noEmit', ...args]);
    // The dashboard's page is checked by itself, because the types of browsers are not those of Node.
    return code || runToEnd(root, 'tsc', ['--noEmit', '-p', 'src/dashboard/page', ...args]);
  },
  lint: (_node, args) => runToEnd(root, 'biome', ['check', ...args, '.']),
  format: (_node, args) => runToEnd(root, 'biome', ['check', '--write', ...args, '.']),
};

function hasRedis() {
  return Boolean(process.env.REDIS_URL || process.env.REDIS_URL_FILE);
}

function asksForHelp(args) {
  return args.includes('--help') || args.includes('-h');
}

const [verb = '', ...args] = process.argv.slice(2);
try {
  if (!Object.hasOwn(verbs, verb)) {
    throw new Stop(`"${verb}" is not known; choose one of ${Object.keys(verbs).join(', ')}`);
  }
  const node = await installDependencies(root);
  linkCommand(root);
  process.exitCode = await verbs[verb](node, args);
} catch (error) {
  if (!(error instanceof Stop)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
