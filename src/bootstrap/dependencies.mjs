import { spawnSync } from 'node:child_process';
import { lstatSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { during, progress, readIfThere, Stop, toolEnvironment } from './shared.mjs';

/** As in src/entry.ts. */
const MIN_NODE = '24.18.1';

/**
 * Installs the locked dependencies if they are not installed yet. Returns the path of a Node that is new enough: the
 * one that runs this, else the one among the dependencies. Throws Stop.
 */
export async function installDependencies(root) {
  if (!isInstalled(root) || !findNode(root)) {
    // With the development dependencies, which build the gateway and which npm leaves out if NODE_ENV is production.
    // Without npm's own progress, which would overwrite ours.
    const args = ['ci', '--include=dev', '--no-audit', '--no-fund', '--no-progress', '--loglevel=error'];
    const { status, error } = await during('installing the locked dependencies', 'npm', args, { cwd: root });
    if (error) throw new Stop(`npm cannot be run (${error.message}): install Node.js ${MIN_NODE} with npm`);
    if (status !== 0) throw new Stop('The dependencies could not be installed: see above, then try again');
  }
  const node = findNode(root);
  if (!node) {
    throw new Stop(
      `Node.js ${MIN_NODE} is needed, and npm installed none: its packages are for Linux on x64 and arm64. Install Node.js ${MIN_NODE} from https://nodejs.org`,
    );
  }
  return node;
}

/**
 * True if node_modules holds what package-lock.json says. npm writes a lock of what it really installed there as the
 * last step, so that an install by hand counts, and one that was broken off does not.
 */
function isInstalled(root) {
  const wanted = packagesIn(join(root, 'package-lock.json'));
  const present = packagesIn(join(root, 'node_modules', '.package-lock.json'));
  if (!wanted)
    throw new Stop('package-lock.json is missing or broken: get it back with git checkout package-lock.json');
  if (!present) return false;
  return Object.entries(wanted).every(([path, { version, optional, devOptional }]) => {
    // The empty path is this package itself. npm leaves optional packages out on platforms that they are not for.
    if (path === '' || (!present[path] && (optional || devOptional))) return true;
    return present[path] !== undefined && present[path].version === version;
  });
}

function packagesIn(lockFile) {
  try {
    return JSON.parse(readIfThere(lockFile) ?? '').packages;
  } catch {
    return undefined;
  }
}

function findNode(root) {
  if (isNewEnough(process.versions.node)) return process.execPath;
  // It is run and not only looked for: in a folder copied from another kind of machine it exists and does not run.
  const local = join(root, 'node_modules', '.bin', 'node');
  const { status, stdout } = spawnSync(local, ['--version'], { encoding: 'utf8' });
  return status === 0 && isNewEnough(stdout.slice(1)) ? local : undefined;
}

function isNewEnough(version) {
  return new Intl.Collator('en', { numeric: true }).compare(version.trim(), MIN_NODE) >= 0;
}

/**
 * Links `tollgate` into node_modules/.bin, where npx looks first. npm links the commands of dependencies only; for the
 * package's own command, npx would install the package and all of its dependencies into its cache at the first use.
 */
export function linkCommand(root) {
  const link = join(root, 'node_modules', '.bin', 'tollgate');
  if (lstatSync(link, { throwIfNoEntry: false })) return;
  try {
    symlinkSync('../../bin/tollgate.mjs', link);
  } catch {
    // Without the link, `npx tollgate` is slower and works all the same.
  }
}

/**
 * Has tap compile the plugins that .taprc names into its own package, which its command requires. A fresh install has
 * tap's default plugins; its command loads the one for TypeScript, which does not work with TypeScript 7. Throws Stop.
 */
export function prepareTap(root) {
  const settings = readFileSync(join(root, '.taprc'), 'utf8');
  // Within node_modules, so that the stamp is deleted together with the compiled plugins.
  const stamp = join(root, 'node_modules', '.tap-built-for');
  if (readIfThere(stamp) === settings) return;
  progress('preparing the test runner');
  const options = { cwd: root, env: toolEnvironment(root), encoding: 'utf8' };
  const { status, error, stdout, stderr } = spawnSync('tap', ['build'], options);
  if (error || status !== 0) {
    console.error(`${stdout ?? ''}${stderr ?? ''}`);
    throw new Stop('The test runner could not be prepared: remove node_modules and try again');
  }
  writeFileSync(stamp, settings);
}
