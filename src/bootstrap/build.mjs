import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, extname, join, relative } from 'node:path';
import { during, readIfThere, Stop, toolEnvironment } from './shared.mjs';

const CODE = ['.ts', '.mjs'];
/** Program that bundles the page at /dashboard/ into dist; the TypeScript compiler leaves the page out. */
const PAGE_BUILD = 'src/dashboard/build-page.ts';

/**
 * Builds dist: compiles src, bundles the dashboard and copies the files that are not code, unless dist was already
 * built from the same contents. The folder is deleted first, so that nothing is left of a removed file. `node` is the
 * path of a Node that runs TypeScript. Throws Stop.
 */
export async function build(root, node) {
  const dist = join(root, 'dist');
  const stamp = join(dist, '.built-from');
  const source = filesBelow(join(root, 'src'));
  const hash = hashOf(root, source);
  if (readIfThere(stamp) === hash) return;
  rmSync(dist, { recursive: true, force: true });
  await runTool(root, 'compiling the gateway', 'tsc', ['-p', 'tsconfig.build.json']);
  await runTool(root, 'building the dashboard', node, [PAGE_BUILD]);
  const page = join(root, 'src', 'dashboard');
  for (const file of source.filter((path) => !CODE.includes(extname(path)) && !path.startsWith(page))) {
    const target = join(dist, relative(join(root, 'src'), file));
    mkdirSync(dirname(target), { recursive: true });
    copyFileSync(file, target);
  }
  writeFileSync(stamp, hash);
}

async function runTool(root, what, tool, args) {
  const options = { cwd: root, env: toolEnvironment(root) };
  const { status, error } = await during(what, tool, args, options);
  if (error) throw new Stop(`${tool} cannot be run (${error.message}): remove node_modules and try again`);
  if (status !== 0) throw new Stop('The build failed: see above');
}

/** Hash of all that dist is made from: of contents and not of times, which a checkout sets arbitrarily. */
function hashOf(root, source) {
  const hash = createHash('sha256');
  const settings = ['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json'];
  for (const file of [...source, ...settings.map((name) => join(root, name))]) {
    const content = readFileSync(file);
    hash.update(`${relative(root, file)} ${content.length}\n`).update(content);
  }
  return hash.digest('hex');
}

function filesBelow(folder) {
  const entries = readdirSync(folder, { withFileTypes: true });
  return entries
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? filesBelow(path) : [path];
    })
    .sort();
}
