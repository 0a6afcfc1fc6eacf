import { execFile } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Packages of a client and their versions, by registry: a row of versions.json. */
export interface Packages {
  readonly npm?: Readonly<Record<string, string>>;
  readonly pip?: Readonly<Record<string, string>>;
  /** Dependencies of the `pip` packages that are left out: gigabytes of models that the client does not need here. */
  readonly without?: readonly string[];
  /** Modules of the driver of this name, which is compiled. */
  readonly go?: Readonly<Record<string, string>>;
}

const DRIVERS = new URL('drivers/', import.meta.url).pathname;

/** What an installer may write. */
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

/** Outside the repository, so that no client finds the repository's own packages. */
const FOLDER = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'tollgate-clients');

/** An installed client: its folder, and the versions in it. */
export interface Installed {
  readonly folder: string;
  readonly versions: Readonly<Record<string, string>>;
}

/**
 * Installs the packages into their own folder, unless they are there. Throws an Error with the end of the installer's
 * output.
 */
export async function install(name: string, packages: Packages, isLatest: boolean): Promise<Installed> {
  const wanted = Object.entries({ ...packages.npm, ...packages.pip, ...packages.go });
  const version = isLatest
    ? `latest-${new Date().toISOString().slice(0, 10)}`
    : wanted.map(([, one]) => one).join('+');
  const folder = join(FOLDER, `${name}-${version}`);
  const done = join(folder, 'installed.json');
  if (!existsSync(done)) {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    const versions = packages.npm
      ? await installNpm(folder, packages.npm, isLatest)
      : packages.go
        ? await installGo(folder, packages.go, isLatest)
        : await installPip(folder, packages.pip ?? {}, packages.without, isLatest);
    writeFileSync(done, JSON.stringify(versions));
  }
  if (packages.go) {
    copyFileSync(join(DRIVERS, `${name}.go`), join(folder, 'main.go'));
    await run(folder, 'go', ['mod', 'tidy']);
    await run(folder, 'go', ['build', '-o', 'client', '.']);
  }
  return { folder, versions: JSON.parse(readFileSync(done, 'utf8')) };
}

type Versions = Readonly<Record<string, string>>;

async function installNpm(folder: string, packages: Versions, isLatest: boolean): Promise<Versions> {
  const names = Object.entries(packages).map(([name, version]) => `${name}@${isLatest ? 'latest' : version}`);
  writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}');
  await run(folder, 'npm', ['install', '--no-audit', '--no-fund', ...names]);
  return Object.fromEntries(
    Object.keys(packages).map((name) => {
      const file = join(folder, 'node_modules', name, 'package.json');
      return [name, JSON.parse(readFileSync(file, 'utf8')).version];
    }),
  );
}

async function installGo(folder: string, packages: Versions, isLatest: boolean): Promise<Versions> {
  await run(folder, 'go', ['mod', 'init', 'client']);
  const names = Object.entries(packages).map(
    ([name, version]) => `${name}@${isLatest ? 'latest' : `v${version}`}`,
  );
  await run(folder, 'go', ['get', ...names]);
  const list = await run(folder, 'go', ['list', '-m', '-f', '{{.Version}}', ...Object.keys(packages)]);
  const versions = list.trim().split('\n');
  return Object.fromEntries(Object.keys(packages).map((name, at) => [name, versions[at]?.slice(1) ?? '']));
}

async function installPip(
  folder: string,
  packages: Versions,
  without: readonly string[] | undefined,
  isLatest: boolean,
): Promise<Versions> {
  const names = Object.entries(packages).map(([name, version]) => (isLatest ? name : `${name}==${version}`));
  await run(folder, 'python3', ['-m', 'venv', 'venv']);
  const python = join(folder, 'venv/bin/python');
  const pip = (...args: string[]) =>
    run(folder, python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...args]);
  await pip(...(without ? ['--no-deps'] : []), ...names);
  if (without) {
    const all = await run(folder, python, ['-c', REQUIREMENTS, ...Object.keys(packages)]);
    const needed = all
      .split('\n')
      .filter((line) => line && !without.includes(line.split(/[^\w.-]/, 1)[0] ?? ''));
    await pip(...needed);
  }
  const ask =
    'import sys,json,importlib.metadata as m; print(json.dumps({n: m.version(n) for n in sys.argv[1:]}))';
  return JSON.parse(await run(folder, python, ['-c', ask, ...Object.keys(packages)]));
}

/** Prints the requirements of packages that apply here. */
const REQUIREMENTS = `import sys, importlib.metadata as m
from pip._vendor.packaging.requirements import Requirement
for name in sys.argv[1:]:
    for one in map(Requirement, m.requires(name) or []):
        if not one.marker or one.marker.evaluate({"extra": ""}):
            one.marker = None
            print(one)`;

async function run(cwd: string, command: string, args: readonly string[]): Promise<string> {
  const env = { ...process.env };
  // Those of the npm script that this program runs in.
  for (const name of Object.keys(env))
    if (/^npm_(?!config_registry)/i.test(name) || name === 'INIT_CWD') delete env[name];
  try {
    return (await promisify(execFile)(command, args, { cwd, env, maxBuffer: MAX_OUTPUT_BYTES })).stdout;
  } catch (error) {
    const words = (error as { readonly stderr?: string }).stderr?.trim().split('\n').slice(-3).join(' ');
    throw new Error(words || (error as Error).message);
  }
}
