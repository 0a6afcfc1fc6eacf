import { readFileSync } from 'node:fs';
import { test } from 'tap';

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

type Manifest = Readonly<Record<'dependencies' | 'devDependencies' | 'allowScripts', Record<string, string>>>;

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
  const ranges = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies });
  for (const [name, range] of ranges) t.match(range, /^[\^~]?\d+\.\d+\.\d+$/, name);
  for (const [path, { resolved }] of all) t.notMatch(resolved ?? '', /^(git|file|http:)/, path);
});

test('only the install script of the package node is run, and none is in production', async (t) => {
  const scripted = all.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => path);
  // esbuild's only checks what npm has installed.
  t.same(scripted, ['node_modules/esbuild', 'node_modules/node']);
  t.same(manifest.allowScripts, { esbuild: false, node: true });
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

test('the image is built without install scripts, from a base of one version', async (t) => {
  const dockerfile = text('Dockerfile');
  const bases = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, base]) => base);
  t.same(new Set(bases), new Set([`node:${packages['node_modules/node']?.version}-trixie-slim`]));
  const installs = dockerfile.split('\n').filter((line) => /\bnpm (ci|install|i)\b/.test(line));
  t.equal(installs.length, 2);
  for (const line of installs) t.match(line, /npm ci --ignore-scripts/);
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
