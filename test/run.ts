/**
 * Runs test files, each in a process of its own, and writes TAP: `node test/run.ts` runs all, or the files and folders
 * that are named.
 *
 * tap's own command loads a hook into each test process, and into each Node process that such a process starts, which
 * records what files were loaded, for coverage that nobody reads: half a second of processor time for each of the seven
 * hundred processes of a run. It also runs the files in the order of their names, however long the last one takes.
 */
import type { ChildProcess } from 'node:child_process';
import { globSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { t } from 'tap';
import { buildPageOnce } from './helper/build-page-once.ts';
import { bundlePrograms } from './helper/bundled-programs.ts';
import { startPostgres } from './helper/postgres-server.ts';

/** More than the cores, as many files wait for a deadline, a restart or a browser half of their time. */
const JOBS = Math.min(Math.ceil(2.5 * availableParallelism()), 12);
const TIMEOUT_S = 900;
const WITHOUT_ASYNC_HOOKS = import.meta.resolve('./helper/without-async-hooks.ts');

/** Folders of files that take long and mostly wait: they are spread over the run, so that the cores are never idle. */
const WAITING = /^test\/(?:torture|process|reconcile|ledger|redis-server)\b/;
/** Folders of files that take long and compute: they come before the short ones, so that the end of a run is short. */
const COMPUTING = /^test\/(?:dashboard|cli|book|bootstrap)\b/;

const named = process.argv.slice(2);
const files = inOrder(named.length > 0 ? named.flatMap(filesAt) : filesAt('test'));

function filesAt(name: string): string[] {
  const found = globSync([name, join(name, '**/*.test.ts')]).filter((path) => path.endsWith('.test.ts'));
  if (found.length === 0) throw new Error(`no test file is at ${name}`);
  return found.sort();
}

function inOrder(all: readonly string[]): string[] {
  const waiting = all
    .filter((file) => WAITING.test(file))
    .sort(byFolderFrom('test/torture', 'test/process', 'test'));
  const others = all.filter((file) => !WAITING.test(file));
  const computing = [
    ...others.filter((file) => COMPUTING.test(file)).sort(byFolderFrom('test/dashboard', 'test')),
    ...others.filter((file) => !COMPUTING.test(file)),
  ];
  return [...spread(waiting), ...spread(computing)].sort((a, b) => a.place - b.place).map(({ file }) => file);
}

/** Where in the run each file stands: from 0, its begin, to 1. */
function spread(files: readonly string[]): { file: string; place: number }[] {
  return files.map((file, at) => ({ file, place: at / files.length }));
}

/** Sorts files of these folders before the others, and is otherwise stable. */
function byFolderFrom(...folders: readonly string[]): (a: string, b: string) => number {
  const rank = (file: string) => {
    const at = folders.indexOf(dirname(file));
    return at < 0 ? folders.length : at;
  };
  return (a, b) => rank(a) - rank(b);
}

const shared = files.length < 5 ? {} : await startShared();

/** Starts and builds what files share; a few start and build it by themselves. Resolves with its part of the environment. */
async function startShared(): Promise<Record<string, string>> {
  const postgres = await startPostgres({ fsync: 'off', max_connections: '500' });
  t.teardown(() => postgres.stop());
  await buildPageOnce();
  return {
    TEST_POSTGRES_PORT: String(postgres.port),
    TEST_PAGE_BUILT: 'yes',
    TEST_PROGRAMS: await bundlePrograms(),
  };
}

const env = {
  ...process.env,
  // A test process gives up by itself after 30 s otherwise.
  TAP_TIMEOUT: String(TIMEOUT_S),
  ...shared,
};

const children = new Set<ChildProcess>();
t.on('spawn', (subtest) => {
  subtest.on('process', (child) => {
    children.add(child);
    child.once('exit', () => children.delete(child));
  });
});

t.setTimeout(0);
t.jobs = JOBS;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    for (const child of children) child.kill(signal);
    process.exit(1);
  });
}

for (const name of files) {
  // tap has each Node process that it starts load its hook by NODE_OPTIONS.
  void t.spawn('env', ['NODE_OPTIONS=', process.execPath, '--import', WITHOUT_ASYNC_HOOKS, name], {
    name,
    at: null,
    buffered: JOBS > 1,
    timeout: TIMEOUT_S * 1_000,
    env,
  });
}
