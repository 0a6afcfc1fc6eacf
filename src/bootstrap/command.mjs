import { lstatSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

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
