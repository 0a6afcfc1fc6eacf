import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, extname, join, relative } from 'node:path';
import { readIfThere } from './read-if-there.mjs';
import { toolEnvironment } from './run-to-end.mjs';
import { progress, Stop } from './stop.mjs';

const CODE = ['.ts', '.mjs'];
/** Bundles the page at /dashboard/, of which the compiler makes nothing, into dist. */
const PAGE_BUILD = 'src/dashboard/build-page.ts';

/**
 * Compiles src to dist, bundles the dashboard and copies what else is not code beside it, unless dist was built from the same files. The folder is
 * made anew, so that nothing of a file that was removed is left in it. `node` is one that runs TypeScript. Throws Stop.
 */
export function build(root, node) {
  const dist = join(root, 'dist');
  const stamp = join(dist, '.built-from');
  const source = filesBelow(join(root, 'src'));
  const hash = hashOf(root, source);
  if (readIfThere(stamp) === hash) return;
  progress('building');
  rmSync(dist, { recursive: true, force: true });
  runTool(root, 'tsc', ['-p', 'tsconfig.build.json']);
  runTool(root, node, [PAGE_BUILD]);
  const page = join(root, 'src', 'dashboard');
  for (const file of source.filter((path) => !CODE.includes(extname(path)) && !path.startsWith(page))) {
    const target = join(dist, relative(join(root, 'src'), file));
    mkdirSync(dirname(target), { recursive: true });
    copyFileSync(file, target);
  }
  writeFileSync(stamp, hash);
}

function runTool(root, tool, args) {
  const options = { cwd: root, env: toolEnvironment(root), stdio: ['ignore', 2, 2] };
  const { status, error } = spawnSync(tool, args, options);
  if (error) throw new Stop(`${tool} cannot be run (${error.message}): remove node_modules and try again`);
  if (status !== 0) throw new Stop('The build failed: see above');
}

/** Of contents, not of times, which a checkout sets as it likes. */
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
