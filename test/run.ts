/**
 * Runs test files and writes TAP, several files to a process: the core without arguments, every file with `--all`, or
 * the files and folders that are named. `*.slow.test.ts` files are not in the core: they measure memory, kill programs,
 * drive a browser through every page, or draw many random cases.
 *
 * tap's own command loads a hook into each test process, and into each Node process that such a process starts, which
 * records what files were loaded, for coverage that nobody reads: half a second of processor time for each of the seven
 * hundred processes of a run. It also runs the files in the order of their names, however long the last one takes.
 */
import type { ChildProcess } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { t } from 'tap';
import { startBookServer } from './helper/start/postgres-database.ts';

/** More than the cores, because many files spend half of their time waiting for a deadline, a restart or a browser. */
const JOBS = Math.min(3 * availableParallelism(), 12);
/** A process'. It only ends a hang: the longest takes 400 s on a slow machine, 900 s where two runs share two cores. */
const TIMEOUT_S = 2_700;
const WITHOUT_ASYNC_HOOKS = import.meta.resolve('./helper/suite/without-async-hooks.ts');
const TOGETHER_SCRIPT = fileURLToPath(import.meta.resolve('./helper/suite/together.ts'));
/**
 * Flags of a process of several files. Several test processes share a core, so threads for garbage collection gain
 * nothing, and a process that ends soon need not collect often: 4 to 10 % less processor time.
 */
const RARE_GC = ['--single-threaded-gc', '--min-semi-space-size=64'];

/** Folders whose files take long and mostly wait. They are spread over the run so that the cores are never idle. */
const WAITING = /^test\/(?:torture|process|reconcile|ledger|redis-server)\b/;
/**
 * Folders in the order of how long their processes take. The others come last, so that a run does not end on one long
 * file.
 */
const LONGEST_FIRST = [
  ...['test/torture', 'test/dashboard', 'test/gateway/broken-streams', 'test/gateway', 'test/gateway/edge'],
  ...['test/gateway/limits', 'test/ledger', 'test/process', 'test/api', 'test/cli', 'test/book', 'test'],
];

/**
 * Files of a folder that share a process, one after the other: each but the first saves a second of processor time, in
 * which Node would load the gateway and compile what is used most.
 */
const TOGETHER = 12;
/** Fewer long files share a process, so that the run does not wait for the last of them. */
const FEWER = [
  { folder: 'test/dashboard', together: 7 },
  { folder: 'test/cli', together: 4 },
];
/** Folders of files that mostly wait for other processes, and so gain little by sharing theirs. */
const APART = /^test\/(?:torture\/[^/]+$|process|redis-server|[^/]+$)/;
/** Code that changes or measures the whole process. A file that contains it has its own process. */
const OF_THE_PROCESS =
  /keptBytes|setFlagsFromString|setDefaultCACertificates|(?:Date|performance|prototype)\.\w+ = |process\.(?:env|on)\b/;

// From the start: on a busy machine, preparing takes longer than tap's own 30 s.
t.setTimeout(0);

const { positionals: named, values } = parseArgs({
  allowPositionals: true,
  options: { all: { type: 'boolean' } },
});
const found =
  named.length > 0 ? named.flatMap(filesAt) : filesAt('test').filter((file) => values.all || !isSlow(file));
const runs = inOrder(found.length < 5 ? found.map((file) => [file]) : together(found));

function isSlow(file: string): boolean {
  return file.endsWith('.slow.test.ts');
}

function filesAt(name: string): string[] {
  const found = globSync([name, join(name, '**/*.test.ts')]).filter((path) => path.endsWith('.test.ts'));
  if (found.length === 0) throw new Error(`no test file is at ${name}`);
  return found.sort();
}

/** Files of one process, all of one folder, or of small folders beside each other. */
type Run = readonly string[];

function together(all: readonly string[]): Run[] {
  const isApart = (file: string) => APART.test(file) || OF_THE_PROCESS.test(readFileSync(file, 'utf8'));
  const byFolder = Map.groupBy(
    all.filter((file) => !isApart(file)),
    folderOf,
  );
  const parts = [...byFolder].flatMap(([folder, files]) => {
    const most = FEWER.find((few) => few.folder === folder)?.together ?? TOGETHER;
    const count = Math.ceil(files.length / most);
    // Neighbouring files are alike, so each process gets some of the long ones.
    return Array.from({ length: count }, (_, part) => files.filter((_file, at) => at % count === part));
  });
  return [...all.filter(isApart).map((file) => [file]), ...parts];
}

/** The folder directly below `test/` that contains a file, or a deeper folder if the order names that one. */
function folderOf(file: string): string {
  const folder = dirname(file);
  return LONGEST_FIRST.includes(folder) ? folder : folder.split('/').slice(0, 2).join('/');
}

function inOrder(all: readonly Run[]): Run[] {
  const rank = ([file = '']: Run) => {
    const at = LONGEST_FIRST.indexOf(dirname(file));
    return at < 0 ? LONGEST_FIRST.length : at;
  };
  const [waiting = [], others = []] = [true, false].map((waits) =>
    all.filter(([file = '']) => WAITING.test(file) === waits).sort((a, b) => rank(a) - rank(b)),
  );
  return [...spread(waiting), ...spread(others)].sort((a, b) => a.place - b.place).map(({ run }) => run);
}

/** The position of each run among all of them, from 0 (first) to 1 (last). */
function spread(all: readonly Run[]): { run: Run; place: number }[] {
  return all.map((run, at) => ({ run, place: at / all.length }));
}

const shared = found.length < 5 ? {} : await startShared();

/** Starts what most files share. Resolves with the environment variables that point to it. */
async function startShared(): Promise<Record<string, string>> {
  const postgres = await startBookServer({ max_connections: '500' });
  t.teardown(() => postgres.stop());
  return { TEST_POSTGRES_PORT: String(postgres.port) };
}

/** `TEST_ALL` draws more random cases, and makes the tests that thin out a table run all of it. */
const env = { ...process.env, ...shared, ...(values.all ? { TEST_ALL: '1' } : {}) };

const children = new Set<ChildProcess>();
t.on('spawn', (subtest) => {
  subtest.on('process', (child) => {
    children.add(child);
    child.once('exit', () => children.delete(child));
  });
});

t.jobs = JOBS;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    for (const child of children) child.kill(signal);
    process.exit(1);
  });
}

for (const files of runs) {
  const [flags, script] = files.length > 1 ? [RARE_GC, [TOGETHER_SCRIPT]] : [[], []];
  const args = [...flags, '--import', WITHOUT_ASYNC_HOOKS, ...script, ...files];
  // tap has each Node process that it starts load its hook by NODE_OPTIONS.
  void t.spawn('env', ['NODE_OPTIONS=', process.execPath, ...args], {
    name: files.join(' '),
    at: null,
    buffered: JOBS > 1,
    timeout: TIMEOUT_S * 1_000,
    // Otherwise a test process gives up by itself after 30 s.
    env: { ...env, TAP_TIMEOUT: String(TIMEOUT_S) },
  });
}
