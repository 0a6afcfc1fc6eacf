import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes the folder at an absolute path, and those above it, for this user only; an existing one is left as it is.
 * Throws the system's error, which names the folder that could not be made. Node's own recursive mkdir does not if
 * the system denies that there is such a place, as below /proc: it tries again for ever.
 */
export function makeFolder(path: string): void {
  if (isFolder(path)) return;
  makeFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process may have made it meanwhile.
    if (!isFolder(path)) throw error;
  }
}

function isFolder(path: string): boolean {
  return path === dirname(path) || statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
