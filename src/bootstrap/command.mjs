import { lstatSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Puts `tollgate` where npx looks first. npm links the commands of dependencies only; for the package's own, npx would
 * install the package into its cache, all of its dependencies with it, at the first use.
 */
export function linkCommand(root) {
  const link = join(root, 'node_modules', '.bin', 'tollgate');
  if (lstatSync(link, { throwIfNoEntry: false })) return;
  try {
    symlinkSync('../../bin/tollgate.mjs', link);
  } catch {
    // Without it npx does it in its own way.
  }
}
