import { createHash } from 'node:crypto';
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, extname, join, relative } from 'node:path';
import { during, readIfThere, Stop, toolEnvironment } from './shared.mjs';

const CODE = ['.ts', '.mjs'];
/** Program that bundles the gateway and the page at /dashboard/ into the folder that it is given. */
const BUNDLE = 'src/build.ts';
/** File in dist with the hash of what it is made from. */
const STAMP = '.built-from';

/**
 * Builds dist: bundles the gateway and the dashboard, and copies the files that are not code, unless dist was already
 * built from the same contents. It is built beside dist and then replaces it, because another command may build at the
 * same time. `node` is the path of a Node that runs TypeScript. Throws Stop.
 */
export async function build(root, node) {
  const dist = join(root, 'dist');
  const stamp = join(dist, STAMP);
  const source = filesBelow(join(root, 'src'));
  const hash = hashOf(root, source);
  if (readIfThere(stamp) === hash) return;
  const made = join(root, `.dist-${process.pid}`);
  await bundle(root, node, made);
  const page = join(root, 'src', 'dashboard');
  for (const file of source.filter((path) => !CODE.includes(extname(path)) && !path.startsWith(page))) {
    const target = join(made, relative(join(root, 'src'), file));
    mkdirSync(dirname(target), { recursive: true });
    copyFileSync(file, target);
  }
  writeFileSync(join(made, STAMP), hash);
  rmSync(dist, { recursive: true, force: true });
  try {
    renameSync(made, dist);
  } catch (error) {
    // The other command has just put its build there.
    rmSync(made, { recursive: true, force: true });
    if (readIfThere(stamp) !== hash) throw error;
  }
}

async function bundle(root, node, target) {
  const options = { cwd: root, env: toolEnvironment(root) };
  const { status, error } = await during(
    'building the gateway and its dashboard',
    node,
    [BUNDLE, target],
    options,
  );
  if (error) throw new Stop(`${node} cannot be run (${error.message}): remove node_modules and try again`);
  if (status !== 0) throw new Stop('The build failed: see above');
}

/** Hash of all that dist is made from: of contents and not of times, which a checkout sets arbitrarily. */
function hashOf(root, source) {
  const hash = createHash('sha256');
  const settings = ['package.json', 'package-lock.json'];
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
