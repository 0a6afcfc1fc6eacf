import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Creates the folder at an absolute path, and its parents, for this user only; leaves an existing one unchanged. Throws
 * the system's error, which names the folder that failed. Node's recursive mkdir retries forever if the system denies
 * that a place exists, as below /proc.
 */
export function makeFolder(path: string): void {
  if (isFolder(path)) return;
  makeFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process may have created it in the meantime.
    if (!isFolder(path)) throw error;
  }
}

function isFolder(path: string): boolean {
  return path === dirname(path) || statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
