import { readFileSync } from 'node:fs';

/** The text of the file; undefined where it cannot be read. */
export function readIfThere(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
