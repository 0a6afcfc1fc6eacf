import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { toolEnvironment } from './run-to-end.mjs';
import { progress, readIfThere, Stop } from './shared.mjs';

/**
 * Has tap compile the plugins that .taprc names into its own package. A fresh install has tap's default plugins; the
 * one for TypeScript among them does not work with TypeScript 7. Throws Stop.
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
